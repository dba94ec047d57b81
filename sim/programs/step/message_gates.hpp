#pragma once
// Finds the condition for the start of a message in a step: the end of the backward of a layer, and
// then a delay, for example by the cycle time of Horovod or by selection on a side stream.

#include <span>

#include "base/units.hpp"

namespace stepsim::programs {

struct MessageGate {
  // Last layer, in backward order, whose backward ends by ready_s, or the first one if none does;
  // numbered from 0 in forward order.
  std::uint32_t layer{};
  double delay_s{}; // from the end of its backward to ready_s of the message, at least 0
  friend bool operator==(const MessageGate&, const MessageGate&) = default;
};

// The gate of a message that is ready at `ready_s`; ends[layer] is when its backward ends.
[[nodiscard]] MessageGate message_gate(std::span<const Seconds> ends, double ready_s);

} // namespace stepsim::programs
