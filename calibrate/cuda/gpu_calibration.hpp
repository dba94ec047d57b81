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
// The file of kind network_calibration. `name` is its name, `importer` the program with its
// version.
[[nodiscard]] io::Json gpu_calibration_tree(const GpuSamples& samples, const GpuFit& fit,
                                            const GpuNames& names);
// Tables for people: a line per curve and kernel with its largest relative error, the message
// between two ranks and the cost of plain launches. Every line says `same device` where ranks share
// one.
[[nodiscard]] std::string gpu_text(const GpuSamples& samples, const GpuFit& fit);

} // namespace stepsim::calibrate::gpu
