#pragma once
// The evaluators of the parameter server (COL 5.10). It has no schedule of transfers in program
// order: every worker pushes n/S bytes to each of S servers at once; a server adds when all its
// pushes have arrived, and then sends its part to all workers at once. A transfer holds no port
// during its latency; ports are shared max-min fairly.
//   max_plus   for one server, which on two levels must be dedicated. The pushes end at t, found by
//              t = max(t, enter_i + alpha) + n beta over the workers i in the order of arrival; it
//              is the same whether the port serves pushes in turn or at once.
//   events     for any servers and entry times: flows through links::PortNetwork; on a fabric
//              through links::FlowNetwork, where the hosts of dedicated servers follow those of
//              the workers.

#include "collectives/evaluate/evaluation.hpp"
#include "collectives/evaluate/link_costs.hpp"
#include "links/network_model.hpp"

namespace stepsim::collectives {

// The ranks of a node share its interfaces to servers on other nodes. `with_transfer_times` fills
// ranks.transfer_s. Both evaluators throw SimulationError for an operation other than allreduce,
// for links that differ by pair, for no server, and for more servers on workers than there are
// workers; parameter_server_max_plus() also if max_plus_defined() is false.
[[nodiscard]] Evaluation parameter_server_max_plus(const Collective& collective,
                                                   bool with_transfer_times);
[[nodiscard]] Evaluation parameter_server_events(const Collective& collective,
                                                 bool with_transfer_times);
// Returns the traffic as traffic() does (evaluation.hpp).
[[nodiscard]] Traffic parameter_server_traffic(const Collective& collective);

// Whether max_plus can time `collective`, whatever its algorithm. False on a fabric, for several
// parameter servers, whose transfers share ports in no fixed order, and for a server on a worker of
// a two-level cluster.
[[nodiscard]] bool max_plus_defined(const Collective& collective);
// Why it is not: "max_plus is not defined for 2 parameter servers; use events".
[[nodiscard]] std::string no_max_plus(const Collective& collective);

// Links and ports of the flows of a parameter server. Hosts are numbered: first the ranks, then
// the dedicated servers.
//   EqualLinks    every host has a port per direction
//   ServerNodes   two levels: the ranks of a node share its interfaces towards other nodes, and
//                 each has a port per direction inside; a dedicated server is a separate machine
//   FabricLinks   the fabric routes the flows; ports are not used

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
