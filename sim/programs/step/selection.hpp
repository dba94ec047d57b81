#pragma once
// Adds the time to select (or encode) the gradients of a message, between their backward and the
// message (SPA 5, LAGS). On the compute stream, a selection delays the rest of backward; on a side
// stream, it delays only its message and later selections.
//
//     compute   |-3-|sel 3|-2-|-1-|sel 2,1|
//     messages            |==3==|         |==2,1==|
#include <cstdint>
#include <span>

#include "programs/step/step.hpp"

namespace stepsim::programs {

struct SelectionWork {   // for one message
  std::uint32_t layer{}; // layer whose backward completes the gradients of the message
  double compute_s{};    // time on the compute stream
  double side_s{};       // time on a second stream, afterwards
};

// Moves the ready time of every message from the end of its gradients to the end of their
// selection, and adds the work of the compute stream to the backward times of layers. `work` has
// one entry per message, in launch order. Returns the seconds added to the compute stream. Source:
// SPA 5 (recurrence of the published code).
double add_selection(StepInput& input, std::span<const SelectionWork> work);

} // namespace stepsim::programs
