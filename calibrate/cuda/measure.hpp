#pragma once
// The whole measurement, as one call without CUDA types: verifies, then times, and hands out one
// JSON line after the other (records.hpp), the last of kind `end` whatever happens. A wrong result
// is noted with operation, algorithm, P, n, rank, index, got and expected, and not timed; the other
// parts go on, and the call throws SimulationError in the end.
#include <cstdint>
#include <functional>
#include <string>

#include "calibrate/cuda/gpu_job.hpp"

namespace stepsim::calibrate::gpu {

struct MeasureOptions {
  std::uint32_t ranks = 0;      // 0: ranks_for; not with `nccl`: there every device is one rank
  bool nccl = false;            // measure NCCL alone: no collectives of our own, no kernels
  bool collectives = true;      // measure collectives
  bool kernels = true;          // measure kernels
  bool timing = true;           // false: only verify
  bool dense = false;           // more sizes (collective_sizes, kernel_sizes)
  std::int64_t block_bytes = 0; // of lp, whole elements; 0 = optimal for the link
  bool strict = false;          // passes that differ by more than 5 % are an error
  double max_seconds = 300;     // of timing; a note counts the blocks left out after that
  double total_seconds = 0;     // of everything; 0 = no limit. What is left out then is noted
  std::function<bool()> stop{}; // asked between measurements: true ends them, as no time left does
  std::uint64_t seed = 1;       // of sizes and of the order of the blocks
  std::string program = "gpu_bench";
  std::string revision, command; // of the header of the records; "" = unknown
};

using Sink = std::function<void(const std::string&)>; // a line, with its end

// One rank per device where there are two or more, so that messages cross the links between them;
// else eight ranks that share the one device. `asked` = 0: nobody asked for a number.
[[nodiscard]] constexpr std::uint32_t ranks_for(std::uint32_t asked, int devices) {
  constexpr std::uint32_t kOnOneDevice = 8;
  return asked > 0 ? asked : devices > 1 ? static_cast<std::uint32_t>(devices) : kOnOneDevice;
}

// `records` gets the JSON lines, the header first, and `progress` lines for people. Throws
// NotAvailable without a device, or without NCCL where that is asked for; SimulationError for a
// wrong result, a failed call, or, with `strict`, passes that differ.
//
// In a job of several ranks all of them call this with the same options, each with the GPU that
// device_of_rank gives, and all get the same times: those of the slowest rank. `ranks` of the
// options has no effect there. Where all ranks know of a failure they throw JobError, NotAvailable
// or UsageError with the same text. Any other error is known to one rank, for which the others may
// wait: its process must end the job.
void measure(const MeasureOptions& options, const Sink& records, const Sink& progress,
             const Job& job = kAlone);

} // namespace stepsim::calibrate::gpu
