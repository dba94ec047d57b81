#include <algorithm>
#include <vector>

#include "coll/evaluate.hpp"
#include "coll/parameter_server.hpp"
#include "coll/schedule.hpp"

namespace stepsim::coll {
namespace {

struct Sent {
  double bytes{};
  std::uint64_t messages{};
};

// What a rank sends in a phase, asked step by step.
template <class R> Sent sent_by(const R& rule, const Partition& partition, Index local) {
  Sent sent;
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
Sent sent_by(const RingPass& rule, const Partition& partition, Index local) {
  const Index kept = rule.reduce ? local : (local + 1) % rule.size;
  return {partition.total() - partition.bytes(kept, 1), static_cast<std::uint64_t>(rule.steps())};
}

} // namespace

Traffic traffic(const Collective& collective) {
  if (collective.algorithm == AlgorithmId::parameter_server) {
    return parameter_server_traffic(collective);
  }
  const Schedule schedule = make_schedule(collective);
  std::vector<double> bytes(collective.ranks, 0.0);
  Traffic result;
  result.steps = schedule.steps();
  for (const Phase& phase : schedule.phases) {
    for (Index group = 0; group < phase.layout.groups; ++group) {
      for (Index local = 0; local < phase.layout.size; ++local) {
        const Sent sent = std::visit(
            [&](const auto& rule) { return sent_by(rule, phase.partition, local); }, phase.rule);
        bytes[static_cast<std::size_t>(phase.layout.rank(group, local))] += sent.bytes;
        result.messages += sent.messages;
      }
    }
  }
  result.min_per_rank = *std::min_element(bytes.begin(), bytes.end());
  result.max_per_rank = *std::max_element(bytes.begin(), bytes.end());
  for (const double sent : bytes) {
    result.total += sent;
  }
  return result;
}

} // namespace stepsim::coll
