#pragma once
// What `run` prints of a simulated network.
#include <string>

#include "run/result.hpp"

namespace stepsim::cli {

// "flow level, 16 hosts, 6 switches, 88 links (leaf_spine.json); 8 ranks packed"
[[nodiscard]] std::string fabric_text(const study::Cluster& cluster);
// Lines of completion times and losses, and a table of the busiest links; empty without a network.
[[nodiscard]] std::string messages_text(const study::Result& result);
// Every job alone and beside the others; empty for one job.
[[nodiscard]] std::string jobs_text(const study::Result& result);
[[nodiscard]] std::string links_text(const study::Result& result);

} // namespace stepsim::cli
