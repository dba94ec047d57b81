#include "collectives/evaluate/data_counts.hpp"

#include <algorithm>
#include <type_traits>

namespace stepsim::collectives {
namespace {

// How often a rank receives in the first steps of a phase.
Index receptions(const Phase& phase, Index local, Index steps) {
  const auto count = [&](const auto& rule) {
    if constexpr (std::is_same_v<std::decay_t<decltype(rule)>, RingPass>) {
      return steps; // once in every step
    }
    Index received = 0;
    for (Index step = 0; step < steps; ++step) {
      received += rule.receive(step, local).peer != kNobody ? 1 : 0;
    }
    return received;
  };
  return std::visit(count, phase.rule);
}

} // namespace

DataCounts::DataCounts(const Schedule& schedule) : schedule_(schedule) {
  of_lane_.assign(schedule.lanes.size(), 0);
  std::vector<bool> seen(schedule.lanes.size(), false);
  for (const Phase& phase : schedule.phases) {
    counts_ = counts_ || (seen[phase.lane] && of_lane_[phase.lane] != phase.data);
    seen[phase.lane] = true;
    of_lane_[phase.lane] = phase.data;
  }
  if (!counts_) {
    return;
  }
  earlier_.resize(schedule.phases.size());
  awaited_.assign(schedule.phases.size() * schedule.ranks, 0);
  std::vector<std::vector<std::uint32_t>> of_data(schedule.data_sets);
  for (std::uint32_t i = 0; i < schedule.phases.size(); ++i) {
    const Phase& phase = schedule.phases[i];
    earlier_[i] = of_data[phase.data];
    of_data[phase.data].push_back(i);
    for (Index group = 0; group < phase.layout.groups; ++group) {
      for (Index local = 0; local < phase.layout.size; ++local) {
        const auto rank = static_cast<std::uint32_t>(phase.layout.rank(group, local));
        awaited(i, rank) = receptions(phase, local, phase.steps());
      }
    }
  }
}

bool DataCounts::all_is_there(const NextSend& send) const {
  const bool before = std::ranges::all_of(
      earlier_[send.phase], [&](std::uint32_t each) { return awaited(each, send.src) == 0; });
  const Phase& phase = schedule_.phases[send.phase];
  const Index later =
      receptions(phase, send.local, phase.steps()) - receptions(phase, send.local, send.step);
  return before && awaited(send.phase, send.src) <= later;
}

} // namespace stepsim::collectives
