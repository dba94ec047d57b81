#pragma once
// Links and ports of the flows of a parameter server. Hosts are numbered: first the ranks, then
// the dedicated servers.
//   EqualLinks    every host has a port per direction
//   ServerNodes   two levels: the ranks of a node share its interfaces towards other nodes, and
//                 each has a port per direction inside; a dedicated server is a separate machine
//   FabricLinks   the fabric routes the flows; ports are not used
#include <algorithm>
#include <cstdint>
#include <vector>

#include "collectives/collective.hpp"
#include "collectives/evaluate/fabric_links.hpp"
#include "collectives/evaluate/link_costs.hpp"
#include "links/network_model.hpp"

namespace stepsim::collectives {

// The ports that a flow holds: the send port of its source, the receive port of its destination.
struct PortPair {
  std::uint32_t send{};
  std::uint32_t receive{};
};

inline PortPair ports_of(const EqualLinks& /*links*/, std::uint32_t src, std::uint32_t dst) {
  return {2 * src, 2 * dst + 1};
}
inline PortPair ports_of(const FabricLinks& /*links*/, std::uint32_t src, std::uint32_t dst) {
  return {2 * src, 2 * dst + 1};
}

class ServerNodes {
public:
  ServerNodes(const Links& links, std::uint32_t workers, std::uint32_t dedicated)
      : levels_(links, workers), workers_(workers), hosts_(workers + dedicated) {}

  [[nodiscard]] bool inside(std::uint32_t src, std::uint32_t dst) const {
    return src < workers_ && dst < workers_ && levels_.node(src) == levels_.node(dst);
  }
  [[nodiscard]] const LinkCost& cost(std::uint32_t src, std::uint32_t dst) const {
    return inside(src, dst) ? levels_.inside_nodes() : levels_.between_nodes();
  }
  [[nodiscard]] PortPair ports(std::uint32_t src, std::uint32_t dst) const {
    if (inside(src, dst)) {
      return {own_port(src), own_port(dst) + 1};
    }
    return {outer_port(src), outer_port(dst) + 1};
  }
  // Returns the bytes per second of every port: interfaces, ranks inside their nodes, dedicated
  // servers.
  [[nodiscard]] std::vector<double> capacities() const {
    const double outer = 1 / levels_.between_nodes().per_byte_s;
    std::vector<double> result(levels_.ports() + 2 * hosts_, outer);
    const auto first = result.begin() + levels_.ports();
    std::fill(first, first + 2 * workers_, 1 / levels_.inside_nodes().per_byte_s);
    return result;
  }

private:
  [[nodiscard]] std::uint32_t own_port(std::uint32_t host) const {
    return levels_.ports() + 2 * host;
  }
  [[nodiscard]] std::uint32_t outer_port(std::uint32_t host) const {
    return host < workers_ ? levels_.send_port(host) : own_port(host);
  }

  TwoLevelLinks levels_;
  std::uint32_t workers_;
  std::uint32_t hosts_;
};

inline PortPair ports_of(const ServerNodes& links, std::uint32_t src, std::uint32_t dst) {
  return links.ports(src, dst);
}

} // namespace stepsim::collectives
