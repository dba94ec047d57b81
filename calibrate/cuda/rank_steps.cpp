#include "calibrate/cuda/rank_steps.hpp"

#include <optional>

namespace stepsim::calibrate::gpu {

std::vector<RankStep> steps_of(std::span<const ElementMessage> messages, std::uint32_t rank) {
  std::vector<RankStep> steps;
  std::optional<std::int64_t> number;
  for (const ElementMessage& message : messages) {
    if (message.count == 0 || (message.src != rank && message.dst != rank)) {
      continue;
    }
    if (number != message.step) {
      number = message.step;
      steps.emplace_back();
    }
    (message.src == rank ? steps.back().sends : steps.back().receives).push_back(message);
  }
  return steps;
}

} // namespace stepsim::calibrate::gpu
