#pragma once
// What verifying and timing collectives share.
#include <string>
#include <vector>

#include "calibrate/cuda/measurement.cuh"
#include "calibrate/cuda/run_plan.cuh"

namespace stepsim::calibrate::gpu {

// The ways of copying that this machine has. A kernel can only store into the memory of another
// device if every device reaches every other one; staging through the host needs buffers of its
// own.
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

// "allreduce ring copy_engine plain P=8 n=1000": names a case in errors and notes.
[[nodiscard]] inline std::string text(const PlanRequest& request, Variant variant, bool graph) {
  return std::string(coll::name(request.op)) + " " + std::string(coll::name(request.algorithm)) +
         " " + std::string(name(variant)) + (graph ? " graph" : " plain") +
         " P=" + std::to_string(request.ranks) + " n=" + std::to_string(request.elements);
}

// The length at which the vectors of all ranks fit in half of the free memory [floats per vector].
// Every rank has two, x and temp, on a device that holds at most ceil(ranks / devices) ranks.
[[nodiscard]] inline std::int64_t fitting_capacity(const Measurement& measurement,
                                                   std::uint32_t ranks) {
  const std::int64_t per_device = (ranks + measurement.devices - 1) / measurement.devices;
  return measurement.free_bytes / 2 / (2 * per_device) / static_cast<std::int64_t>(sizeof(float));
}

} // namespace stepsim::calibrate::gpu
