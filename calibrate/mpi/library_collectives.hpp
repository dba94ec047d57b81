#pragma once
// The collectives of the MPI library itself: MPI_Allreduce, MPI_Bcast, MPI_Reduce, MPI_Allgather
// and MPI_Reduce_scatter on fp32 vectors. The library chooses its algorithm; what is measured is a
// curve for scenarios that ask for it (collective calibrated), next to the collectives of
// process_program.hpp, whose algorithm is known.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/mpi/link_estimate.hpp"
#include "calibrate/mpi/timed_blocks.hpp"

namespace stepsim::calibrate::mpi {

struct LibraryRun {
  std::vector<LibrarySamples> operations; // those with two sizes or more
  std::vector<std::string> warnings;      // unsteady passes
};

// All ranks take part and get the same. Sizes are those of collective_sizes: from 4 bytes to
// `most_bytes` by factors of 2 (`dense`: sqrt 2). `bytes` of an all-gather and a reduce-scatter are
// those of the whole buffer, rounded down to equal parts of whole elements. Ends about
// `max_seconds` after the start.
[[nodiscard]] LibraryRun run_library(std::int64_t most_bytes, bool dense, double max_seconds,
                                     Wire& wire, Watchdog& watchdog);

// "allreduce=ring,broadcast=mst": algorithms that the library was told to use, so that its times
// can be predicted. Throws UsageError for anything that is not one of kinds().
[[nodiscard]] std::vector<Kind> parse_assumed(const std::string& text);

} // namespace stepsim::calibrate::mpi
