#pragma once
// The flags of `stepsim-calibrate mpi`, as typed and as checked settings, and its tables.

#include "calibrate/mpi/measured_table.hpp"
#include "calibrate/mpi/pairs.hpp"

namespace CLI {
class App;
}

namespace stepsim::calibrate {

struct MpiFlags { // as typed
  std::string table, segment = "32KiB", timeout = "60s", rate, max_seconds = "300";
  std::string pairs, links, assume, topology, late;
  bool no_acknowledge = false;
  bool force = false;
  bool dense = false;
  bool strict = false;
};

void add_mpi_flags(CLI::App& app, MpiFlags& flags);

// The values of the flags after checking.
struct MpiSettings {
  mpi::TableOptions table;
  // Longest time of one operation, and time limit of all measurements together, s.
  double timeout_s{}, max_seconds{};
  std::int64_t pairs{};      // number of pairs to measure at most
  std::vector<Kind> assumed; // algorithms that the MPI library was told to use
};

// Throws UsageError for a value that is not allowed and for flags that exclude each other. A
// segment must be at most 8 MiB and a multiple of 4 bytes, because vectors are only cut between
// fp32 elements.
[[nodiscard]] MpiSettings mpi_settings(const MpiFlags& flags);

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
