#pragma once
// Places ranks on hosts. Ranks are numbered machine by machine: rank = node * gpus_per_node +
// local. If the hosts of a fabric are machines, all ranks of a node share its host; if they are
// GPUs, every rank has its own host.
//
//     leaf-spine, 2 leaves x 4 hosts, 4 nodes      packed: hosts 0 1 2 3
//                                                  spread: hosts 0 4 1 5
//
// packed uses machines in the order of the fabric; spread takes one machine from each switch in
// turn. A machine belongs to the first switch of its first host.
#include <memory>
#include <utility>
#include <variant>

#include "links/flow/flow_run.hpp"

namespace stepsim::links {

enum class PlacementRule { packed, spread };
// A rule, or a list of hosts: one per rank, or one per node if hosts are machines.
using Placement = std::variant<PlacementRule, std::vector<NodeId>>;

// Returns [rank] the host of each rank. There must be no placement_problem() (asserted).
[[nodiscard]] std::vector<NodeId> place_ranks(const Fabric& fabric, std::uint32_t nodes,
                                              std::uint32_t gpus_per_node,
                                              const Placement& placement);

// Returns why the ranks cannot be placed so, as a text for the user; empty if they can. nodes and
// gpus_per_node must be >= 1.
[[nodiscard]] std::string placement_problem(const Fabric& fabric, std::uint32_t nodes,
                                            std::uint32_t gpus_per_node,
                                            const Placement& placement);

// Ranks on a fabric: the fabric with its routes, shared by everything that runs on it, and the host
// of every rank. Dedicated servers count as ranks. The connection from rank src to rank dst has
// number src x hosts.size() + dst at the flow level, and for the first job at the packet level, so
// that it has the same path at both levels (PKT 3.6, 6.3).

struct RoutedFabric {
  // Throws SimulationError if two hosts have no path, or if the fabric is too large (Routes).
  explicit RoutedFabric(Fabric with) : fabric(std::move(with)), routes(fabric) {}
  // The same nodes and cables with other rates.
  RoutedFabric(Fabric with, const Routes& known) : fabric(std::move(with)), routes(known) {}
  RoutedFabric(const RoutedFabric&) = delete;
  RoutedFabric& operator=(const RoutedFabric&) = delete;

  const Fabric fabric;
  const Routes routes;
};

struct RankFabric {
  std::shared_ptr<const RoutedFabric> network;
  std::vector<NodeId> hosts{}; // [rank], then one per dedicated server
  FlowPathOptions paths{};     // `spray` is used at the flow level only, `seed` by ECMP
  Headers headers{};           // used at the flow level only

  [[nodiscard]] const Fabric& fabric() const { return network->fabric; }
  [[nodiscard]] const Routes& routes() const { return network->routes; }
};

// Where the links of a fabric lie, seen from the machines: inside one, or between a machine and
// what is outside. A machine is a host, or several hosts that are GPUs; then the switches that are
// nearer to its GPUs than to those of any other machine belong to it.
//
//     gpu 0 --inside-- nic 4 --border-- switch 6 --border-- nic 5 --inside-- gpu 2

enum class LinkPlace { inside, border, outside }; // outside: between two switches of no machine

struct MachineLinks {
  std::vector<LinkPlace> places; // [link]
  double out_Bps{};              // sum of the rates of the links out of machine 0
};

// `machine_of` gives each host its machine. Takes O(nodes + links).
[[nodiscard]] MachineLinks machine_links(const Fabric& fabric,
                                         std::span<const std::uint32_t> machine_of);

} // namespace stepsim::links
