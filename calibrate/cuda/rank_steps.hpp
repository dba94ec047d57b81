#pragma once
// The part of one rank of a job in a collective, from the schedule that the simulator evaluates:
//
//   step k   begin all messages of the step, wait for all of them, then add the received data of
//            messages with `reduce`
//
// A send of a step therefore sends values from before the additions of the step.
#include <cstdint>
#include <span>
#include <vector>

#include "calibrate/execute/element_messages.hpp"

namespace stepsim::calibrate::gpu {

struct RankStep {
  std::vector<ElementMessage> sends, receives;
};

// The steps of `rank`. `messages` are the messages of all ranks in program order. Steps in which
// the rank has no message are left out, and so are messages without elements.
[[nodiscard]] std::vector<RankStep> steps_of(std::span<const ElementMessage> messages,
                                             std::uint32_t rank);

} // namespace stepsim::calibrate::gpu
