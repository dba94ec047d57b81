// Cursors look for the next step in which their port has something to do by asking the rule step by
// step. Phases in which its rank takes no part are skipped at once, by its place in their layout.
// Steps inside a ring pass need no search: see advance() in the header.
#include "collectives/schedule/schedule_cursor.hpp"

#include <type_traits>

namespace stepsim::collectives {
namespace {

// Sets the place of the cursor to that of the rank; false if the rank takes no part.
bool take_place(const Phase& phase, Index rank, Cursor& cursor) {
  const Layout::Place place = phase.layout.place(rank);
  cursor.group = static_cast<std::int32_t>(place.group);
  cursor.local = static_cast<std::int32_t>(place.local);
  return place.group != kNobody;
}

// Whether `found(rank)` holds for one of the ranks that share the port; `first` is the first.
template <class Found>
bool any_of_card(const Phase& phase, const Lane& lane, Index first, Cursor& cursor, Found found) {
  const Index local = first % lane.gpus_per_node;
  for (Index of_card = local; of_card < lane.gpus_per_node; of_card += lane.cards) {
    const Index rank = first - local + of_card;
    if (take_place(phase, rank, cursor) && found(rank)) {
      return true;
    }
  }
  return false;
}

// Moves on to the next step in which `found(rule, phase, rank)` holds; it fills in the rest.
template <class Found>
void move_on(const Schedule& schedule, std::uint32_t port, Cursor& cursor, Found found) {
  const std::uint32_t in_lane = schedule.lanes.size() == 1 ? 0 : port / schedule.ranks;
  const Index first = port - in_lane * schedule.ranks; // rank
  const Lane& lane = schedule.lanes[in_lane];
  const bool used = lane.place(first) == first;
  for (; cursor.phase < schedule.phases.size(); ++cursor.phase) {
    const Phase& phase = schedule.phases[cursor.phase];
    if (cursor.group == kNobody && used && phase.lane == in_lane) {
      (void)take_place(phase, first, cursor);
      cursor.step = -1;
    }
    if (cursor.group != kNobody) {
      const auto search = [&](const auto& rule) {
        const Index steps = rule.steps();
        while (++cursor.step < steps) {
          const auto here = [&](Index rank) {
            return found(rule, phase, static_cast<std::uint32_t>(rank));
          };
          if (lane.cards == 0 ? here(first) : any_of_card(phase, lane, first, cursor, here)) {
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

ScheduleWalk::ScheduleWalk(const Schedule& schedule, bool shortcuts)
    : schedule_(schedule), rings_(schedule.phases.size() + 1) {
  for (const Phase& phase : schedule.phases) {
    const auto* ring = std::get_if<RingPass>(&phase.rule);
    if (shortcuts && ring != nullptr && schedule.lanes[phase.lane].cards == 0) {
      rings_[first_stream_.size()] = {ring->steps(), *ring, &phase.partition};
    }
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

void ScheduleWalk::search(std::uint32_t port, NextSend& send) const {
  move_on(schedule_, port, send, [&](const auto& rule, const Phase& phase, std::uint32_t rank) {
    const Send next = rule.send(send.step, send.local);
    if (next.peer == kNobody) {
      return false;
    }
    send.src = rank;
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

void ScheduleWalk::search(std::uint32_t port, NextReception& reception) const {
  const auto take = [&](const auto& rule, const Phase& phase, std::uint32_t rank) {
    const Receive next = rule.receive(reception.step, reception.local);
    if (next.peer == kNobody) {
      return false;
    }
    reception.src = static_cast<std::uint32_t>(phase.layout.rank(reception.group, next.peer));
    reception.dst = rank;
    reception.stream = NextReception::kNoStream;
    if constexpr (StreamRule<std::decay_t<decltype(rule)>>) {
      if (next.stream != kNobody) {
        const Index stream = reception.group * rule.streams() + next.stream;
        reception.stream = first_stream_[reception.phase] + static_cast<std::size_t>(stream);
      }
    }
    return true;
  };
  move_on(schedule_, port, reception, take);
}

std::string ScheduleWalk::place(const Cursor& cursor) const {
  const Phase& phase = schedule_.phases[cursor.phase];
  return "in step " + std::to_string(phase.first_step + cursor.step) + " (" +
         std::string(name(phase.rule)) + ")";
}

} // namespace stepsim::collectives
