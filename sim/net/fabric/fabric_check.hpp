#pragma once
// Checks a fabric. Fabrics that are read from files or built by hand may have problems; presets
// have none. A problem is
//   no host, a name that is used twice, links that are not in pairs;
//   a link to an unknown node or to its own node, below 1 byte/s, or with a negative latency;
//   hosts that cannot reach each other.
#include <optional>
#include <string>
#include <vector>

#include "net/fabric/fabric.hpp"

namespace stepsim::net {

struct FabricProblem {
  // The node or link with the problem; neither = the whole fabric.
  std::optional<NodeId> node{};
  std::optional<LinkId> link{};
  std::string message{};
};

// Returns the problems; empty = every host reaches every other. Paths are checked only if nothing
// else is wrong.
[[nodiscard]] std::vector<FabricProblem> fabric_problems(const Fabric& fabric);

// Whether one connected set of switches joins all hosts. If not, hosts must forward traffic.
[[nodiscard]] bool switches_join_hosts(const Fabric& fabric);

} // namespace stepsim::net
