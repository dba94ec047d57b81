// Lower bounds on a fabric (COL 6, derived). A host is a point that the rest of the world reaches
// over its own cables only, at their summed rate each way; its ranks together must pass what a
// single rank of the flat bounds must. H hosts send 2 (H-1) n in all for an allreduce, (H-1) n for
// other operations but an alltoall.

#include "collectives/formula/lower_bound.hpp"

#include "collectives/evaluate/link_costs.hpp"

#include <map>
#include <numeric>

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

// Bytes that must pass the ports of all ranks of a node together, on which messages inside it count
// too. Those of an alltoall use no card inside the node and nothing else between nodes.
double over_ports(const Collective& collective, const BoundEnd& node) {
  const double n = total_bytes(collective);
  switch (collective.op) {
  case Op::broadcast:
  case Op::reduce: // the node of the root need not receive (send) anything
    return node.root ? n : node.ranks * n;
  case Op::allreduce:
    return node.ranks * n;
  case Op::reduce_scatter:
  case Op::allgather:
  case Op::allgatherv:
    return node.ranks * n - node.own.most;
  case Op::alltoall:
    return 0;
  }
  return 0;
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

// Equal nodes are one end, of unequal ones every node is an end, since the smallest has the fewest
// cards and the most to receive.
nccl::NodeBound node_level_bound(const Collective& collective) {
  const NodeRanks nodes(collective);
  const TwoLevel& two = *collective.links.two_level;
  const double n = total_bytes(collective);
  const bool alike = nodes.equal() && collective.sizes.empty();
  const double passes = collective.op == Op::allreduce ? 2 : 1;
  const bool each = collective.op == Op::alltoall; // what nodes send has nothing in common
  const auto element = static_cast<double>(collective.options.element_bytes);
  std::vector<BoundEnd> ends;
  double gpu_s = 0;
  double ports_Bps = 0;
  for (std::uint32_t node = 0; node < (alike ? 1 : nodes.nodes()); ++node) {
    const std::uint32_t ranks = nodes.size(node);
    const double card_s = collective.links.all.per_byte_s / std::min(two.nics_per_node, ranks);
    std::vector<std::uint32_t> here(ranks);
    std::iota(here.begin(), here.end(), nodes.first(node));
    const BoundEnd& end =
        ends.emplace_back(BoundEnd{.count = alike ? nodes.nodes() : 1.0,
                                   .ranks = static_cast<double>(ranks),
                                   .own = own_bytes(collective, here),
                                   .root = !alike && node == nodes.node(collective.root),
                                   .out_s_per_byte = card_s,
                                   .in_s_per_byte = card_s});
    const double ports = 1 / card_s + (ranks > 1 ? ranks / two.intra.per_byte_s : 0);
    gpu_s = std::max(gpu_s, over_ports(collective, end) / ports);
    ports_Bps += end.count * ports;
    if (each) {
      const double part =
          nodes.equal() ? n / collective.ranks : std::max(0.0, end.own.most / ranks - element);
      gpu_s = std::max(gpu_s, (ranks - 1) * part * two.intra.per_byte_s);
    }
  }
  std::optional<double> across = passes * (nodes.nodes() - 1.0) * n;
  if (!each) {
    gpu_s = std::max(gpu_s, passes * (collective.ranks - 1.0) * n / ports_Bps);
  } else {
    across = nodes.equal() ? std::optional((collective.ranks - nodes.largest()) * n) : std::nullopt;
  }
  const double nic_s = ends_bound(collective, ends, across);
  return nic_s > gpu_s ? nccl::NodeBound{nic_s, nccl::BoundKind::nic}
                       : nccl::NodeBound{gpu_s, nccl::BoundKind::gpu};
}

} // namespace stepsim::collectives
