#pragma once
// Measures the collectives of the MPI library itself: MPI_Allreduce, MPI_Bcast, MPI_Reduce,
// MPI_Allgather and MPI_Reduce_scatter on fp32 vectors. The library chooses the algorithm; the
// result is a curve for scenarios with the collective `calibrated`. The algorithms of
// process_program.hpp, in contrast, are known.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/mpi/link_estimate.hpp"
#include "calibrate/mpi/timed_blocks.hpp"

namespace stepsim::calibrate::mpi {

struct LibraryRun {
  std::vector<LibrarySamples> operations; // operations with two sizes or more
  std::vector<std::string> warnings;      // blocks whose passes differ
};

// Measures all operations. Every rank must call this; all ranks get the same result. Sizes run from
// 4 bytes to `most_bytes` by factors of 2, or of sqrt 2 if `dense` (collective_sizes). The size of
// an all-gather or a reduce-scatter is the size of the whole buffer, rounded down so that all ranks
// have equally many elements. Ends about `max_seconds` after the start at the latest; sizes without
// a sample by then are left out.
[[nodiscard]] LibraryRun run_library(std::int64_t most_bytes, bool dense, double max_seconds,
                                     Wire& wire, Watchdog& watchdog);

// Parses "allreduce=ring,broadcast=mst": the algorithms that the library was told to use, so that
// its times can be predicted; none for "". Throws UsageError for a pair that is not one of the
// dense kinds().
[[nodiscard]] std::vector<Kind> parse_assumed(const std::string& text);

} // namespace stepsim::calibrate::mpi
