#pragma once
// The binding path of a program: a chain of operations, each of which starts when the one before
// it ends, so that their seconds add up to the period (TRN 7.1). If all ranks are equal, durations
// constant and streams fifo, the path is the critical cycle, which is exact. Otherwise it is found
// in the recorded events of a run, by walking back from each operation to the one that delayed it.
//
//     compute  F1 F2 | B2 B1 ....wait....| F1      path: B2 X2 X1 F1 F2; B1 ends before X2 does,
//     reduce            =X2=====X1=======|         hence a shorter B1 changes nothing
#include <cstdint>
#include <vector>

#include "programs/operation_times.hpp"
#include "programs/steady_state.hpp"
#include "programs/training_program.hpp"

namespace stepsim::programs {

// One operation on the path, with its seconds summed over all visits of the path to it:
// startup_s + data_s + stretch_s. A compute operation has its own seconds in `data_s`.
struct PathStep {
  std::uint32_t operation{};
  // On a critical cycle, relative to the iteration of the first step; in a recorded run, that of
  // the last visit in time.
  std::int64_t iteration{};
  std::uint32_t rank{}; // rank of the first visit in time
  std::int64_t visits = 1;
  double startup_s{};
  double data_s{};
  double stretch_s{}; // time beyond its own seconds, by interference or shared links
  [[nodiscard]] double seconds() const { return startup_s + data_s + stretch_s; }
};

struct BindingPath {
  bool exact{};          // true for a critical cycle, false for recorded events
  double period_s{};     // seconds per iteration of the program
  double iterations = 1; // iterations that the path spans; shares are seconds / iterations
  bool other_cycles{};   // there are further critical cycles
  // In the direction of time for a critical cycle; else one step per operation, in list order.
  std::vector<PathStep> steps;
  double waiting_s{}; // time on the path without an operation; 0 except for rounding
};

// The critical cycle of a program for which recurrence_applies(). If there are several,
// steady_state() chooses one with the fewest operations, then the smallest first list position,
// then one along waits rather than along streams.
[[nodiscard]] BindingPath critical_cycle(const Program& program, const SteadyState& state);

// The binding path of a recorded run. `times` must come from a run with the same factors and
// Record::all; 1 <= discard < iterations. The walk begins at the last completion of the marker on
// any rank and ends at the completion after which iterations are no longer discarded. The last of
// several iterations and, in a run without factors, the last quarter are walked but not counted,
// because the walk may first have to reach the binding operations. If several operations end when
// another one starts, the walk goes to the one on the same stream, else to the first in the order
// of the waits. From an exchange it goes to the rank that entered last (the first of several).
[[nodiscard]] BindingPath binding_path(const Program& program, const OperationTimes& times,
                                       const Factors& factors, std::int64_t discard);

} // namespace stepsim::programs
