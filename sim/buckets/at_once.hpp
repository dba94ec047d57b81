#pragma once
// A channel for several messages at once (MER 6.1). A message has a start-up phase, which other
// messages do not slow, and a data phase; k messages in their data phase share the channel, and
// each takes 1 + contention (k - 1) times as long as alone.
//
//     contention 0.5, messages of 1 + 1 s and 1 + 2 s started together
//     start-up  |--1--|                   both move data at 1 / 1.5 of the rate until 2.5, then the
//     data            |--1.5--|--1--|     second moves its last second alone: ends 2.5, 3.5
//
// All messages in their data phase have the same rate. One clock runs at this rate, and stands
// still if no message is in its data phase; a message ends data_s on the clock after its start-up.
#include <cstdint>
#include <limits>
#include <vector>

#include "buckets/sending.hpp"

namespace stepsim::buckets {

inline constexpr double kNever = std::numeric_limits<double>::infinity();

struct AtOnce {        // times in s, from the start of backward
  double contention{}; // >= 0
  double now{};
  double clock{};        // seconds of data that one message could have moved so far
  std::int64_t moving{}; // number of messages in their data phase
};

// Starts a message now.
void start(const AtOnce& channel, std::vector<Underway>& underway, std::uint32_t transfer,
           double startup_s, double data_s);

// Advances to the next end of a message, removes it from `underway` and returns its `transfer`. If
// no message ends by `limit`, advances to `limit` (if that is finite) and returns -1.
[[nodiscard]] std::int64_t next_end(AtOnce& channel, std::vector<Underway>& underway, double limit);

} // namespace stepsim::buckets
