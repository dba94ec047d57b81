#pragma once
// Checks a fabric. Fabrics that are read from files or built by hand may have problems; presets
// have none. A problem is
//   no host, a name that is used twice, links that are not in pairs;
//   a link to an unknown node or to its own node, below 1 byte/s, or with a negative latency;
//   a host or a switch that has no path to host 0;
//   two hosts that reach each other only through other hosts, unless hosts forward.
#include <optional>
#include <string>
#include <vector>

#include "links/fabric/fabric.hpp"

namespace stepsim::links {

struct FabricProblem {
  // The node or link with the problem; neither = the whole fabric.
  std::optional<NodeId> node{};
  std::optional<LinkId> link{};
  std::string message{};
};

// Returns the problems; empty if the fabric can be used. Paths are checked only if nothing else is
// wrong, and only the first problem of paths is reported.
[[nodiscard]] std::vector<FabricProblem> fabric_problems(const Fabric& fabric);

// Whether one connected set of switches joins all hosts, so that no host ever forwards traffic. If
// not, fabric_problems() says whether a host must.
[[nodiscard]] bool switches_join_hosts(const Fabric& fabric);

} // namespace stepsim::links
