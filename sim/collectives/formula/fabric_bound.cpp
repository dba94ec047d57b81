// Lower bounds on a fabric (COL 6, derived). A host is a point that the rest of the world reaches
// over its own cables only, at their summed rate each way; its ranks together must pass what a
// single rank of the flat bounds must. H hosts send 2 (H-1) n in all for an allreduce, (H-1) n for
// other operations but an alltoall.

#include "collectives/formula/lower_bound.hpp"

#include "collectives/evaluate/link_costs.hpp"
#include "collectives/node_ranks.hpp"

#include <map>

namespace stepsim::collectives {

namespace {

constexpr double kNoHost = std::numeric_limits<double>::infinity();

struct Host {
  std::vector<std::uint32_t> ranks;
  double out_s_per_byte{}, in_s_per_byte{};
};

struct Hosts {
  std::map<links::NodeId, Host> by_id;
  double latency_s = kNoHost; // between two of them, at least
};

Hosts hosts_of(const Collective& collective, std::uint32_t ranks) {
  const links::RankFabric& fabric = *collective.links.fabric;
  Hosts hosts;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    hosts.by_id[fabric.hosts[rank]].ranks.push_back(rank);
  }
  std::map<links::NodeId, double> out_Bps, in_Bps;
  double out_latency = kNoHost;
  double in_latency = kNoHost;
  bool neighbours = false; // one link may be a whole path
  for (const links::FabricLink& link : fabric.fabric().links) {
    if (hosts.by_id.contains(link.from)) {
      out_Bps[link.from] += link.bandwidth_Bps;
      out_latency = std::min(out_latency, link.latency_s);
      neighbours = neighbours || fabric.fabric().is_host(link.to);
    }
    if (hosts.by_id.contains(link.to)) {
      in_Bps[link.to] += link.bandwidth_Bps;
      in_latency = std::min(in_latency, link.latency_s);
    }
  }
  for (auto& [id, host] : hosts.by_id) {
    host.out_s_per_byte = fabric.headers.per_byte() / out_Bps[id];
    host.in_s_per_byte = fabric.headers.per_byte() / in_Bps[id];
  }
  hosts.latency_s = neighbours ? std::max(out_latency, in_latency) : out_latency + in_latency;
  hosts.latency_s += collective.links.all.latency_s;
  return hosts;
}

double bandwidth_bound(const Collective& collective, const Hosts& hosts) {
  std::vector<BoundEnd> ends;
  for (const auto& [id, host] : hosts.by_id) {
    ends.push_back({.ranks = static_cast<double>(host.ranks.size()),
                    .own = own_bytes(collective, host.ranks),
                    .root = collective.links.fabric->hosts[collective.root] == id,
                    .out_s_per_byte = host.out_s_per_byte,
                    .in_s_per_byte = host.in_s_per_byte});
  }
  const double passes = collective.op == Op::allreduce ? 2 : 1;
  const double all =
      passes * (static_cast<double>(hosts.by_id.size()) - 1) * total_bytes(collective);
  const bool each = collective.op == Op::alltoall; // what hosts send has nothing in common
  return ends_bound(collective, ends, each ? std::nullopt : std::optional(all));
}

// As if the one host of all were a cluster of equal links.
Collective on_one_host(const Collective& collective) {
  Collective inside = collective;
  inside.links = {.all = FabricLinks(collective.links).inside()};
  return inside;
}

// Pushes and pulls: what crosses a host goes in and out alike.
LowerBound server_fabric_bound(const Collective& collective) {
  const Options& options = collective.options;
  const bool dedicated = options.placement == Placement::dedicated;
  const std::uint32_t servers =
      options.placement == Placement::sharded ? collective.ranks : options.servers;
  const Hosts hosts = hosts_of(collective, collective.ranks + (dedicated ? servers : 0));
  const Partition parts = Partition::equal(collective.bytes, servers, options);
  if (hosts.by_id.size() < 2) { // copies inside a host share no port: one push, then one pull
    const LinkCost inner = FabricLinks(collective.links).inside();
    const bool sends = dedicated || collective.ranks > 1;
    return sends ? LowerBound{2 * inner.latency_s, 2 * parts.bytes(0, 1) * inner.per_byte_s, 0}
                 : LowerBound{};
  }
  LowerBound bound{2 * hosts.latency_s, 0, 0};
  for (const auto& [id, host] : hosts.by_id) {
    double workers = 0;
    double held = 0; // by the servers here
    for (const std::uint32_t end : host.ranks) {
      workers += end < collective.ranks ? 1 : 0;
      const std::uint32_t server = dedicated ? end - collective.ranks : end;
      held += server < servers ? parts.bytes(server, 1) : 0;
    }
    const double bytes = workers * (collective.bytes - held) + held * (collective.ranks - workers);
    bound.bandwidth_s =
        std::max(bound.bandwidth_s, bytes * std::max(host.out_s_per_byte, host.in_s_per_byte));
  }
  return bound;
}

// Equal nodes take the table of CLU 4; of unequal ones every node is asked for itself, since the
// smallest has the fewest cards and the most to receive.

using nccl::BoundKind;
using nccl::NodeBound;

double own_most(const Collective& collective, const NodeRanks& nodes, std::uint32_t node) {
  return own_bytes(collective,
                   std::views::iota(nodes.first(node), nodes.first(node) + nodes.size(node)))
      .most;
}

// What one node asks for. `root`: the node of the root, which need not receive (send) anything.
struct NodeNeeds {
  double over_cards{};
  double over_ports{}; // by all ranks of the node together
};
NodeNeeds needs_of(const Collective& collective, const NodeRanks& nodes, std::uint32_t node) {
  const double n = total_bytes(collective);
  const double ranks = nodes.size(node);
  const double own = own_most(collective, nodes, node);
  switch (collective.op) {
  case Op::broadcast:
  case Op::reduce:
    return node == nodes.node(collective.root) ? NodeNeeds{n, n} : NodeNeeds{n, ranks * n};
  case Op::allreduce:
    return {n, ranks * n};
  case Op::reduce_scatter:
  case Op::allgather:
  case Op::allgatherv:
    return {n - own, ranks * n - own};
  case Op::alltoall: // messages inside a node use no card, those between nodes nothing else
    return {ranks * (n - own), 0};
  }
  return {};
}

class Slowest {
public:
  void add(double bytes, double rate_Bps, BoundKind kind) {
    if (rate_Bps > 0 && bytes / rate_Bps > bound_.seconds) {
      bound_ = {bytes / rate_Bps, kind};
    }
  }
  [[nodiscard]] NodeBound bound() const { return bound_; }

private:
  NodeBound bound_{0, BoundKind::nic};
};

NodeBound unequal_bound(const Collective& collective, const NodeRanks& nodes) {
  const TwoLevel& two = *collective.links.two_level;
  const double card_Bps = 1 / collective.links.all.per_byte_s;
  const double inner_Bps = 1 / two.intra.per_byte_s;
  Slowest slowest;
  double all_cards = 0;
  double all_ports = 0;
  for (std::uint32_t node = 0; node < nodes.nodes(); ++node) {
    const std::uint32_t ranks = nodes.size(node);
    const double cards = std::min(two.nics_per_node, ranks) * card_Bps;
    const double ports = cards + (ranks > 1 ? ranks * inner_Bps : 0);
    const NodeNeeds needs = needs_of(collective, nodes, node);
    slowest.add(needs.over_cards, cards, BoundKind::nic);
    slowest.add(needs.over_ports, ports, BoundKind::gpu);
    if (collective.op == Op::alltoall && ranks > 1) {
      const double part = own_most(collective, nodes, node) / ranks;
      const double least = part - static_cast<double>(collective.options.element_bytes);
      slowest.add((ranks - 1) * std::max(0.0, least), inner_Bps, BoundKind::gpu);
    }
    all_cards += cards;
    all_ports += ports;
  }
  if (collective.op == Op::allreduce) {
    const double n = total_bytes(collective);
    slowest.add(2.0 * (nodes.nodes() - 1) * n, all_cards, BoundKind::nic);
    slowest.add(2.0 * (collective.ranks - 1) * n, all_ports, BoundKind::gpu);
  }
  return slowest.bound();
}

} // namespace

