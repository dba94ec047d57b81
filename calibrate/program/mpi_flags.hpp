#pragma once
// The flags of `stepsim-calibrate mpi`, as typed and as checked settings.
#include <cstdint>
#include <string>
#include <vector>

#include "calibrate/mpi/measured_table.hpp"

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
  std::int64_t pairs{};           // number of pairs to measure at most
  std::vector<mpi::Kind> assumed; // algorithms that the MPI library was told to use
};

// Throws UsageError for a value that is not allowed and for flags that exclude each other. A
// segment must be at most 8 MiB and a multiple of 4 bytes, because vectors are only cut between
// fp32 elements.
[[nodiscard]] MpiSettings mpi_settings(const MpiFlags& flags);

} // namespace stepsim::calibrate
