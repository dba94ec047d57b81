#pragma once
// Fits three constants to measured iteration times (TRN 3.5): the start-up a [s] and the time per
// byte b [s] of an exchange, and the slowdown s of compute during an exchange. The fit minimizes
//
//     loss = sum over rows of min(|ln(predicted / measured)|, 0.5)^1.5
//
// over a, b and s - 1, all >= 0, with 160 steps of the Nelder-Mead method. The search starts at
// a = a0, b = 2 b0 and s = 1.5; a0 and b0 are the constants of the scenarios' network.

#include "scenario/files.hpp"

namespace stepsim::study {

// Reads a file of measured steps into the values that fit_overlap() needs (TRN 3.5): when the
// messages of a step are ready, their sizes, and the compute times of the step.

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

// The constants that are not fitted: they keep a0 and b0 of the network, and a slowdown of 1.
struct KeptConstants {
  bool startup = false, per_byte = false, compute = false;
  [[nodiscard]] std::size_t free() const {
    return std::size_t{startup ? 0U : 1U} + (per_byte ? 0U : 1U) + (compute ? 0U : 1U);
  }
};

// The iteration time [s] of a measured step by the model with these constants.
[[nodiscard]] double predicted_s(const MeasuredStep& step, const io::OverlapConstants& constants);

// Fits the constants that are not kept. `leave_out` is the JSON pointer with which the steps were
// read: if it is not empty, every fold (the rows with equal values at the pointer) is also
// predicted by constants that were fitted to the other folds. If there is only one row, with one
// message, only b is fitted, to the step time minus compute and a0. Throws UsageError if there are
// fewer rows than constants, if no time is left for that one message, or if `leave_out` has the
// same value in all rows.
[[nodiscard]] io::OverlapFit fit_overlap(const MeasuredSteps& measured,
                                         const std::string& leave_out, const KeptConstants& kept);

// Reads a file of kind measured_steps: scenarios, each with the measured time of its step.

struct MeasuredRow {
  io::Json scenario;              // with the schedule of the row, its short forms expanded
  double step_s{};                // measured iteration time
  const io::Json* place{nullptr}; // the row in the file
};

struct MeasuredRows {
  std::string name, source;
  std::vector<MeasuredRow> rows{};
};

// `tree` must live as long as the result. Throws InputError.
[[nodiscard]] MeasuredRows read_measured_rows(const io::Json& tree);

// Fits the factors of conditions to measured steps (CON 5). The factors z, in standard deviations
// from where they start, minimize
//
//     sum over rows of 9 (sqrt(1 + (r / 3)^2) - 1) + sum of z^2 / 2,   r = ln(T / measured) / 0.05
//
// with every z in [-2, 2]: what the rows tell, and what is known of other sites. Rows of which
// communication takes at most 10 % move the losses of computing (l_0, l_1, l_low) alone.

// Standard deviation of the logarithm of a measured step.
inline constexpr double kStepNoise = 0.05;

struct FittedRow {
  double measured_s{};
  double before_s{}, after_s{}; // predicted with the factors where they start, and fitted
};
struct ConditionsFit {
  std::string name, source;
  std::vector<Factor> fitted{};   // that the rows can tell something about
  FactorValues before{}, after{}; // with the spread that is left
  std::vector<FittedRow> rows{};
};

// `measured` is a file of kind measured_steps; its scenarios are put under typical conditions, and
// all start from the same factors. Throws InputError.
[[nodiscard]] ConditionsFit fit_conditions(const io::Json& measured, Files& files);

// The file of kind conditions with the fitted factors.
[[nodiscard]] io::Json conditions_tree(const ConditionsFit& fit);

} // namespace stepsim::study
