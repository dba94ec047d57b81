#include "programs/step/selection.hpp"

#include <algorithm>
#include <cassert>

namespace stepsim::programs {

double add_selection(StepInput& input, std::span<const SelectionWork> work) {
  assert(work.size() == input.messages.size() && "one selection per message");
  double delay = 0;
  double side_free = 0;
  for (std::size_t g = 0; g < work.size(); ++g) {
    delay += work[g].compute_s;
    input.backward_s[work[g].layer] += work[g].compute_s;
    double& ready = input.messages[g].ready_s;
    ready += delay;
    if (work[g].side_s > 0) {
      side_free = std::max(side_free, ready) + work[g].side_s;
      ready = side_free;
    }
  }
  return delay;
}

} // namespace stepsim::programs
