#pragma once
// What a message of a step waits for: the backward of a layer, and then a time of its own, such as
// the cycle of Horovod or selection on a side stream.
#include <cstdint>
#include <vector>

#include "train/step/step.hpp"

namespace stepsim::train {

struct MessageGate {
  std::uint32_t layer{}; // the last one, in backward order, that is ready with the message
  double delay_s{};      // from the end of its backward to ready_s of the message
};

// Of every message, in the order of the list.
[[nodiscard]] std::vector<MessageGate> message_gates(const StepInput& step);

} // namespace stepsim::train
