#pragma once
// The whole measurement, as one call without CUDA types: verifies, then times, and hands out one
// JSON line after the other (records.hpp). Wrong results throw SimulationError with operation,
// algorithm, P, n, rank, index, got and expected.
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>

namespace stepsim::calibrate::gpu {

struct MeasureOptions {
  std::uint32_t ranks = 8;      // not with `nccl`: there every device is one rank
  bool nccl = false;            // measure NCCL alone: no collectives of our own, no kernels
  bool collectives = true;      // measure collectives
  bool kernels = true;          // measure kernels
  bool timing = true;           // false: only verify
  bool dense = false;           // more sizes (collective_sizes, kernel_sizes)
  std::int64_t block_bytes = 0; // of lp, whole elements; 0 = optimal for the link
  bool strict = false;          // passes that differ by more than 5 % are an error
  double max_seconds = 300;     // of timing; a note counts the blocks left out after that
  std::uint64_t seed = 1;       // of sizes and of the order of the blocks
  std::string program = "gpu_bench";
  std::string revision, command; // of the header of the records; "" = unknown
};

// There is no device, no driver or no NCCL to measure with: exit code 77.
class NotAvailable : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

using Sink = std::function<void(const std::string&)>; // a line, with its end

// `records` gets the JSON lines, the header first, and `progress` lines for people. Throws
// NotAvailable without a device, or without NCCL where that is asked for; SimulationError for a
// wrong result, a failed call, or, with `strict`, passes that differ.
void measure(const MeasureOptions& options, const Sink& records, const Sink& progress);

} // namespace stepsim::calibrate::gpu
