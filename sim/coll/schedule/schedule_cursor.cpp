// Cursors look for the next step in which their rank has something to do by asking the rule step by
// step. Phases in which the rank takes no part are skipped at once, by its place in their layout.
#include "coll/schedule/schedule_cursor.hpp"

#include <algorithm>
#include <type_traits>

namespace stepsim::coll {
namespace {

// Moves on to the next step in which `found(rule, phase)` holds; it fills in the rest.
template <class Found>
void move_on(const Schedule& schedule, std::uint32_t rank, Cursor& cursor, Found found) {
  for (; cursor.phase < schedule.phases.size(); ++cursor.phase) {
    const Phase& phase = schedule.phases[cursor.phase];
    if (cursor.group == kNobody) {
      const Layout::Place place = phase.layout.place(rank);
      cursor.group = place.group;
      cursor.local = place.local;
      cursor.step = -1;
    }
    if (cursor.group != kNobody) {
      const auto search = [&](const auto& rule) {
        const Index steps = rule.steps();
        while (++cursor.step < steps) {
          if (found(rule, phase)) {
            return true;
          }
        }
        return false;
      };
      if (std::visit(search, phase.rule)) {
        cursor.position = position_of(cursor.phase, cursor.step);
        return;
      }
    }
    cursor.group = kNobody;
  }
  cursor.position = kEndOfSchedule;
}

} // namespace

ScheduleWalk::ScheduleWalk(const Schedule& schedule) : schedule_(schedule) {
  for (const Phase& phase : schedule.phases) {
    first_stream_.push_back(streams_);
    const auto streams = [](const auto& rule) -> Index {
      if constexpr (StreamRule<std::decay_t<decltype(rule)>>) {
        return rule.streams();
      }
      return 0;
    };
    streams_ += static_cast<std::size_t>(phase.layout.groups * std::visit(streams, phase.rule));
  }
}

void ScheduleWalk::advance(std::uint32_t rank, NextSend& send) const {
  move_on(schedule_, rank, send, [&](const auto& rule, const Phase& phase) {
    const Send next = rule.send(send.step, send.local);
    if (next.peer == kNobody) {
      return false;
    }
    send.dst = static_cast<std::uint32_t>(phase.layout.rank(send.group, next.peer));
    send.needs = next.needs;
    send.reduce = next.reduce;
    send.follow_up = next.follow_up;
    send.bytes = phase.partition.bytes(next.first, next.count);
    if constexpr (StreamRule<std::decay_t<decltype(rule)>>) {
      const Index stream = send.group * rule.streams() + std::max<Index>(next.stream, 0);
      send.stream = first_stream_[send.phase] + static_cast<std::size_t>(stream);
      send.block = next.block;
    }
    return true;
  });
}

void ScheduleWalk::advance(std::uint32_t rank, NextReception& reception) const {
  move_on(schedule_, rank, reception, [&](const auto& rule, const Phase& phase) {
    const Receive next = rule.receive(reception.step, reception.local);
    if (next.peer == kNobody) {
      return false;
    }
    reception.src = static_cast<std::uint32_t>(phase.layout.rank(reception.group, next.peer));
    reception.stream = NextReception::kNoStream;
    if constexpr (StreamRule<std::decay_t<decltype(rule)>>) {
      if (next.stream != kNobody) {
        const Index stream = reception.group * rule.streams() + next.stream;
        reception.stream = first_stream_[reception.phase] + static_cast<std::size_t>(stream);
      }
    }
    return true;
  });
}

std::string ScheduleWalk::place(const Cursor& cursor) const {
  const Phase& phase = schedule_.phases[cursor.phase];
  return "in step " + std::to_string(phase.first_step + cursor.step) + " (" +
         std::string(name(phase.rule)) + ")";
}

} // namespace stepsim::coll
