#pragma once
// A channel that carries several messages at once (MER 6.1). A message is a start-up phase, which
// others do not slow, and a data phase; k messages in their data phase share the channel, each
// 1 + contention (k - 1) times slower than alone.
//
//     contention 0.5, messages of 1 + 1 s and 1 + 2 s started together
//     start-up  |--1--|                   data of both at 1 / 1.5 of the rate until 2.5, then the
//     data            |--1.5--|--1--|     second alone for the second that is left: ends 2.5, 3.5
//
// All messages in their data phase have the same rate: one clock counts the seconds of data that
// each of them has moved, and a message has ended when the clock reaches its mark.
#include <cstdint>
#include <limits>
#include <vector>

#include "plan/sending.hpp"

namespace stepsim::plan {

inline constexpr double kNever = std::numeric_limits<double>::infinity();

struct AtOnce {        // times in s, from the start of backward
  double contention{}; // >= 0
  double now{};
  double clock{}; // seconds of data that a message in its data phase has moved, from the start
  std::int64_t moving{}; // messages in their data phase
};

// Starts a message now.
void start(const AtOnce& channel, std::vector<Underway>& underway, std::uint32_t transfer,
           double startup_s, double data_s);

// Goes on to the next end of a message, takes it out of `underway` and returns its `transfer`. If
// none ends by `limit`, goes on to `limit` (if that is finite) and returns -1.
[[nodiscard]] std::int64_t next_end(AtOnce& channel, std::vector<Underway>& underway, double limit);

} // namespace stepsim::plan
