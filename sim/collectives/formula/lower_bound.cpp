// Lower bounds: no schedule of an operation can be faster on these links. Nodes of several ranks
// have the bounds of node_links.hpp, everything else those of COL 6.
#include "collectives/formula/lower_bound.hpp"

#include <cmath>

#include "collectives/algorithms.hpp"
#include "collectives/formula/uniform.hpp"
#include "collectives/node_ranks.hpp"
#include "collectives/schedule/partition.hpp"
#include "collectives/schedule/two_level.hpp"

namespace stepsim::collectives {
namespace {

constexpr double kRounding = 1e-12; // relative, of sums of latencies and delays
constexpr double kNoLink = std::numeric_limits<double>::infinity();

// A cost per rank. If all ranks have the same cost, it is stored once, so that the bound of equal
// ranks takes the same time for any number of them.
class RankCosts {
public:
  RankCosts(std::uint32_t ranks, double cost) : ranks_(ranks), all_(cost) {}
  [[nodiscard]] std::uint32_t size() const { return ranks_; }
  [[nodiscard]] bool equal() const { return own_.empty(); }
  double operator[](std::size_t rank) const { return equal() ? all_ : own_[rank]; }
  double& of(std::size_t rank) {
    if (equal()) {
      own_.assign(ranks_, all_);
    }
    return own_[rank];
  }
  [[nodiscard]] double slowest() const { return equal() ? all_ : std::ranges::max(own_); }

private:
  std::uint32_t ranks_;
  double all_;
  std::vector<double> own_; // [rank]
};

// The best link of every rank, and the smallest latency and start-up of all.
struct BestLinks {
  RankCosts out_s_per_byte, in_s_per_byte;
  double latency_s{};
  double startup_s{}; // latency and delay of one link
};

// Links that no listed pair replaces: every rank keeps one if it has fewer than P-1 listed ones.
void default_links(const Collective& collective, BestLinks& best) {
  const Links& links = collective.links;
  const std::uint32_t ranks = collective.ranks;
  LinkCost cost = links.all;
  if (links.two_level) {
    const std::uint32_t per_node = links.two_level->gpus_per_node;
    const bool nodes = ranks > per_node;
    const bool inside = per_node > 1;
    const LinkCost& intra = links.two_level->intra;
    if (inside) {
      const double startup =
          nodes ? std::min(cost.startup_s(), intra.startup_s()) : intra.startup_s();
      cost.latency_s = nodes ? std::min(cost.latency_s, intra.latency_s) : intra.latency_s;
      cost.delay_s = startup - cost.latency_s;
      cost.per_byte_s = nodes ? std::min(cost.per_byte_s, intra.per_byte_s) : intra.per_byte_s;
    }
  }
  if (links.pairs.empty() && ranks > 1) {
    best = {RankCosts(ranks, cost.per_byte_s), RankCosts(ranks, cost.per_byte_s), cost.latency_s,
            cost.startup_s()};
    return;
  }
  std::vector<std::uint32_t> listed_out(ranks, 0);
  std::vector<std::uint32_t> listed_in(ranks, 0);
  for (const PairCost& pair : links.pairs) {
    if (pair.src < ranks && pair.dst < ranks) {
      ++listed_out[pair.src];
      ++listed_in[pair.dst];
    }
  }
  bool any = false;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    if (listed_out[rank] + 1 < ranks) {
      best.out_s_per_byte.of(rank) = cost.per_byte_s;
      any = true;
    }
    if (listed_in[rank] + 1 < ranks) {
      best.in_s_per_byte.of(rank) = cost.per_byte_s;
    }
  }
  if (any) {
    best.latency_s = cost.latency_s;
    best.startup_s = cost.startup_s();
  }
}

BestLinks best_links(const Collective& collective) {
  const std::uint32_t ranks = collective.ranks;
  BestLinks best{RankCosts(ranks, kNoLink), RankCosts(ranks, kNoLink), kNoLink, kNoLink};
  if (!collective.links.pairs_only) {
    default_links(collective, best);
  }
  for (const PairCost& pair : collective.links.pairs) {
    if (pair.src < ranks && pair.dst < ranks) {
      double& out = best.out_s_per_byte.of(pair.src);
      double& in = best.in_s_per_byte.of(pair.dst);
      out = std::min(out, pair.cost.per_byte_s);
      in = std::min(in, pair.cost.per_byte_s);
      best.latency_s = std::min(best.latency_s, pair.cost.latency_s);
      best.startup_s = std::min(best.startup_s, pair.cost.startup_s());
    }
  }
  return best;
}

// Slowest of all ranks but one.
double slowest_other(const RankCosts& values, std::uint32_t but) {
  if (values.equal() && values.size() > 1) {
    return values.slowest();
  }
  double slow = 0;
  for (std::size_t rank = 0; rank < values.size(); ++rank) {
    if (rank != but) {
      slow = std::max(slow, values[rank]);
    }
  }
  return slow;
}

// A rank without a link has nothing to wait for if it has nothing to send.
double port_time(double bytes, double s_per_byte) { return bytes > 0 ? bytes * s_per_byte : 0; }

// Time in which all ranks together send (or add) `amount`; 0 if one of them takes no time.
double shared_time(double amount, const RankCosts& s_per_byte) {
  double rate = s_per_byte.equal() && s_per_byte[0] > 0 ? s_per_byte.size() / s_per_byte[0] : 0;
  for (std::size_t rank = 0; rank < s_per_byte.size() && !s_per_byte.equal(); ++rank) {
    if (s_per_byte[rank] <= 0) {
      return 0;
    }
    rate += 1 / s_per_byte[rank];
  }
  return rate > 0 ? amount / rate : 0;
}

double bandwidth_bound(const Collective& collective, const BestLinks& best) {
  const double n = total_bytes(collective);
  const double P = collective.ranks;
  // Parts of whole elements differ by one element. Of an all-to-all rank r has part r, otherwise
  // they may be handed out in any order.
  const Partition parts = Partition::equal(n, collective.ranks, collective.options);
  const double others = n - parts.bytes(0, 1);
  const RankCosts& out = best.out_s_per_byte;
  const RankCosts& in = best.in_s_per_byte;
  const std::uint32_t root = collective.root;
  switch (collective.op) {
  case Op::broadcast: // everybody else receives n, the root sends n
    return n * std::max(slowest_other(in, root), out[root]);
  case Op::reduce: // everybody else sends n, the root receives n
    return n * std::max(slowest_other(out, root), in[root]);
  case Op::allreduce: // every rank's part leaves it, the sum reaches it; 2 (P-1) n in total
    return std::max({n * out.slowest(), n * in.slowest(), shared_time(2 * (P - 1) * n, out)});
  case Op::reduce_scatter:
    return std::max(port_time(others, out.slowest()), shared_time((P - 1) * n, out));
  case Op::allgather:
    return std::max(port_time(others, in.slowest()), shared_time((P - 1) * n, out));
  case Op::allgatherv: {
    double bound = shared_time((P - 1) * n, out);
    for (std::size_t rank = 0; rank < in.size(); ++rank) {
      const double own = collective.sizes.empty() ? n / P : collective.sizes[rank];
      bound = std::max(bound, port_time(n - own, in[rank]));
    }
    return bound;
  }
  case Op::alltoall: {
    // On two levels with links of pairs a rank has a port inside its node and one outside it.
    const double ports = collective.links.two_level && !collective.links.pairs.empty() ? 2 : 1;
    double bound = shared_time((P - 1) * n, out);
    const double fair = n - n / P; // of a formula, whose parts are not whole
    for (std::size_t rank = 0; rank < in.size(); ++rank) {
      const double part = parts.bytes(static_cast<Index>(rank), 1);
      bound = std::max({bound, port_time(std::min(fair, n - part), out[rank]),
                        port_time(std::min(fair, (P - 1) * part), in[rank])});
    }
    return bound / ports;
  }
  }
  return 0;
}

double reduction_bound(const Collective& collective) {
  const bool adds = collective.op == Op::reduce || collective.op == Op::allreduce ||
                    collective.op == Op::reduce_scatter;
  const bool free =
      collective.reduction_s_per_byte_rank.empty() && collective.reduction_s_per_byte <= 0;
  if (!adds || free) {
    return 0;
  }
  RankCosts gamma(collective.ranks, collective.reduction_s_per_byte);
  for (std::size_t rank = 0; rank < collective.reduction_s_per_byte_rank.size(); ++rank) {
    gamma.of(rank) = collective.reduction_s_per_byte_rank[rank];
  }
  // Chunks overlap: one kernel of a GPU adds inside its node, another one between nodes.
  const bool two_kernels =
      collective.algorithm == kTwoLevel && collective.options.pipeline_chunks != 1;
  return shared_time((collective.ranks - 1.0) * collective.bytes, gamma) / (two_kernels ? 2 : 1);
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
    const nccl::NodeBound bytes = node_level_bound(collective);
    const double latency_s =
        collective.op == Op::alltoall
            ? std::max(inter.startup_s(), two.intra.startup_s()) // messages of both kinds
            : spread_seconds(NodeRanks(collective).nodes(), inter.latency_s, inter.startup_s());
    return {latency_s, bytes.seconds, reduction_bound(collective), bytes.kind};
  }
  const BestLinks best = best_links(collective);
  const double latency_s = collective.op == Op::alltoall
                               ? best.startup_s
                               : spread_seconds(collective.ranks, best.latency_s, best.startup_s);
  const bool one_node = links_of_one_node(collective);
  return {latency_s, bandwidth_bound(collective, best), reduction_bound(collective),
          one_node ? nccl::BoundKind::gpu : nccl::BoundKind::nic};
}

} // namespace stepsim::collectives
