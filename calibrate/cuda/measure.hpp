#pragma once
// The whole GPU measurement as one function without CUDA types. It verifies every result, then
// measures times, and writes JSON lines (records.hpp): a header first, a line of kind `end` last,
// after an error, too; an error before the header, such as a missing device, leaves no line at all.
// A wrong result is noted with operation, algorithm, P (ranks), n (elements), rank, index, got and
// expected. A way of copying with a wrong result is then not timed, and no kernel is timed if one
// kernel is wrong; everything else goes on, and the call throws SimulationError at its end. In a
// job, a wrong result ends the measurement on all ranks.

#include "calibrate/cuda/gpu_job.hpp"

namespace stepsim::calibrate::gpu {

struct MeasureOptions {
  std::uint32_t ranks = 0;      // 0 = chosen by ranks_for(); `nccl` ignores it: one rank per device
  bool nccl = false;            // measure NCCL alone: no collectives of our own, no kernels. Always
                                // set in a job, whose ranks exchange nothing without NCCL
  std::string dtype = "all";    // of NCCL: the name of one of kNcclTypes, or all of them
  bool collectives = true;      // measure collectives
  bool kernels = true;          // measure kernels
  bool timing = true;           // false: only verify
  bool dense = false;           // more sizes (collective_sizes, kernel_sizes)
  std::int64_t block_bytes = 0; // block of lp (linear pipeline), a multiple of 4; 0 = optimal
  bool strict = false;          // passes that differ by more than 5 % are an error
  double max_seconds = 300;     // limit of all timing; a note counts measurements left out
  double total_seconds = 0;     // limit of the whole call; 0 = none. Noted in the last line if hit
  std::function<bool()> stop{}; // polled between measurements; true ends them like a time limit
  std::uint64_t seed = 1;       // for the random sizes and the order of the measurements
  std::string program = "gpu_bench";
  std::string revision, command; // written into the header line; "" = unknown
};

using Sink = std::function<void(const std::string&)>; // takes one line, line end included

// The number of ranks: `asked` if it is > 0; else one per device if there are two or more, so that
// messages cross the links between them; else eight that share the one device.
[[nodiscard]] constexpr std::uint32_t ranks_for(std::uint32_t asked, int devices) {
  constexpr std::uint32_t kOnOneDevice = 8;
  return asked > 0 ? asked : devices > 1 ? static_cast<std::uint32_t>(devices) : kOnOneDevice;
}

// `records` gets the JSON lines, `progress` gets lines for people. Throws NotAvailable if there is
// no device, or if options.nccl is set and there is no NCCL; SimulationError for a wrong result, a
// failed CUDA call and, with `strict`, passes that differ.
//
// In a job of several ranks all ranks call this function with the same options, each with the GPU
// that device_of_rank() gives, and all get the same times: those of the slowest rank. `ranks` of
// the options is ignored there. If all ranks know of a failure, they throw JobError, NotAvailable
// or UsageError with the same text. Any other error is known to one rank only, and the other ranks
// may wait for it: its process must end the job.
void measure(const MeasureOptions& options, const Sink& records, const Sink& progress,
             const Job& job = kAlone);

} // namespace stepsim::calibrate::gpu
