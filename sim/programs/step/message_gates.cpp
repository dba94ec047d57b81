#include "programs/step/message_gates.hpp"

#include <algorithm>

namespace stepsim::programs {

MessageGate message_gate(std::span<const Seconds> ends, double ready_s) {
  constexpr double kRounding = 1e-12;
  const double limit = ready_s * (1 + kRounding);
  const auto first = std::partition_point(ends.begin(), ends.end() - 1,
                                          [limit](Seconds end) { return end.value > limit; });
  return {static_cast<std::uint32_t>(first - ends.begin()), std::max(0.0, ready_s - first->value)};
}

} // namespace stepsim::programs
