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

// Every rank calls this, and all get the same result. Sizes run from 4 bytes to `most_bytes` by
// factors of 2, or of sqrt 2 if `dense` (collective_sizes). The size of an all-gather or a
// reduce-scatter is that of the whole buffer, rounded down so that all ranks have equally many
// elements. Returns about `max_seconds` after the start.
[[nodiscard]] LibraryRun run_library(std::int64_t most_bytes, bool dense, double max_seconds,
                                     Wire& wire, Watchdog& watchdog);

// "allreduce=ring,broadcast=mst": algorithms that the library was told to use, so that its times
// can be predicted. Throws UsageError for anything that is not one of kinds().
[[nodiscard]] std::vector<Kind> parse_assumed(const std::string& text);

} // namespace stepsim::calibrate::mpi
