#include "cli/shell/output.hpp"

#include <sys/resource.h>

namespace stepsim::cli {

namespace {

// The most memory this process has held at once, in bytes; 0 where the system does not say. Linux
// counts in units of 1024 bytes.
std::int64_t peak_memory_bytes() {
  rusage usage{};
  return getrusage(RUSAGE_SELF, &usage) == 0 ? std::int64_t{usage.ru_maxrss} * 1024 : 0;
}

} // namespace

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
