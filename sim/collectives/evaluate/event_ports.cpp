#include "collectives/evaluate/event_ports.hpp"

#include <tuple>
#include <type_traits>

#include "base/error.hpp"

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

void refuse_deadlock(std::span<const EventPort> ports, const ScheduleWalk& walk) {
  constexpr std::size_t kShown = 5;
  std::size_t blocked = 0;
  std::string text;
  for (const EventPort& port : ports) {
    const auto& [send, reception] = std::tie(port.send, port.reception);
    const bool sends = send.position != kEndOfSchedule;
    if ((sends || reception.position != kEndOfSchedule) && ++blocked <= kShown) {
      const std::uint32_t src = sends ? send.src : reception.src;
      const std::uint32_t dst = sends ? send.dst : reception.dst;
      text += (blocked > 1 ? "; " : "") + std::to_string(src) + " -> " + std::to_string(dst) + " " +
              walk.place(sends ? Cursor(send) : Cursor(reception));
    }
  }
  if (blocked > 0) {
    throw SimulationError("the collective is blocked at " + std::to_string(blocked) +
                          (walk.schedule().lanes.size() > 1 ? " ports: " : " ranks: ") + text +
                          (blocked > kShown ? "; ..." : ""));
  }
}

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
