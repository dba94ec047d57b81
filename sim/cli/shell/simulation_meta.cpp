#include "cli/shell/simulation_meta.hpp"

#include "cli/shell/peak_memory.hpp"

namespace stepsim::cli {

io::Json simulation_meta(const Invocation& invocation, std::uint64_t events,
                         std::optional<std::uint64_t> packet_hops, double simulation_s) {
  io::Json tree = meta(invocation);
  if (simulation_s > 0) {
    tree.set("events_per_s", static_cast<double>(events) / simulation_s);
    if (packet_hops) {
      tree.set("packet_hops_per_s", static_cast<double>(*packet_hops) / simulation_s);
    }
  }
  tree.set("peak_rss_bytes", peak_memory_bytes());
  return tree;
}

} // namespace stepsim::cli
