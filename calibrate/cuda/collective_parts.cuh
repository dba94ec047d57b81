#pragma once
// What verifying and timing collectives share.
#include <string>
#include <vector>

#include "calibrate/cuda/measurement.cuh"
#include "calibrate/cuda/run_plan.cuh"

namespace stepsim::calibrate::gpu {

[[nodiscard]] inline std::vector<Variant> usable_variants(const Measurement& measurement,
                                                          bool staging) {
  std::vector<Variant> variants{Variant::copy_engine};
  if (measurement.all_peers) {
    variants.push_back(Variant::sm_store);
  }
  if (staging) {
    variants.push_back(Variant::host_staged);
  }
  return variants;
}

[[nodiscard]] inline std::string text(const PlanRequest& request, Variant variant, bool graph) {
  return std::string(coll::name(request.op)) + " " + std::string(coll::name(request.algorithm)) +
         " " + std::string(name(variant)) + (graph ? " graph" : " plain") +
         " P=" + std::to_string(request.ranks) + " n=" + std::to_string(request.elements);
}

// Vectors of so many floats on `ranks` ranks fit in half of the free memory.
[[nodiscard]] inline std::int64_t fitting_capacity(const Measurement& measurement,
                                                   std::uint32_t ranks) {
  const std::int64_t per_device = (ranks + measurement.devices - 1) / measurement.devices;
  return measurement.free_bytes / 2 / (2 * per_device) / static_cast<std::int64_t>(sizeof(float));
}

} // namespace stepsim::calibrate::gpu
