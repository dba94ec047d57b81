#pragma once
// What is wrong with a fabric: no hosts, a link to an unknown node or to itself, below 1 byte/s or
// with a negative latency, links that are not in pairs, names used twice, hosts that cannot reach
// each other.
// Presets never have such problems; fabrics read from files or put together by hand may.
#include <optional>
#include <string>
#include <vector>

#include "net/fabric/fabric.hpp"

namespace stepsim::net {

struct FabricProblem {
  // The node or the link at fault; neither = the whole fabric.
  std::optional<NodeId> node{};
  std::optional<LinkId> link{};
  std::string message{};
};

// Empty = every host reaches every other. Paths are only looked for if nothing else is wrong.
[[nodiscard]] std::vector<FabricProblem> fabric_problems(const Fabric& fabric);

// Whether one connected set of switches joins all hosts. Where none does, hosts must forward.
[[nodiscard]] bool switches_join_hosts(const Fabric& fabric);

} // namespace stepsim::net
