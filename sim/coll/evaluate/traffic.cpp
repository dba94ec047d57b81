// Counts what the rules of a schedule send. No message is listed: every phase is asked rank by
// rank, and rings and all-to-alls, whose ranks send all parts but their own, are not even asked
// step by step.
#include "coll/evaluate/traffic.hpp"

#include <algorithm>
#include <vector>

#include "coll/algorithms.hpp"
#include "coll/evaluate/server_flows.hpp"
#include "coll/schedule/in_switch.hpp"
#include "coll/schedule/schedule.hpp"

namespace stepsim::coll {
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

RankTraffic sent_by(const FunctionRule& rule, const Partition& partition, Index local) {
  if (rule.sent_by == nullptr) {
    return sent_by<FunctionRule>(rule, partition, local);
  }
  const SentParts sent = rule.sent_by(rule, local);
  return {partition.bytes(sent.first, sent.count) - partition.bytes(sent.own_first, sent.own_count),
          static_cast<std::uint64_t>(sent.messages)};
}

std::vector<RankTraffic> sent_by_rank(const Schedule& schedule) {
  std::vector<RankTraffic> ranks(schedule.ranks);
  for (const Phase& phase : schedule.phases) {
    for (Index group = 0; group < phase.layout.groups; ++group) {
      for (Index local = 0; local < phase.layout.size; ++local) {
        const RankTraffic sent = std::visit(
            [&](const auto& rule) { return sent_by(rule, phase.partition, local); }, phase.rule);
        RankTraffic& rank = ranks[static_cast<std::size_t>(phase.layout.rank(group, local))];
        rank.bytes += sent.bytes;
        rank.messages += sent.messages;
      }
    }
  }
  return ranks;
}

} // namespace

std::vector<RankTraffic> traffic_by_rank(const Collective& collective) {
  return sent_by_rank(make_schedule(collective));
}

Traffic traffic(const Collective& collective) {
  if (collective.algorithm == AlgorithmId::parameter_server) {
    return parameter_server_traffic(collective);
  }
  if (algorithm(collective.algorithm).in_switch) {
    return in_switch_traffic(collective);
  }
  const Schedule schedule = make_schedule(collective);
  const std::vector<RankTraffic> ranks = sent_by_rank(schedule);
  const auto [least, most] = std::ranges::minmax(ranks, {}, &RankTraffic::bytes);
  Traffic result{.min_per_rank = least.bytes,
                 .max_per_rank = most.bytes,
                 .total = 0,
                 .steps = schedule.steps(),
                 .messages = 0};
  for (const RankTraffic& rank : ranks) {
    result.total += rank.bytes;
    result.messages += rank.messages;
  }
  return result;
}

} // namespace stepsim::coll
