#include "programs/step/message_gates.hpp"

#include <algorithm>
#include <cstddef>

namespace stepsim::programs {

std::vector<MessageGate> message_gates(const StepInput& step) {
  constexpr double kRounding = 1e-12;
  std::vector<double> ready(step.backward_s.size());
  double t = 0;
  for (std::size_t l = ready.size(); l-- > 0;) {
    ready[l] = t += step.backward_s[l];
  }
  std::vector<MessageGate> gates;
  for (const Message& message : step.messages) {
    const double limit = message.ready_s * (1 + kRounding);
    const auto first = std::partition_point(ready.begin(), ready.end() - 1,
                                            [limit](double time) { return time > limit; });
    gates.push_back({static_cast<std::uint32_t>(first - ready.begin()),
                     std::max(0.0, message.ready_s - *first)});
  }
  return gates;
}

} // namespace stepsim::programs
