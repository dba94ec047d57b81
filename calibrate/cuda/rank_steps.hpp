#pragma once
// A collective as what one rank of a job does, from the schedule that the simulator evaluates:
//
//   step k   begin all messages of the step, wait for them, add those that are added
//
// The sends of a step start from what was there before it.
#include <cstdint>
#include <span>
#include <vector>

#include "calibrate/execute/element_messages.hpp"

namespace stepsim::calibrate::gpu {

struct RankStep {
  std::vector<ElementMessage> sends, receives;
};

// `messages` of all ranks in program order. Steps in which the rank does nothing are left out, and
// so are messages without elements.
[[nodiscard]] std::vector<RankStep> steps_of(std::span<const ElementMessage> messages,
                                             std::uint32_t rank);

} // namespace stepsim::calibrate::gpu
