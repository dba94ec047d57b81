// Counts what the rules of a schedule send. No message is listed: every phase is asked rank by
// rank, and rules that have many steps (rings, all-to-alls, pipelines) are not even asked step by
// step, because each of their ranks sends all parts or all parts but one.

#include "collectives/evaluate/evaluation.hpp"

#include "base/shared_value.hpp"
#include "collectives/algorithms.hpp"
#include "collectives/evaluate/server_flows.hpp"
#include "collectives/schedule/schedule.hpp"
#include "collectives/schedule/two_level.hpp"

namespace stepsim::collectives {

namespace {

// What a rank sends in a phase, asked step by step.
template <class R> RankTraffic sent_by(const R& rule, const Partition& partition, Index local) {
  RankTraffic sent;
  for (Index step = 0; step < rule.steps(); ++step) {
    const Send send = rule.send(step, local);
    if (send.peer != kNobody) {
      sent.bytes += partition.bytes(send.first, send.count);
      ++sent.messages;
    }
  }
  return sent;
}

// In a ring every part goes but one: its own in a reduce-scatter, that of its neighbour in an
// all-gather.
RankTraffic sent_by(const RingPass& rule, const Partition& partition, Index local) {
  const Index kept = rule.reduce ? local : (local + 1) % rule.size;
  return {partition.total() - partition.bytes(kept, 1), static_cast<std::uint64_t>(rule.steps())};
}

// The root sends to every other rank, or every other rank sends to the root.
template <bool kSplit>
RankTraffic sent_by(const TreeRule<TreeShape::flat, kSplit>& rule, const Partition& partition,
                    Index local) {
  const bool spreads = rule.direction == Direction::spread;
  if (spreads != (local == 0)) {
    return {};
  }
  const Index messages = spreads ? rule.steps() : 1;
  return {kSplit ? partition.bytes(spreads ? 1 : local, messages)
                 : static_cast<double>(messages) * partition.bytes(0, 1),
          static_cast<std::uint64_t>(messages)};
}

// Every rank but the last sends all blocks.
RankTraffic sent_by(const Chain& rule, const Partition& partition, Index local) {
  if (local + 1 >= rule.size) {
    return {};
  }
  return {partition.total(), static_cast<std::uint64_t>(rule.blocks)};
}

// All blocks towards the tail, which returns them to the head, and once more towards the tail.
RankTraffic sent_by(const ChainRing& rule, const Partition& partition, Index local) {
  const int times = local + 1 < rule.size && local < rule.last_hops() ? 2 : 1;
  return {times * partition.total(), static_cast<std::uint64_t>(times * rule.blocks)};
}

// All blocks of a tree on each of its edges, up and down.
RankTraffic sent_by(const TreePair& rule, const Partition& partition, Index local) {
  const double first = rule.blocks(1) == 0 ? partition.total() : partition.begin(rule.blocks(0));
  const std::array<double, 2> tree_bytes{first, partition.total() - first};
  RankTraffic sent;
  for (const Index tree : {0, 1}) {
    const Index edges = rule.edges(tree, local);
    sent.bytes += static_cast<double>(edges) * tree_bytes[static_cast<std::size_t>(tree)];
    sent.messages += static_cast<std::uint64_t>(edges * rule.blocks(tree));
  }
  return sent;
}

RankTraffic sent_by(const FunctionRule& rule, const Partition& partition, Index local) {
  if (rule.sent_by == nullptr) {
    return sent_by<FunctionRule>(rule, partition, local);
  }
  const SentParts sent = rule.sent_by(rule, local);
  return {partition.bytes(sent.first, sent.count) - partition.bytes(sent.own_first, sent.own_count),
          static_cast<std::uint64_t>(sent.messages)};
}

// What a rank of the phase sends, which is the same in every group.
RankTraffic sent_in(const Phase& phase, Index local) {
  return std::visit([&](const auto& rule) { return sent_by(rule, phase.partition, local); },
                    phase.rule);
}

// Whether all ranks of the phase send the same: one of them then stands for all.
bool ranks_are_alike(const Phase& phase) {
  return phase.partition.uniform() &&
         (all_send(phase.rule) || std::holds_alternative<RingPass>(phase.rule));
}

// Ranks among which is one that sends most; empty if any rank may. Of equal parts all ranks send
// the same. Where the first parts are one element longer, the owners of the first and the last part
// of either size are enough (`owner`).
std::vector<Index> senders_of_most(const Schedule& schedule) {
  std::vector<Index> ranks{0};
  const Phase* unequal = nullptr;
  for (const Phase& phase : schedule.phases) {
    const Index parts = phase.partition.parts();
    const Index large = phase.partition.large_parts();
    if (phase.layout.groups * phase.layout.size != schedule.ranks) {
      return {};
    }
    if (ranks_are_alike(phase)) {
      continue;
    }
    if (large == 0 || phase.layout.size != parts ||
        (unequal != nullptr && unequal->partition != phase.partition)) {
      return {};
    }
    unequal = &phase;
    ranks.clear();
    for (const Index part : {Index{0}, large - 1, large, parts - 1}) {
      const std::optional<Index> rank = owner(phase.rule, part);
      if (!rank) {
        return {};
      }
      ranks.push_back(*rank);
    }
  }
  return ranks;
}

std::vector<RankTraffic> sent_by_rank(const Schedule& schedule) {
  std::vector<RankTraffic> ranks(schedule.ranks);
  for (const Phase& phase : schedule.phases) {
    const bool alike = ranks_are_alike(phase);
    RankTraffic sent;
    for (Index local = 0; local < phase.layout.size; ++local) {
      if (!alike || local == 0) {
        sent = sent_in(phase, local);
      }
      for (Index group = 0; group < phase.layout.groups; ++group) {
        RankTraffic& rank = ranks[static_cast<std::size_t>(phase.layout.rank(group, local))];
        rank.bytes += sent.bytes;
        rank.messages += sent.messages;
      }
    }
  }
  return ranks;
}

// What every rank sends in a ring of equal parts, all of them but one on each of its passes; empty
// for another collective.
std::optional<double> sent_in_ring(const Collective& collective) {
  const bool twice = collective.op == Op::allreduce;
  if (collective.algorithm != AlgorithmId::ring || is_empty(collective) ||
      !(twice || collective.op == Op::reduce_scatter || collective.op == Op::allgather)) {
    return std::nullopt;
  }
  const auto parts =
      Partition::equal(total_bytes(collective), collective.ranks, collective.options);
  const double pass = parts.total() - parts.bytes(0, 1);
  return parts.uniform() ? std::optional(twice ? pass + pass : pass) : std::nullopt;
}

} // namespace

std::vector<RankTraffic> traffic_by_rank(const Collective& collective) {
  return sent_by_rank(make_schedule(collective));
}

Traffic traffic_of(const std::vector<RankTraffic>& ranks) {
  const auto [least, most] = std::ranges::minmax(ranks, {}, &RankTraffic::bytes);
  Traffic result;
  result.min_per_rank = least.bytes;
  result.max_per_rank = most.bytes;
  for (const RankTraffic& rank : ranks) {
    result.total += rank.bytes;
    result.messages += rank.messages;
  }
  return result;
}

double most_sent(const Collective& collective) {
  if (collective.algorithm == AlgorithmId::parameter_server ||
      algorithm(collective.algorithm).in_switch) {
    return traffic(collective).max_per_rank;
  }
  if (const auto sent = sent_in_ring(collective)) {
    return *sent;
  }
  const Schedule schedule = make_schedule(collective);
  const std::vector<Index> locals = senders_of_most(schedule);
  if (locals.empty()) {
    return traffic_of(sent_by_rank(schedule)).max_per_rank;
  }
  double most = 0;
  for (const Index local : locals) {
    double bytes = 0;
    for (const Phase& phase : schedule.phases) {
      bytes += sent_in(phase, ranks_are_alike(phase) ? 0 : local).bytes;
    }
    most = std::max(most, bytes);
  }
  return most;
}

Traffic traffic(const Collective& collective) {
  if (collective.algorithm == AlgorithmId::parameter_server) {
    return parameter_server_traffic(collective);
  }
  if (algorithm(collective.algorithm).in_switch) {
    return in_switch_traffic(collective);
  }
  const Schedule schedule = make_schedule(collective);
  Traffic result = traffic_of(sent_by_rank(schedule));
  result.steps = schedule.steps();
  return result;
}

bool SentBytes::keeps(const Collective& collective) {
  return collective.algorithm != AlgorithmId::automatic &&
         algorithm(collective.algorithm).block_streams == 0 &&
         collective.options.pipeline_chunks.has_value();
}

double SentBytes::most(const Collective& collective) {
  return base::remembered(known_[{collective.op, collective.algorithm, collective.ranks}],
                          collective.bytes, [&] { return most_sent(collective); });
}

} // namespace stepsim::collectives
