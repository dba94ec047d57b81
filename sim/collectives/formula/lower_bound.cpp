// Lower bounds: no schedule of an operation can be faster on these links. Nodes of several ranks
// have the bounds of node_links.hpp, everything else those of COL 6.
#include "collectives/formula/lower_bound.hpp"

#include <array>
#include <cmath>

#include "collectives/algorithms.hpp"
#include "collectives/node_ranks.hpp"
#include "collectives/schedule/two_level.hpp"

namespace stepsim::collectives {
namespace {

constexpr double kRounding = 1e-12; // relative, of sums of latencies and delays
constexpr double kNoLink = std::numeric_limits<double>::infinity();

// Seconds per byte of the best link of every rank, [P], or [1] if they are alike; and the smallest
// latency and start-up of all links.
struct BestLinks {
  std::vector<double> out_s_per_byte, in_s_per_byte;
  double latency_s{};
  double startup_s{}; // latency and delay of one link
};

// The best of the links that no listed pair replaces.
LinkCost default_link(const Collective& collective) {
  LinkCost cost = collective.links.all;
  const std::optional<TwoLevel>& two = collective.links.two_level;
  if (two && two->gpus_per_node > 1) {
    const LinkCost& intra = two->intra;
    const bool nodes = collective.ranks > two->gpus_per_node;
    const double startup =
        nodes ? std::min(cost.startup_s(), intra.startup_s()) : intra.startup_s();
    cost.latency_s = nodes ? std::min(cost.latency_s, intra.latency_s) : intra.latency_s;
    cost.delay_s = startup - cost.latency_s;
    cost.per_byte_s = nodes ? std::min(cost.per_byte_s, intra.per_byte_s) : intra.per_byte_s;
  }
  return cost;
}

// A rank keeps a default link if it has fewer than P-1 listed ones.
BestLinks best_links(const Collective& collective) {
  const Links& links = collective.links;
  const LinkCost cost = default_link(collective);
  BestLinks best{{cost.per_byte_s}, {cost.per_byte_s}, cost.latency_s, cost.startup_s()};
  if (!links.pairs_only && links.pairs.empty()) {
    return best;
  }
  const std::size_t ranks = collective.ranks;
  std::vector<std::size_t> listed_out(ranks, links.pairs_only ? ranks : 0);
  std::vector<std::size_t> listed_in = listed_out;
  for (const PairCost& pair : links.pairs) {
    if (pair.src < ranks && pair.dst < ranks) {
      ++listed_out[pair.src];
      ++listed_in[pair.dst];
    }
  }
  best = {{}, {}, kNoLink, kNoLink};
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const bool keeps = listed_out[rank] + 1 < ranks;
    best.out_s_per_byte.push_back(keeps ? cost.per_byte_s : kNoLink);
    best.in_s_per_byte.push_back(listed_in[rank] + 1 < ranks ? cost.per_byte_s : kNoLink);
    best.latency_s = keeps ? cost.latency_s : best.latency_s;
    best.startup_s = keeps ? cost.startup_s() : best.startup_s;
  }
  for (const PairCost& pair : links.pairs) {
    if (pair.src < ranks && pair.dst < ranks) {
      double& out = best.out_s_per_byte[pair.src];
      double& in = best.in_s_per_byte[pair.dst];
      out = std::min(out, pair.cost.per_byte_s);
      in = std::min(in, pair.cost.per_byte_s);
      best.latency_s = std::min(best.latency_s, pair.cost.latency_s);
      best.startup_s = std::min(best.startup_s, pair.cost.startup_s());
    }
  }
  return best;
}

// Every rank as an end, or one end for all ranks that are alike.
std::vector<BoundEnd> rank_ends(const Collective& collective, const BestLinks& best) {
  const std::uint32_t ranks = collective.ranks;
  const double n = total_bytes(collective);
  const Partition parts = Partition::equal(n, ranks, collective.options);
  std::vector<BoundEnd> ends;
  const auto add = [&](std::uint32_t rank, double count) {
    const std::size_t link = best.out_s_per_byte.size() > 1 ? rank : 0;
    BoundEnd end{.count = count,
                 .own = own_bytes(collective, std::array{rank}),
                 .root = rank == collective.root,
                 .out_s_per_byte = best.out_s_per_byte[link],
                 .in_s_per_byte = best.in_s_per_byte[link]};
    if (collective.op == Op::alltoall) { // rank r has part r, and those of a formula are not whole
      const double part = parts.bytes(rank, 1);
      end.own = {std::min(part, n / ranks), std::max(part, n / ranks)};
    } else if (collective.op == Op::allgatherv && collective.sizes.empty()) {
      end.own = {n / ranks, n / ranks};
    }
    ends.push_back(end);
  };
  const auto large = static_cast<std::uint32_t>(parts.large_parts());
  if (best.out_s_per_byte.size() > 1 || !collective.sizes.empty()) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      add(rank, 1);
    }
  } else if (collective.op == Op::broadcast || collective.op == Op::reduce) {
    add(collective.root, 1);
    add(collective.root == 0 ? 1 : 0, ranks - 1.0);
  } else {
    add(ranks - 1, ranks - large);
    if (large > 0) {
      add(0, large);
    }
  }
  return ends;
}

