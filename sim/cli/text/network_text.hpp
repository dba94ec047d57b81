#pragma once
// The lines and tables that `stepsim run` prints about a simulated network.
#include <string>

#include "run/result.hpp"

namespace stepsim::cli {

// One line about the fabric, which `cluster` must have:
//     flow level, leaf_spine.json: 16 hosts, 6 switches; ranks packed
[[nodiscard]] std::string fabric_text(const study::Cluster& cluster);
// Lines with the completion times of messages [ms], the loss of gradients [%], and the epochs and
// time to accuracy; a line whose numbers the result lacks is left out.
[[nodiscard]] std::string messages_text(const study::Result& result);
// A table of the iteration time [ms] of every job, alone and while the other jobs run, and of the
// second over the first; empty for one job.
[[nodiscard]] std::string jobs_text(const study::Result& result);
// A table of the five busiest links: utilization, MB and, at the packet level, longest queue
// [packets], marked and dropped packets. Empty without a simulated network.
[[nodiscard]] std::string links_text(const study::Result& result);

} // namespace stepsim::cli
