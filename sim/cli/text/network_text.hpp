#pragma once
// What `run` prints of a simulated network.
#include <string>

#include "run/result.hpp"

namespace stepsim::cli {

// "flow level, leaf_spine.json: 16 hosts, 6 switches; ranks packed". `cluster` must have a fabric.
[[nodiscard]] std::string fabric_text(const study::Cluster& cluster);
// Lines of completion times [ms], losses and convergence; empty for a result that has none of them.
[[nodiscard]] std::string messages_text(const study::Result& result);
// A table of every job alone and next to the others [ms]; empty for one job.
[[nodiscard]] std::string jobs_text(const study::Result& result);
// A table of the five busiest links; empty without a simulated network.
[[nodiscard]] std::string links_text(const study::Result& result);

} // namespace stepsim::cli