double reduction_bound(const Collective& collective) {
  const bool adds = collective.op == Op::reduce || collective.op == Op::allreduce ||
                    collective.op == Op::reduce_scatter;
  const std::vector<double>& own = collective.reduction_s_per_byte_rank;
  double rate = own.empty() ? collective.ranks / collective.reduction_s_per_byte : 0;
  for (const double gamma : own) {
    rate += 1 / gamma;
  }
  // Chunks overlap: one kernel of a GPU adds inside its node, another one between nodes.
  const bool two_kernels =
      collective.algorithm == kTwoLevel && collective.options.pipeline_chunks != 1;
  return adds ? (collective.ranks - 1.0) * collective.bytes / rate / (two_kernels ? 2 : 1) : 0;
}

// Flows through shared ports; `links.all` may be beaten by a listed or an inner link.
LowerBound server_flow_bound(const Collective& collective) {
  double beta = collective.links.pairs_only ? kNoLink : collective.links.all.per_byte_s;
  double alpha = collective.links.pairs_only ? kNoLink : collective.links.all.startup_s();
  for (const PairCost& pair : collective.links.pairs) {
    beta = std::min(beta, pair.cost.per_byte_s);
    alpha = std::min(alpha, pair.cost.startup_s());
  }
  if (collective.links.two_level && collective.links.two_level->gpus_per_node > 1) {
    beta = std::min(beta, collective.links.two_level->intra.per_byte_s);
    alpha = std::min(alpha, collective.links.two_level->intra.startup_s());
  }
  const double P = collective.ranks;
  const double S =
      collective.options.placement == Placement::sharded ? P : collective.options.servers;
  const double share =
      collective.options.placement == Placement::dedicated ? std::max(1.0, P / S) : (P - 1) / S;
  return {2 * alpha, share * collective.bytes * beta, 0};
}

// Ranks that can know a value after `ports` latencies at ports, of which each message in a row
// takes one or more, and `depth` delays at most: compositions of n into j parts, n <= ports, j <=
// depth. At most `enough`, which stops numbers from growing.
double reached(double seconds, double latency_s, double delay_s, double enough) {
  double count = 1;
  for (double j = 1; j * (latency_s + delay_s) <= seconds * (1 + kRounding); ++j) {
    const double ports = std::floor((seconds - j * delay_s) / latency_s * (1 + kRounding));
    double ways = 1; // ports over j
    for (double i = 0; i < j && ways < enough; ++i) {
      ways *= (ports - i) / (j - i);
    }
    count += ways;
    if (count >= enough) {
      return enough;
    }
  }
  return count;
}

bool links_of_one_node(const Collective& collective) {
  const std::optional<TwoLevel>& two = collective.links.two_level;
  return two && two->gpus_per_node > 1 && collective.ranks <= two->gpus_per_node;
}

// Several nodes of several ranks, and no pair of ranks with a link of its own.
bool has_nodes(const Collective& collective) {
  const Links& links = collective.links;
  return links.two_level && links.pairs.empty() && !links.pairs_only &&
         links.two_level->gpus_per_node > 1 && collective.ranks > links.two_level->gpus_per_node;
}

// Bytes that must pass an end.
struct Volume {
  double out{}, in{};
};

Volume volume(const Collective& collective, const BoundEnd& end) {
  const double n = total_bytes(collective);
  switch (collective.op) {
  case Op::broadcast:
    return end.root ? Volume{n, 0} : Volume{0, n};
  case Op::reduce:
    return end.root ? Volume{0, n} : Volume{n, 0};
  case Op::allreduce:
    return {n, n};
  case Op::reduce_scatter:
    return {n - end.own.most, end.own.least};
  case Op::allgather:
  case Op::allgatherv:
    return {end.own.least, n - end.own.most};
  case Op::alltoall:
    return {end.ranks * (n - end.own.most), (collective.ranks - end.ranks) * end.own.least};
  }
  return {};
}

// Every rank of a node that knows a value may tell another node at once.
std::uint32_t steps_with_fanout(std::uint32_t fanout, std::uint32_t nodes) {
  std::uint32_t steps = 0;
  for (std::uint64_t know = 1; know < nodes; know *= 1 + std::uint64_t{fanout}) {
    ++steps;
  }
  return steps;
}

} // namespace

