#pragma once
// Measured steps as what a fit of overlap needs of them (TRN 3.5): when the messages of a step are
// ready, their bytes, and what else the step computes.
#include <string>
#include <vector>

#include "scenario/files.hpp"
#include "json/json.hpp"

namespace stepsim::study {

struct MeasuredMessage {
  double ready_s{}; // from the start of backward
  double bytes{};
};

struct MeasuredStep {
  std::string schedule;
  std::string fold{}; // value of the key that tells the folds apart
  double step_s{};    // measured
  double forward_s{}, backward_s{}, update_s{};
  std::vector<MeasuredMessage> messages{}; // in the order of their launch
};

struct MeasuredSteps {
  std::string name, source;
  double startup_s{}, per_byte_s{}; // of the network of all steps, where the fit starts
  std::vector<MeasuredStep> steps{};
};

// A file of kind measured_steps. `leave_out`: pointer into the scenarios, or "". Buckets are those
// of the network, or of /communication/plan_cost where the scenario gives it. Throws InputError
// for what cannot be read, and for steps that the fit does not describe: anything but sync_sgd with
// dense all-reduces, one after the other, of equal workers, and networks that differ.
[[nodiscard]] MeasuredSteps read_measured_steps(const io::Json& tree, Files& files,
                                                const std::string& leave_out);

} // namespace stepsim::study
