#pragma once
// A fabric in a few numbers, and its levels for drawing.
//
//   bisection          most bytes/s from the first half of the hosts (in id order, rounded down) to
//                      the second: the smallest cut between these two halves (max-flow)
//   oversubscription   bandwidth of a switch to its hosts / to other switches
//   diameter           links between the two hosts that are farthest apart
#include <cstdint>
#include <optional>
#include <vector>

#include "links/fabric/fabric.hpp"

namespace stepsim::links {

struct FabricSummary {
  std::uint32_t hosts{}, switches{}, cables{};
  double bisection_Bps{}; // 0 for fewer than two hosts
  double half_Bps{};      // sum of the bandwidths of all links out of hosts of the first half
  // The largest ratio of any switch; empty if no switch has links both to hosts and to switches.
  std::optional<double> oversubscription;
  std::uint32_t diameter{}; // in links
  NodeId far_a{}, far_b{};  // the first two hosts at that distance
  double paths{};           // number of shortest paths between far_a and far_b
};

// Returns the summary. Throws SimulationError if the fabric is too large for routes.
[[nodiscard]] FabricSummary summary_of(const Fabric& fabric);

// Returns, for each node, the number of links to the nearest host: 0 for hosts, 1 for leaves, 2 for
// spines.
[[nodiscard]] std::vector<std::uint32_t> levels(const Fabric& fabric);

} // namespace stepsim::links
