#pragma once
// A fabric: hosts and switches joined by directed links. A full-duplex cable is two links.
// `topology.hpp` builds the usual shapes, `routes.hpp` finds the paths.
//
//     host 0 --up--> leaf 4 --up--> spine 6          nodes: hosts first, then switches
//            <-down-        <-down-                  links: per host up, down; then per leaf and
//                                                    spine up, down (presets; PKT 3.6)
//
// Ids are indices in the lists; links 2c and 2c + 1 are the two directions of cable c. Units:
// seconds, bytes/s. Source: PKT 3.3, 3.6.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stepsim::links {

using NodeId = std::uint32_t;
using LinkId = std::uint32_t;

struct FabricLink {
  NodeId from{};
  NodeId to{};
  double latency_s{};     // propagation
  double bandwidth_Bps{}; // >= 1
};

struct Fabric {
  std::uint32_t hosts{};    // node ids 0 .. hosts - 1
  std::uint32_t switches{}; // node ids hosts .. hosts + switches - 1
  std::vector<FabricLink> links;
  std::vector<std::string> node_names; // [node], unique
  std::vector<std::string> link_names; // [link], unique
  // Host of every rank if ranks are not on hosts 0, 1, ...; empty = the order of hosts.
  std::vector<NodeId> rank_hosts;
  // Whether hosts forward traffic of other hosts: in rings, in tori, on rails without spines.
  bool hosts_forward = false;
  // If every host is a GPU: number of consecutive GPUs, in rank order, that form a machine. 0 = a
  // host is a machine with all its GPUs (or, with rank_hosts, a GPU of a machine of unknown size).
  std::uint32_t gpus_per_machine{};

  [[nodiscard]] std::uint32_t nodes() const { return hosts + switches; }
  [[nodiscard]] bool is_host(NodeId node) const { return node < hosts; }
};

// Returns the first problem of the paths of a fabric whose names and links are right by themselves,
// or an empty text if the fabric can be used. Problems are
//   no host;
//   a host or a switch that has no path to host 0;
//   two hosts that reach each other only through other hosts, unless hosts forward.
[[nodiscard]] std::string fabric_problem(const Fabric& fabric);

// Whether one connected set of switches joins all hosts, so that no host ever forwards traffic. If
// not, fabric_problem() says whether a host must.
[[nodiscard]] bool switches_join_hosts(const Fabric& fabric);

// A fabric in a few numbers, and its levels for drawing.
//
//   bisection          most bytes/s from the first half of the hosts (in id order, rounded down) to
//                      the second: the smallest cut between these two halves (max-flow)
//   oversubscription   bandwidth of a switch to its hosts / to other switches
//   diameter           links between the two hosts that are farthest apart

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