LowerBound fabric_bound(const Collective& collective) {
  if (collective.algorithm == AlgorithmId::parameter_server) {
    return server_fabric_bound(collective);
  }
  const Hosts hosts = hosts_of(collective, collective.ranks);
  const Collective inside = on_one_host(collective);
  const LowerBound flat = lower_bound(inside);
  if (hosts.by_id.size() < 2) {
    return {flat.latency_s, flat.bandwidth_s, flat.reduction_s, nccl::BoundKind::gpu};
  }
  // ceil(log2 P) messages follow each other, one of them between two hosts.
  const bool shared = hosts.by_id.size() < collective.ranks;
  const double least =
      shared ? std::min(hosts.latency_s, inside.links.all.latency_s) : hosts.latency_s;
  const double rounds = collective.op == Op::alltoall ? 1 : ceil_log2(collective.ranks);
  return {std::max(hosts.latency_s, rounds * least), bandwidth_bound(collective, hosts),
          flat.reduction_s};
}

NodeBound node_level_bound(const Collective& collective) {
  const NodeRanks nodes(collective);
  if (!nodes.equal()) {
    return unequal_bound(collective, nodes);
  }
  const TwoLevel& two = *collective.links.two_level;
  const nccl::NodeRates rates{.nodes = static_cast<double>(nodes.nodes()),
                              .gpus = static_cast<double>(nodes.largest()),
                              .inner_Bps = 1 / two.intra.per_byte_s,
                              .nics_Bps = std::min(two.nics_per_node, two.gpus_per_node) /
                                          collective.links.all.per_byte_s};
  NodeBound bytes = nccl::node_bound(operation_of(collective.op), total_bytes(collective), rates);
  if (!collective.sizes.empty()) {
    for (std::uint32_t node = 0; node < nodes.nodes(); ++node) {
      const double others = total_bytes(collective) - own_most(collective, nodes, node);
      const double nic_s = others / rates.nics_Bps;
      bytes = nic_s > bytes.seconds ? NodeBound{nic_s, BoundKind::nic} : bytes;
    }
  }
  return bytes;
}

} // namespace stepsim::collectives
