#pragma once
// What is wrong with a fabric: nothing to route from, a link of no rate, a link from a node to
// itself, names used twice, nodes without a way. Presets never have such problems; fabrics read
// from files or put together by hand may.
#include <optional>
#include <string>
#include <vector>

#include "net/fabric/fabric.hpp"

namespace stepsim::net {

struct FabricProblem {
  std::optional<NodeId> node{}; // which node or link is meant; neither = the whole fabric
  std::optional<LinkId> link{};
  std::string message{};
};

// Empty = every host reaches every other. Ways are looked for where nothing else is wrong.
[[nodiscard]] std::vector<FabricProblem> fabric_problems(const Fabric& fabric);

// Whether one connected set of switches joins all hosts. Where none does, hosts must forward.
[[nodiscard]] bool switches_join_hosts(const Fabric& fabric);

} // namespace stepsim::net
