#pragma once
// What bounds the period of a program: operations of which each starts when the one before it ends,
// so that their seconds add up to the time that they span (TRN 7.1). With equal ranks, constant
// durations and fifo streams it is the critical cycle, exactly; otherwise it is found by walking
// the operations that delayed each other back through the recorded events of a run.
//
//     compute  F1 F2 | B2 B1 ....wait....| F1      path: B2 X2 X1 F1 F2; B1 ends before X2 does,
//     reduce            =X2=====X1=======|         hence a shorter B1 changes nothing
#include <cstdint>
#include <vector>

#include "program/operation_times.hpp"
#include "program/steady_state.hpp"
#include "program/training_program.hpp"

namespace stepsim::program {

// Seconds of one operation on the path, summed over its visits. `startup_s` + `data_s` +
// `stretch_s` is all of them; an operation that computes has its own seconds in `data_s`.
struct PathStep {
  std::uint32_t operation{};
  std::int64_t iteration{}; // on a critical cycle: iterations after that of the first step
  std::uint32_t rank{};     // of the first visit
  std::int64_t visits = 1;
  double startup_s{};
  double data_s{};
  double stretch_s{}; // above its own seconds: interference, or messages that share the link
  [[nodiscard]] double seconds() const { return startup_s + data_s + stretch_s; }
};

struct BindingPath {
  bool exact{};          // a critical cycle; otherwise recorded events
  double period_s{};     // per iteration of the program
  double iterations = 1; // that the path spans: shares are seconds / iterations
  bool other_cycles{};   // there are further critical cycles
  // In the direction of time; of recorded events one step per operation, in list order.
  std::vector<PathStep> steps;
  double waiting_s{}; // on the path while no operation ran; 0 but for rounding
};

// The critical cycle of a program that recurrence_applies() to. Of several critical cycles
// steady_state() takes one with the fewest operations, then the smallest first list position; among
// equal ones that along waits comes before that along streams.
[[nodiscard]] BindingPath critical_cycle(const Program& program, const SteadyState& state);

// Walks back from the last completion of the marker, on the rank whose mean period is the largest,
// to the completion after which iterations count; of a run without factors the last quarter of the
// iterations only leads the walk to what binds. `times` recorded all operations (Record::all) of
// a run with the same factors; 1 <= discard < iterations. Of several operations that end when
// another one starts the one on the same stream counts, then the order of the waits; an exchange
// leads on to the first of its ranks that entered last.
[[nodiscard]] BindingPath binding_path(const Program& program, const OperationTimes& times,
                                       const Factors& factors, std::int64_t discard);

} // namespace stepsim::program
