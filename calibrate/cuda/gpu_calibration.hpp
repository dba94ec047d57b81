#pragma once
// The calibration file of a GPU (CAL 5, 7.3), and the same as tables for people.
#include <string>

#include "calibrate/cuda/gpu_fit.hpp"
#include "json/json.hpp"

namespace stepsim::calibrate::gpu {

struct GpuNames {
  std::string name;
  std::string importer;
};
[[nodiscard]] io::Json gpu_calibration_tree(const GpuSamples& samples, const GpuFit& fit,
                                            const GpuNames& names);
// Tables for people; every line says `same device` where that is so.
[[nodiscard]] std::string gpu_text(const GpuSamples& samples, const GpuFit& fit);

} // namespace stepsim::calibrate::gpu
