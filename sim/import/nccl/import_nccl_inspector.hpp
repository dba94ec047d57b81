#pragma once
// Logs of the NCCL Inspector, a profiler plug-in of NCCL and RCCL, as samples (INP 2.6): a line of
// JSON for each collective and rank.
//
//     {"header": {"id": "0x7f8c", "rank": 0, "n_ranks": 8, "nnodes": 1},
//      "metadata": {...},
//      "coll_perf": {"coll": "AllReduce", "coll_sn": 42, "coll_msg_size_bytes": 17179869184,
//                    "coll_exec_time_us": 61974, "coll_timing_source": "kernel_gpu", ...}}
//
// Lines with equal communicator, operation and sequence number are one collective. Its time in the
// result is the shortest of its ranks, that of the rank which entered last and waited for nobody.
// The log counts the bytes of one rank in all-gather, reduce-scatter and all-to-all; samples hold
// those of all ranks. Names of hosts and numbers of processes are not read.
#include <string>
#include <vector>

#include "files/import_options.hpp"
#include "files/samples_file.hpp"

namespace stepsim::io {

// Files of any ranks in any order, one file for several ranks or several for one. A set holds the
// collectives of one operation and number of ranks whose clock is the best there is: that of the
// GPU, else of the host around the kernel, else around the call; `column` says which. Throws
// InputError: no collective, a line that is no JSON object or lacks a value, ranks that disagree on
// the size of a collective, a file given twice.
[[nodiscard]] Samples import_nccl_inspector(const std::vector<std::string>& files,
                                            const ImportOptions& options);

} // namespace stepsim::io
