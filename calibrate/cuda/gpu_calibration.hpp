#pragma once
// Writes the calibration of a GPU (CAL 5, 7.3) as a file and as tables for the terminal.

#include "calibrate/cuda/gpu_fit.hpp"

namespace stepsim::calibrate::gpu {

// Types of gradients whose additions are timed: the kernel, and the bytes of a value.
struct AddedType {
  std::string_view name, kernel;
  double bytes{};
};
inline constexpr std::array kAddedTypes{AddedType{"float32", "reduce_add", 4},
                                        AddedType{"bfloat16", "reduce_add_bf16", 2}};

struct GpuNames {
  std::string name;
  std::string importer;
  AddedType added = kAddedTypes.front();
};
// The file of kind network_calibration. `name` is the name of the calibration, `importer` the
// program and its version, `added` the type that the speed of adding is of.
[[nodiscard]] io::Json gpu_calibration_tree(const GpuSamples& samples, const GpuFit& fit,
                                            const GpuNames& names);
// The tables for the terminal: a line per curve and kernel with its largest relative error, the
// message between two ranks, the cost of plain launches, and slowdowns. Every line says `same
// device` if ranks share a device.
[[nodiscard]] std::string gpu_text(const GpuSamples& samples, const GpuFit& fit);

// The file of kind overlap of one GPU: the median time of a product next to collectives over that
// of a product alone (`compute`), and the same of the collective (`exchange`); never below 1.
// Throws SimulationError without samples.
[[nodiscard]] io::Json gpu_overlap_tree(const GpuSamples& samples, const OverlapRecord& record,
                                        const GpuNames& names);

// Turns fitted kernels into the compression costs of a scenario (SPA 8.2, 9).

// The JSON of `compression.costs`: under `any` the costs that all methods share (residual, merge,
// scatter), and per method the selection (timed on Gaussian values) or encoding, and the decoding
// if it has its own kernel. The costs of powersgd were measured at rank 4, the costs of the bucket
// codec (kBucketCodec) at 8 bits. A cost is left out if one of its kernels was not measured or has
// the grade fail.
[[nodiscard]] io::Json compression_costs(const GpuFit& fit);

} // namespace stepsim::calibrate::gpu
