#pragma once
// The one-sided derivatives of the period with respect to a parameter (TRN 7.3). left < right means
// a kink: different paths bind on the two sides, and the period has no derivative there.
#include <cstdint>
#include <string>
#include <vector>

#include "programs/explain/program_evaluation.hpp"
#include "programs/steady_state.hpp"
#include "programs/training_program.hpp"

namespace stepsim::programs {

// The cost of an exchange per start-up [s] and per byte [s]. They convert `startup` and `data` of
// operations to numbers of start-ups and bytes. 0 means unknown.
struct LinkConstants {
  double latency_s{};
  double seconds_per_byte{};
};

// A parameter with its present value, and the derivatives of the durations of operations with
// respect to it: of `startup` (startup_slope), and of `seconds` or `data` (slope).
struct Parameter {
  std::string name;
  double value{};
  std::vector<double> startup_slope; // [operation]
  std::vector<double> slope;         // [operation]
};

// The parameters on which some duration depends: latency_s and seconds_per_byte (or, if the
// constant is unknown, the factors startup_factor and data_factor on the times), and
// compute_factor, which multiplies all compute times.
[[nodiscard]] std::vector<Parameter> parameters_of(const Program& program,
                                                   const LinkConstants& links);
// The parameter "seconds of F1": the duration of one operation, for an exchange start-up and data.
[[nodiscard]] Parameter seconds_of(const Program& program, std::uint32_t operation);

struct Sensitivity {
  std::string parameter;
  double left{};
  double right{};
  bool exact{}; // if false, they are finite differences (numeric_sensitivity())
};

// The exact derivatives, from the critical cycles of a program for which recurrence_applies().
[[nodiscard]] Sensitivity exact_sensitivity(const SteadyState& state, const Parameter& parameter);
// The derivatives by finite differences over a step of 1e-6 of the value, from two more evaluations
// of the program, whose period is `period_s`. A parameter of value 0 is moved to the right only, by
// 1e-6 of period_s / its largest slope, and `left` equals `right`.
[[nodiscard]] Sensitivity numeric_sensitivity(const Program& program, const Parameter& parameter,
                                              const Evaluation& evaluation, double period_s);

} // namespace stepsim::programs
