#pragma once
// Iterates over the sends or the receptions of one port in program order. Cursors are small values
// and rules compute the operations, so walking a schedule needs no memory.
#include <string>

#include "collectives/schedule/schedule.hpp"

namespace stepsim::collectives {

// Position in program order: phase << 40 | step. A reception and its send have the same position.
using Position = std::uint64_t;
inline constexpr Position kEndOfSchedule = ~Position{0};
[[nodiscard]] constexpr Position position_of(std::uint32_t phase, Index step) {
  return Position{phase} << 40 | static_cast<Position>(step);
}

// Small, because evaluators by events keep two per port: a NextSend fills one cache line.
struct Cursor {
  Position position = 0; // kEndOfSchedule: no more operations
  Index step = -1;
  std::uint32_t phase = 0;
  std::int32_t group = kNobody; // the rank's place in the phase; kNobody: not looked up
  std::int32_t local = 0;
};

struct NextSend : Cursor {
  std::uint32_t src{}; // sending rank: the rank of this port, or one of those that share it
  std::uint32_t dst{};
  Needs needs{};
  bool reduce{};
  bool follow_up{};
  double bytes{};
  std::size_t stream{}; // Needs::block: the stream that the send waits for, over all phases
  Index block{};        // Needs::block: the block of that stream
};

struct NextReception : Cursor {
  static constexpr std::size_t kNoStream = ~std::size_t{0};
  std::uint32_t src{};
  std::uint32_t dst{};
  std::size_t stream = kNoStream; // the stream whose block the reception completes
};

// Moves cursors over one schedule, which must outlive the walk. The `streams()` streams are
// numbered over all phases.
class ScheduleWalk {
public:
  // Inside a ring pass, cursors move by the difference of two steps. Tests switch these `shortcuts`
  // off to compare.
  explicit ScheduleWalk(const Schedule& schedule, bool shortcuts = true);

  [[nodiscard]] std::size_t streams() const { return streams_; }
  // Returns the port of this rank in the phase of the cursor.
  [[nodiscard]] std::uint32_t port(const Cursor& cursor, std::uint32_t rank) const {
    return schedule_.port(schedule_.phases[cursor.phase].lane, rank);
  }
  [[nodiscard]] const Schedule& schedule() const { return schedule_; }
  // Moves to the next send or reception through the port, or to kEndOfSchedule. Amortised O(1) per
  // step and per rank that shares the port.
  void advance(std::uint32_t port, NextSend& send) const {
    if (const Ring* ring = next_in_ring(send)) {
      send.bytes = ring->partition->bytes(ring->rule.send(send.step, send.local).first, 1);
      return;
    }
    search(port, send);
  }
  void advance(std::uint32_t port, NextReception& reception) const {
    if (next_in_ring(reception) == nullptr) {
      search(port, reception);
    }
  }
  // Returns "in step 4 (ring all-gather)".
  [[nodiscard]] std::string place(const Cursor& cursor) const;

private:
  // A phase whose ranks send to the same rank and receive from the same rank in every step.
  struct Ring {
    Index steps = 0; // 0: the phase is no ring pass, or ranks share its ports
    RingPass rule;
    const Partition* partition = nullptr;
  };

  // Moves a cursor that is inside a ring to the next step; null if it is not, or at the last step.
  [[nodiscard]] const Ring* next_in_ring(Cursor& cursor) const {
    const Ring& ring = rings_[cursor.phase];
    if (cursor.step < 0 || cursor.step + 1 >= ring.steps) {
      return nullptr;
    }
    ++cursor.step;
    ++cursor.position;
    return &ring;
  }
  void search(std::uint32_t port, NextSend& send) const;
  void search(std::uint32_t port, NextReception& reception) const;

  const Schedule& schedule_;
  std::vector<Ring> rings_;               // [phase], and one behind the last phase
  std::vector<std::size_t> first_stream_; // [phase]
  std::size_t streams_ = 0;
};

} // namespace stepsim::collectives
