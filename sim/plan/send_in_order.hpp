#pragma once
// One channel, one message at a time, first in first out (MER 3):
//     start(g) = max(end(g-1), ready(g)), end(g) = start(g) + startup + data
// and the parts of it that other disciplines use. A message may have a second half, an all-gather
// or a broadcast (sending.hpp).
#include <cstddef>

#include "plan/sending.hpp"

namespace stepsim::plan {

// One message after another, in launch order (MER 3), then their second halves without a gap.
void send_in_order(const Sending& sending, const SendInput& input, SendTimes& times);

// Makes room for the times of so many messages and clears the second halves. Keeps the memory of
// the last iteration.
void size_for(std::size_t transfers, SendTimes& times);
// send_forth: all messages, one after another. send_back: all second halves without a gap, in
// reverse launch order, pause_s after the later of the end of the messages and the end of backward.
void send_forth(const Sending& sending, const SendInput& input, SendTimes& times);
void send_back(const Sending& sending, const SendInput& input, SendTimes& times);
// Seconds in the union of [start, end] over messages, without second halves. times.order must be
// the order of their starts; empty: they start as listed.
[[nodiscard]] double busy_seconds(const SendTimes& times);

} // namespace stepsim::plan
