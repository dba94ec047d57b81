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

std::vector<MessageGate> message_gates(const StepInput& step) {
  std::vector<Seconds> ends(step.backward_s.size());
  Seconds t;
  for (std::size_t l = ends.size(); l-- > 0;) {
    ends[l] = t += Seconds{step.backward_s[l]};
  }
  std::vector<MessageGate> gates;
  for (const Message& message : step.messages) {
    gates.push_back(message_gate(ends, message.ready_s));
  }
  return gates;
}

} // namespace stepsim::programs
