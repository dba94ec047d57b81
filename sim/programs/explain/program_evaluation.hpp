#pragma once
// Chooses and runs the evaluator of a program: the cheapest one that is exact for it (TRN 2.3).

#include "programs/recurrence.hpp"
#include "programs/steady_state.hpp"

namespace stepsim::programs {

//   closed_form  recurrence.hpp: one time per operation and iteration
//   max_plus     recurrence.hpp: one time per operation, iteration and rank
//   events       event_pass.hpp: every start and end is an event
enum class Evaluator { closed_form, max_plus, events };
inline constexpr auto kEvaluators = base::words<Evaluator>();

// The settings with which a program is run.
struct Evaluation {
  std::int64_t iterations = 100;
  // Number of first iterations that the mean period leaves out; 1 <= discard < iterations.
  std::int64_t discard = 50;
  // Iterations that run after these, with factors of their own, and are not counted.
  std::int64_t after = 0;
  Factors factors;
  EachRule each; // the times of exchanges whose ranks enter one by one (entry `each`)
};

// Whether the period is the ratio of a critical cycle: true for equal ranks, constant durations,
// fifo streams and no interference.
[[nodiscard]] bool has_critical_cycle(const Program& program, const Evaluation& evaluation);

// closed_form if has_critical_cycle(); else max_plus for fifo streams without interference; else
// events.
[[nodiscard]] Evaluator evaluator_of(const Program& program, const Evaluation& evaluation);

// The evaluation whose mean period is the one of the steady state. It differs from `evaluation`
// only if `events` runs the program without factors and its times repeat (event_period.hpp): the
// iterations before they do and the end of the run, where nothing follows that slows the last
// exchanges, then do not count.
[[nodiscard]] Evaluation settled(const Program& program, const Evaluation& evaluation);

// Runs the program with evaluator_of(). Without compute factors the result has one rank. Throws
// SimulationError if
//   - an exchange has entry `each` and only `events` could run the program
//   - Record::all is asked for and operations x ranks x iterations exceeds 2^26
//   - event_pass() throws
[[nodiscard]] OperationTimes evaluate(const Program& program, const Evaluation& evaluation,
                                      Record record = Record::marker);

// Seconds per iteration: the cycle ratio if has_critical_cycle(), the period of the steady state if
// `events` finds one, else the mean over the iterations that are not discarded. Throws as
// evaluate() does.
[[nodiscard]] double period_s(const Program& program, const Evaluation& evaluation);

// Seconds by which `period_s` exceeds the period of `part`, another form of the program; 0 if the
// difference is below 1e-12 of the period.
[[nodiscard]] double beyond_s(const Program& part, const Evaluation& evaluation, double period_s);

// The one-sided derivatives of the period with respect to a parameter (TRN 7.3). left < right means
// a kink: different paths bind on the two sides, and the period has no derivative there.

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
