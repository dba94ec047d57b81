#pragma once
// What `mpi` prints: the link, predicted beside measured, own collectives next to those of the MPI
// library, and the matrix of pairs.
#include <cstdint>
#include <string>
#include <vector>

#include "calibrate/core/error_table.hpp"
#include "calibrate/mpi/library_collectives.hpp"
#include "calibrate/mpi/link_estimate.hpp"
#include "calibrate/mpi/pairs.hpp"

namespace stepsim::calibrate {

// One line with the numbers that a scenario will use.
[[nodiscard]] std::string link_text(const mpi::LinkEstimate& link);

// The table of predicted and measured times, and the errors of the rows that count.
[[nodiscard]] std::string rows_text(const std::vector<ErrorRow>& rows);

// Per operation and size the time of the library, and the fastest own algorithm of the same size in
// `rows`, where there is one.
[[nodiscard]] std::string library_text(const mpi::LibraryRun& library,
                                       const std::vector<ErrorRow>& rows);

// The bandwidth of every pair as a table for at most 16 ranks, "-" for pairs that were not measured
// or whose time does not grow with size, and one line that says how far the slowest is from the
// fastest. "" without any pair.
[[nodiscard]] std::string pairs_text(const mpi::PairRun& run, std::uint32_t ranks);

} // namespace stepsim::calibrate
