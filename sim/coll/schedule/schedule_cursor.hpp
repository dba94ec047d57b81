#pragma once
// Iterates over the sends or the receptions of one port in program order. Cursors are small values
// and rules compute the operations, so walking a schedule needs no memory.
#include <cstdint>
#include <string>
#include <vector>

#include "coll/schedule/schedule.hpp"

namespace stepsim::coll {

// Position in program order: phase << 40 | step. A reception and its send have the same position.
using Position = std::uint64_t;
inline constexpr Position kEndOfSchedule = ~Position{0};
[[nodiscard]] constexpr Position position_of(std::uint32_t phase, Index step) {
  return Position{phase} << 40 | static_cast<Position>(step);
}

struct Cursor {
  Position position = 0; // kEndOfSchedule: no more operations
  std::uint32_t phase = 0;
  Index group = kNobody; // the rank's place in the phase; kNobody: not looked up
  Index local = 0;
  Index step = -1;
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
  explicit ScheduleWalk(const Schedule& schedule);

  [[nodiscard]] std::size_t streams() const { return streams_; }
  // Returns the port of this rank in the phase of the cursor.
  [[nodiscard]] std::uint32_t port(const Cursor& cursor, std::uint32_t rank) const {
    return schedule_.port(schedule_.phases[cursor.phase].lane, rank);
  }
  [[nodiscard]] const Schedule& schedule() const { return schedule_; }
  // Moves to the next send or reception through the port, or to kEndOfSchedule. Amortised O(1) per
  // step and per rank that shares the port.
  void advance(std::uint32_t port, NextSend& send) const;
  void advance(std::uint32_t port, NextReception& reception) const;
  // Returns "in step 4 (ring all-gather)".
  [[nodiscard]] std::string place(const Cursor& cursor) const;

private:
  const Schedule& schedule_;
  std::vector<std::size_t> first_stream_; // [phase]
  std::size_t streams_ = 0;
};

} // namespace stepsim::coll
