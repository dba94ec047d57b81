#pragma once
// How much longer the period gets per unit of a parameter, to the left and to the right (TRN 7.3).
// Left < right is a kink: different paths bind on either side, and neither number alone is the
// derivative.
#include <cstdint>
#include <string>
#include <vector>

#include "program/explain/program_evaluation.hpp"
#include "program/steady_state.hpp"
#include "program/training_program.hpp"

namespace stepsim::program {

// What an exchange pays per start-up and per byte, so that `startup` and `data` of operations can
// be read as start-ups and bytes; 0: unknown.
struct LinkConstants {
  double latency_s{};
  double seconds_per_byte{};
};

// How the durations of operations depend on a parameter of the present value `value`: slopes of the
// start-up, and of the seconds or data.
struct Parameter {
  std::string name;
  double value{};
  std::vector<double> startup_slope; // per operation
  std::vector<double> slope;
};

// latency_s and seconds_per_byte, or where a constant is unknown the factors startup_factor and
// data_factor on these times, and compute_factor on all computing; those that have a slope above 0.
[[nodiscard]] std::vector<Parameter> parameters_of(const Program& program,
                                                   const LinkConstants& links);
// Seconds of one operation: "seconds of F1"; of an exchange start-up and data together.
[[nodiscard]] Parameter seconds_of(const Program& program, std::uint32_t operation);

struct Sensitivity {
  std::string parameter;
  double left{};
  double right{};
  bool exact{}; // else differences over a relative step of 1e-6
};

// Exact, by the critical cycles of a program that recurrence_applies() to.
[[nodiscard]] Sensitivity exact_sensitivity(const SteadyState& state, const Parameter& parameter);
// Two more evaluations; a parameter of value 0 is moved to the right only, and `left` is `right`.
[[nodiscard]] Sensitivity numeric_sensitivity(const Program& program, const Parameter& parameter,
                                              const Evaluation& evaluation, double period_s);

} // namespace stepsim::program
