// Progressive filling in its plain form: all flows rise together to the lowest level at which a
// port is full or a flow at its limit; those flows stop, and the rest rises on. At most one round
// per flow, each O(ports + flows).
#include "links/flow/max_min.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <vector>

namespace stepsim::links {
namespace {

// Shares that differ by rounding only are one bottleneck: 1 / 3 + 1 / 3 + 1 / 3 leaves no crumb.
constexpr double kSameShare = 1 + 1e-12;
constexpr double kRising = -1; // rate of a flow that still rises

} // namespace

void max_min(std::span<const double> capacity_Bps, const FlowPaths& flows,
             std::span<double> rate_Bps) {
  const std::size_t count = rate_Bps.size();
  assert(flows.path_begin.size() == count + 1 && flows.limit_Bps.size() == count);
  std::vector<double> left(capacity_Bps.begin(), capacity_Bps.end());
  std::vector<std::uint32_t> users(capacity_Bps.size(), 0);
  for (const std::uint32_t port : flows.path) {
    ++users[port];
  }
  std::fill(rate_Bps.begin(), rate_Bps.end(), kRising);
  const auto path_of = [&](std::size_t flow) {
    return flows.path.subspan(flows.path_begin[flow],
                              flows.path_begin[flow + 1] - flows.path_begin[flow]);
  };

  for (std::size_t open = count; open > 0;) {
    double level = std::numeric_limits<double>::infinity();
    for (std::size_t port = 0; port < left.size(); ++port) {
      if (users[port] > 0) {
        level = std::min(level, left[port] / users[port]);
      }
    }
    for (std::size_t flow = 0; flow < count; ++flow) {
      if (rate_Bps[flow] == kRising) {
        level = std::min(level, flows.limit_Bps[flow]);
      }
    }
    std::vector<char> full(left.size(), 0);
    for (std::size_t port = 0; port < left.size(); ++port) {
      const bool is_full = users[port] > 0 && left[port] / users[port] <= level * kSameShare;
      full[port] = is_full ? 1 : 0;
    }
    for (std::size_t flow = 0; flow < count; ++flow) {
      if (rate_Bps[flow] != kRising) {
        continue;
      }
      const auto path = path_of(flow);
      const bool stops = flows.limit_Bps[flow] <= level ||
                         std::any_of(path.begin(), path.end(),
                                     [&](std::uint32_t port) { return full[port] != 0; });
      if (stops) {
        rate_Bps[flow] = level;
        --open;
        for (const std::uint32_t port : path) {
          left[port] = std::max(0.0, left[port] - level);
          --users[port];
        }
      }
    }
  }
}

} // namespace stepsim::links
