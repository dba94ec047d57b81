#include "collectives/evaluate/few_ranks.hpp"

#include <ranges>

#include "collectives/algorithms.hpp"
#include "collectives/formula/uniform.hpp"

namespace stepsim::collectives {
namespace {

bool all_ranks_send(const Schedule& schedule) {
  return !schedule.phases.empty() && std::ranges::all_of(schedule.phases, [&](const Phase& phase) {
    const bool sends = all_send(phase.rule) || std::holds_alternative<RingPass>(phase.rule);
    return sends && phase.partition.is_equal() && phase.layout.size == schedule.ranks &&
           phase.partition.parts() == schedule.ranks;
  });
}

// The rank that begins the path on which `owner` gets its sum, or `owner` if nothing is added.
Index start_of_path(const Schedule& schedule, Index owner) {
  Index rank = owner;
  for (const Phase& phase : schedule.phases | std::views::reverse) {
    std::visit(
        [&](const auto& rule) {
          for (Index step = rule.steps(); step-- > 0 && rule.send(step, rank).reduce;) {
            rank = rule.receive(step, rank).peer;
          }
        },
        phase.rule);
  }
  return rank;
}

// The time at which the path that begins at the rank ends; empty if a message on it is not a
// largest one of its step. Times are added in the order of the general sweep.
std::optional<double> end_of_path(const Schedule& schedule, const UniformCost& cost, Index rank) {
  double now = cost.enter_s;
  for (const Phase& phase : schedule.phases) {
    const bool complete = std::visit(
        [&](const auto& rule) {
          for (Index step = 0; step < rule.steps(); ++step) {
            const Send send = rule.send(step, rank);
            assert(send.needs == Needs::all && "a message waits for all that was received");
            const double bytes = phase.partition.bytes(send.first, send.count);
            if (bytes < phase.partition.most_bytes(send.count)) {
              return false;
            }
            now += cost.link.latency_s + bytes * cost.link.per_byte_s;
            now += cost.link.delay_s;
            now += send.reduce ? bytes * cost.reduction_s_per_byte : 0;
            rank = send.peer;
          }
          return true;
        },
        phase.rule);
    if (!complete) {
      return std::nullopt;
    }
  }
  return now;
}

} // namespace

// A part of a ring goes around alone. Elsewhere the sum of part 0 passes through the largest
// messages where these begin at multiples of their length (halving, swing), that of the last large
// part where they end with it (Bruck).
std::optional<double> seconds_of_largest_messages(const Collective& collective) {
  const Algorithm& row = algorithm(collective.algorithm);
  if (row.phases == nullptr || row.parts == nullptr || row.block_streams > 0) {
    return std::nullopt;
  }
  const std::optional<UniformCost> cost = uniform_cost(collective);
  if (!cost) {
    return std::nullopt;
  }
  const Schedule schedule = make_schedule(collective);
  if (!all_ranks_send(schedule)) {
    return std::nullopt;
  }
  const Phase& first = schedule.phases.front();
  std::optional<double> end;
  for (const Index part : {Index{0}, std::max<Index>(first.partition.large_parts() - 1, 0)}) {
    if (const std::optional<Index> rank = owner(first.rule, part); rank && !end) {
      end = end_of_path(schedule, *cost, start_of_path(schedule, *rank));
    }
  }
  return end;
}

} // namespace stepsim::collectives