// Without delays the number of ranks that know a value doubles with every latency. With them a rank
// sends on while its first message is under way: the number grows as in the optimal broadcast of
// the LogP model (Karp and others, SPAA 1993),
//     f(t) = f(t - latency) + f(t - startup),  f = 1 before the first startup.
// For 1 ms of delay and 1 us of latency 8 ranks need 1.007 ms, not 3.
double spread_seconds(std::uint32_t ranks, double latency_s, double startup_s) {
  const std::uint32_t levels = ceil_log2(ranks);
  if (startup_s == latency_s) {
    return levels * latency_s;
  }
  const double delay_s = startup_s - latency_s;
  if (latency_s == 0 || ranks <= 1) {
    return ranks <= 1 ? 0 : delay_s;
  }
  // The time is a number of latencies and of delays; more than `levels` delays in a row never pay.
  double best = levels * startup_s;
  for (std::uint32_t depth = 1; depth <= levels; ++depth) {
    double low = depth - 1.0; // too few latencies
    double high = ranks - 1.0;
    while (high - low > 1) {
      const double middle = std::floor((low + high) / 2);
      const bool enough =
          reached(middle * latency_s + depth * delay_s, latency_s, delay_s, ranks) >= ranks;
      (enough ? high : low) = middle;
    }
    best = std::min(best, high * latency_s + depth * delay_s);
  }
  return best;
}

double ends_bound(const Collective& collective, std::span<const BoundEnd> ends,
                  std::optional<double> all_bytes) {
  // An end without a link has nothing to wait for if it has nothing to send.
  const auto seconds = [](double bytes, double s_per_byte) {
    return bytes > 0 ? bytes * s_per_byte : 0;
  };
  double slowest = 0;
  double sent = 0;
  double out_Bps = 0;
  double in_Bps = 0;
  for (const BoundEnd& end : ends) {
    const Volume must = volume(collective, end);
    slowest = std::max(
        {slowest, seconds(must.out, end.out_s_per_byte), seconds(must.in, end.in_s_per_byte)});
    sent += end.count * must.out;
    out_Bps += end.count / end.out_s_per_byte;
    in_Bps += end.count / end.in_s_per_byte;
  }
  const double rate = std::min(out_Bps, in_Bps);
  return rate > 0 ? std::max(slowest, all_bytes.value_or(sent) / rate) : slowest;
}

double LowerBound::seconds() const { return std::max({latency_s, bandwidth_s, reduction_s}); }

nccl::BoundKind LowerBound::kind() const {
  if (bandwidth_s >= latency_s && bandwidth_s >= reduction_s) {
    return bandwidth_kind;
  }
  return latency_s >= reduction_s ? nccl::BoundKind::latency : nccl::BoundKind::reduction;
}

nccl::Operation operation_of(Op op) {
  switch (op) {
  case Op::broadcast:
    return nccl::Operation::broadcast;
  case Op::reduce:
    return nccl::Operation::reduce;
  case Op::allreduce:
    return nccl::Operation::allreduce;
  case Op::reduce_scatter:
    return nccl::Operation::reduce_scatter;
  case Op::allgather:
  case Op::allgatherv:
    return nccl::Operation::allgather;
  case Op::alltoall:
    return nccl::Operation::alltoall;
  }
  return nccl::Operation::allreduce;
}

LowerBound lower_bound(const Collective& collective) {
  if (is_empty(collective)) {
    return {};
  }
  if (collective.links.fabric) {
    return fabric_bound(collective);
  }
  if (collective.algorithm == AlgorithmId::parameter_server) {
    return server_flow_bound(collective);
  }
  if (algorithm(collective.algorithm).in_switch) {
    return in_switch_bound(collective);
  }
  if (has_nodes(collective)) {
    const TwoLevel& two = *collective.links.two_level;
    const LinkCost& inter = collective.links.all;
    const NodeRanks nodes(collective);
    const nccl::NodeBound bytes = node_level_bound(collective);
    const double latency_s =
        collective.op == Op::alltoall
            ? std::max(inter.startup_s(), two.intra.startup_s()) // messages of both kinds
        : nodes.equal() ? spread_seconds(nodes.nodes(), inter.latency_s, inter.startup_s())
                        : steps_with_fanout(nodes.largest(), nodes.nodes()) * inter.latency_s;
    return {latency_s, bytes.seconds, reduction_bound(collective), bytes.kind};
  }
  const BestLinks best = best_links(collective);
  const double latency_s = collective.op == Op::alltoall
                               ? best.startup_s
                               : spread_seconds(collective.ranks, best.latency_s, best.startup_s);
  const bool one_node = links_of_one_node(collective);
  // Of an all-to-all on two levels with links of pairs a rank has a port inside its node and one
  // outside it.
  const bool two_ports = collective.op == Op::alltoall && collective.links.two_level &&
                         !collective.links.pairs.empty();
  const double sent =
      (collective.op == Op::allreduce ? 2 : 1) * (collective.ranks - 1.0) * total_bytes(collective);
  const double bytes_s = ends_bound(collective, rank_ends(collective, best), sent);
  return {latency_s, bytes_s / (two_ports ? 2 : 1), reduction_bound(collective),
          one_node ? nccl::BoundKind::gpu : nccl::BoundKind::nic};
}

} // namespace stepsim::collectives
