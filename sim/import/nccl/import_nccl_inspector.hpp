#pragma once
// Imports logs of the NCCL Inspector, a profiler plug-in of NCCL and RCCL, as samples (INP 2.6).
// The log has a line of JSON for each collective and rank:
//
//     {"header": {"id": "0x7f8c", "rank": 0, "n_ranks": 8, "nnodes": 1},
//      "metadata": {...},
//      "coll_perf": {"coll": "AllReduce", "coll_sn": 42, "coll_msg_size_bytes": 17179869184,
//                    "coll_exec_time_us": 61974, "coll_timing_source": "kernel_gpu", ...}}
//
// Lines with equal communicator, operation and sequence number are one collective. Its time is the
// shortest of its ranks with the best clock, the time of the rank that entered last and waited for
// nobody. If the lines of some ranks are missing, it is the shortest of the others, which may
// contain waiting, and a warning says so. For all-gather, reduce-scatter and all-to-all the log has
// the bytes of one of the P parts of a buffer. A sample has P times as many, as bytes are counted
// in collectives/collective.hpp: the total buffer, and for all-to-all the send buffer of one rank.
// Host names and process numbers are not read.

#include "scenario/files/import_source.hpp"
#include "scenario/files/samples_file.hpp"

namespace stepsim::io {

// The files may be of any ranks in any order, with several ranks in a file or several files of a
// rank. A set has the collectives of one operation, number of ranks and number of nodes that were
// timed by the best clock that any of them has: that of the GPU, else of the host around the
// kernel, else around the call; `column` names it, and a warning counts the collectives left out
// for a worse clock. Throws InputError if there is no collective, for a line that is not a JSON
// object or lacks a value, for ranks that disagree on the size of a collective, and for a file
// given twice.
[[nodiscard]] Samples import_nccl_inspector(const std::vector<std::string>& files,
                                            const ImportOptions& options);

} // namespace stepsim::io
