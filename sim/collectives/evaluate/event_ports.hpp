#pragma once
// State of EventRun at its ports.

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

// Tracks which data have arrived where, for schedules whose lanes carry several sets of data, such
// as the chunks of two_level: chunk 1 may wait for an interface while chunk 2 is already complete
// inside the node. For every phase and rank it counts the receptions still to come, and it knows
// the earlier phases of the same data. If each lane carries one set, positions in program order are
// enough and nothing is counted. Memory O(phases x ranks) if it counts.

class DataCounts {
public:
  explicit DataCounts(const Schedule& schedule); // `schedule` must outlive the object

  // Whether a lane carries several sets of data, so that receptions are counted.
  [[nodiscard]] bool counts() const { return counts_; }
  // Returns the set of data of a lane that carries only one.
  [[nodiscard]] std::uint32_t of_lane(std::uint32_t lane) const { return of_lane_[lane]; }
  // Records that the rank has received a part in the phase, and has added it if the phase adds.
  void arrived(std::uint32_t phase, std::uint32_t rank) {
    if (counts_) {
      --awaited(phase, rank);
    }
  }
  // Whether the sender has received everything from earlier phases of the data and from earlier
  // steps. Needs counts().
  [[nodiscard]] bool all_is_there(const NextSend& send) const;

private:
  [[nodiscard]] Index& awaited(std::uint32_t phase, std::uint32_t rank) {
    return awaited_[phase * std::size_t{schedule_.ranks} + rank];
  }
  [[nodiscard]] Index awaited(std::uint32_t phase, std::uint32_t rank) const {
    return awaited_[phase * std::size_t{schedule_.ranks} + rank];
  }

  const Schedule& schedule_;
  bool counts_ = false;
  std::vector<std::uint32_t> of_lane_;
  std::vector<std::vector<std::uint32_t>> earlier_; // [phase] earlier phases of the same data
  std::vector<Index> awaited_;                      // [phase x ranks + rank] receptions to come
};

} // namespace stepsim::collectives
