#include "programs/overlapped_step.hpp"

#include <algorithm>

namespace stepsim::programs {

double overlapped_step_s(double other_s, double backward_s,
                         std::span<const OverlappedMessage> messages, double slowdown) {
  double now = 0;
  double computed = 0; // of backward, at full speed
  for (const OverlappedMessage& message : messages) {
    if (message.ready_s > computed) { // the channel waits, so that nothing slows computing
      now += message.ready_s - computed;
      computed = message.ready_s;
    }
    computed = std::min(backward_s, computed + message.seconds / slowdown);
    now += message.seconds;
  }
  return other_s + now + (backward_s - computed);
}

} // namespace stepsim::programs
