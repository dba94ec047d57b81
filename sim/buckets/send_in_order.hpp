#pragma once
// One channel that sends one message at a time, first in first out (MER 3):
//     start(g) = max(end(g-1), ready(g)), end(g) = start(g) + startup + data
// A message may have a second half, an all-gather or a broadcast (sending.hpp). Other disciplines
// use parts of this one.
#include <cstddef>

#include "buckets/sending.hpp"

namespace stepsim::buckets {

// Calls send_forth() and, if the messages have second halves (Sending::comes_back), send_back().
void send_in_order(const Sending& sending, const SendInput& input, SendTimes& times);

// Resizes `times` to the number of messages and clears the second halves, reusing the memory of the
// last iteration.
void size_for(std::size_t transfers, SendTimes& times);
// send_forth() sends all messages, one after another. send_back() sends all second halves without a
// gap, in reverse launch order; they begin pause_s after the messages and backward have ended.
void send_forth(const Sending& sending, const SendInput& input, SendTimes& times);
void send_back(const Sending& sending, const SendInput& input, SendTimes& times);
// Returns the seconds in the union of [start, end] over messages, without second halves.
// times.order must be the order of starts; empty: messages start as listed.
[[nodiscard]] double busy_seconds(const SendTimes& times);

} // namespace stepsim::buckets
