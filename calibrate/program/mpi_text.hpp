#pragma once
// The output of `mpi`: the link, predicted next to measured times, the simulator's collectives next
// to those of the MPI library, and the bandwidths of all pairs.
#include <cstdint>
#include <string>
#include <vector>

#include "calibrate/core/error_table.hpp"
#include "calibrate/mpi/library_collectives.hpp"
#include "calibrate/mpi/link_estimate.hpp"
#include "calibrate/mpi/pairs.hpp"

namespace stepsim::calibrate {

// One line with the link parameters that a scenario will use.
[[nodiscard]] std::string link_text(const mpi::LinkEstimate& link);

// The table of predicted and measured times, and a summary of the errors of the rows that count
// (ErrorRow::counts).
[[nodiscard]] std::string rows_text(const std::vector<ErrorRow>& rows);

// The median time of the MPI library per operation and size, next to the algorithm in `rows` with
// the least measured time for the same operation and size, gtopk_tree left out; "-" without one.
[[nodiscard]] std::string library_text(const mpi::LibraryRun& library,
                                       const std::vector<ErrorRow>& rows);

// The bandwidth of every pair, as a table for at most 16 ranks ("-" for a pair that was not
// measured or whose time does not grow with size), and one line that compares the slowest pair with
// the fastest. "" without pairs.
[[nodiscard]] std::string pairs_text(const mpi::PairRun& run, std::uint32_t ranks);

} // namespace stepsim::calibrate
