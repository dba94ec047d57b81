#pragma once
// Selecting (or encoding) the gradients of a message takes time between their backward and the
// message: on the compute stream it delays the rest of backward, on a side stream only its own
// message and the selections behind it (SPA 5, LAGS).
//
//     compute   |-3-|sel 3|-2-|-1-|sel 2,1|
//     messages            |==3==|         |==2,1==|
#include <cstdint>
#include <span>

#include "train/step/step.hpp"

namespace stepsim::train {

struct SelectionWork {   // of one message
  std::uint32_t layer{}; // whose backward completes its gradients
  double compute_s{};    // on the compute stream
  double side_s{};       // on a second stream, after that
};

// Moves the ready time of every message from the end of its gradients to the end of their
// selection, and adds the work of the compute stream to the backward times of layers. `work` has
// one entry per message, in launch order. Returns the seconds added to the compute stream. Source:
// SPA 5 (recurrence of the published code).
double add_selection(StepInput& input, std::span<const SelectionWork> work);

} // namespace stepsim::train
