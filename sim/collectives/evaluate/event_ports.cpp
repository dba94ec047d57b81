#include "collectives/evaluate/event_ports.hpp"

#include <string>
#include <tuple>

#include "base/error.hpp"

namespace stepsim::collectives {

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

} // namespace stepsim::collectives
