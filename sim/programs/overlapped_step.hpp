#pragma once
// The period of a synchronous step under interference, in one pass over its messages (TRN 2.10,
// 3.1). It equals the period of sync_sgd_program() for equal workers, one fifo channel, exchanges
// that compute does not slow, and a forward that waits for all messages. While a message is in
// flight, compute advances at the rate 1 / slowdown; otherwise at full speed.
//
//     backward  |--3--|--2-----|-1-|        message 3 is in flight while layer 2 is computed; one
//     channel         |==3==|      |=2,1=|  message of 2 and 1 is ready at the end of backward
#include <span>

namespace stepsim::programs {

struct OverlappedMessage {
  // Compute time from the start of backward, without slowdown; non-decreasing, at most backward_s.
  double ready_s{};
  double seconds{}; // start-up and data
};

// The period in seconds. `other_s` is the time of forward and update, which no message overlaps.
// Requires slowdown >= 1.
[[nodiscard]] double overlapped_step_s(double other_s, double backward_s,
                                       std::span<const OverlappedMessage> messages,
                                       double slowdown);

} // namespace stepsim::programs
