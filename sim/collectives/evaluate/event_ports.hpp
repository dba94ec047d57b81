#pragma once
// State of EventRun at its ports.
#include <cstddef>
#include <cstdint>
#include <span>

#include "collectives/schedule/schedule_cursor.hpp"

namespace stepsim::collectives {

// Data that has left its ports and is delayed or waits for its addition. Arrivals at a port form a
// list in program order, which starts with the first that is not ready.
struct Arrival {
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  std::uint32_t port{};
  std::uint32_t rank{};       // receiver of the data
  std::uint32_t next = kNone; // next arrival at the port, or next entry of the free list
  Position position{};
  std::uint32_t phase{};
  std::size_t stream{};
  bool ready = false;
};

struct EventPort {
  NextSend send;           // the next send, or the current one
  NextReception reception; // the next reception, or the current one
  bool sending = false;    // the port is busy
  bool receiving = false;
  double send_begin_s = 0;
  double delay_s = 0; // delay of the link in use
  double ready_s = 0; // when the current reception's data is ready, set when its transfer ends
  double added_s = 0; // end of the last addition
  // First and last arrival in the list of the port.
  std::uint32_t first = Arrival::kNone, last = Arrival::kNone;
};

// Throws SimulationError, naming the first blocked ports, if some cursors are not at their end,
// although no event is left: ranks wait for each other, or for a transfer that nobody sends.
void refuse_deadlock(std::span<const EventPort> ports, const ScheduleWalk& walk);

} // namespace stepsim::collectives
