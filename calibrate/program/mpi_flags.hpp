#pragma once
// The flags of `stepsim-calibrate mpi` and what they mean.
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

// Flags after checking. `max_seconds` is the time of all measurements.
struct MpiSettings {
  mpi::TableOptions table;
  double timeout_s{}, max_seconds{};
  std::int64_t pairs{};
  std::vector<mpi::Kind> assumed;
};

// Throws UsageError. A segment is a whole number of fp32 elements, because vectors are only cut
// between elements.
[[nodiscard]] MpiSettings mpi_settings(const MpiFlags& flags);

} // namespace stepsim::calibrate
