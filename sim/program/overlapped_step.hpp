#pragma once
// The period of a synchronous step under interference in one pass over its messages: the shortcut
// of sync_sgd_program() for equal workers, one fifo channel, exchanges that computing does not
// slow, and a forward that waits for all messages (TRN 2.10, 3.1). Where a message is under way,
// computing advances at 1 / slowdown; where none is ready, at full speed.
//
//     backward  |--3--|--2-----|-1-|         message 3 is under way while 2 is computed,
//     channel         |==3==|       |=2,1=|  messages 2 and 1 wait for all of backward
#include <span>

namespace stepsim::program {

struct OverlappedMessage {
  double ready_s{}; // computing since the start of backward, without slowdown; non-decreasing
  double seconds{}; // start-up and data
};

// `other_s`: forward and update, which no message overlaps. slowdown >= 1.
[[nodiscard]] double overlapped_step_s(double other_s, double backward_s,
                                       std::span<const OverlappedMessage> messages,
                                       double slowdown);

} // namespace stepsim::program
