#pragma once
// Reads a file of measured steps into the values that fit_overlap.hpp needs (TRN 3.5): when the
// messages of a step are ready, their sizes, and the compute times of the step.
#include <string>
#include <vector>

#include "document/json.hpp"
#include "scenario/files.hpp"

namespace stepsim::study {

struct MeasuredMessage {
  double ready_s{}; // seconds from the start of the backward pass, without slowdown
  double bytes{};
};

struct MeasuredStep {
  std::string schedule;
  std::string fold{}; // value at the pointer `leave_out`; rows with equal values form a fold
  double step_s{};    // measured iteration time
  double forward_s{}, backward_s{}, update_s{};
  std::vector<MeasuredMessage> messages{}; // in launch order
};

struct MeasuredSteps {
  std::string name, source;
  double startup_s{}, per_byte_s{}; // cost of an exchange on the network, where the fit starts
  std::vector<MeasuredStep> steps{};
};

// Reads a file of kind measured_steps. `leave_out` is a JSON pointer into the scenarios, or empty.
// The buckets are planned with the cost of the network, or with /communication/plan_cost if the
// scenario has it. Throws InputError if
//   - the file or a scenario is invalid, or a scenario lacks the key `leave_out`
//   - a scenario has anything that the fit does not model. It models sync_sgd with equal workers,
//     whose dense all-reduces follow one another, and a next forward pass that waits for the last
//     of them. Copies of gradients, and time to read the input, are not modelled.
//   - the cost of an exchange is not startup_s + per_byte_s x bytes, or differs between rows
[[nodiscard]] MeasuredSteps read_measured_steps(const io::Json& tree, Files& files,
                                                const std::string& leave_out);

} // namespace stepsim::study
