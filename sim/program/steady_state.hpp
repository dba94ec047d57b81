#pragma once
// The period of a program with equal ranks, constant durations and fifo streams, exactly (TRN 2.4):
// the maximum, over the directed cycles of its constraint graph, of the durations of the operations
// on the cycle divided by the iterations that it spans. Arcs: every wait with its distance, each
// operation to the next one on its stream with distance 0, the last of a stream to its first
// with 1.
//
//     a waits c(1), b waits a(0), c waits b(1); 3, 4, 5 s:  cycle a b c, 12 s over 2 iterations,
//     period 6 s, although the ends of a differ by 5, 7, 5, 7, .. s (cyclicity 2)
#include <cstdint>
#include <span>
#include <vector>

#include "base/units.hpp"
#include "program/cycle_ratio.hpp"
#include "program/training_program.hpp"

namespace stepsim::program {

struct SteadyState {
  Seconds period;
  // After how many iterations the times repeat, shifted by `cyclicity` periods; 2^62 if more.
  std::int64_t cyclicity = 1;
  // The critical cycle: operations in the direction of time, the smallest list position first. Of
  // several critical cycles one with fewest operations, then with the smallest first position.
  std::vector<std::uint32_t> cycle;
  std::int64_t cycle_iterations{}; // sum of its distances
  bool other_cycles{};             // there are further critical cycles

  // For derivative(): critical arcs, with nodes in order of evaluation, and the node of each
  // operation.
  CycleGraph critical;
  std::vector<std::uint32_t> node_of;
};

// Of a valid program that recurrence_applies() to; its tail is left out.
[[nodiscard]] SteadyState steady_state(const Program& program);

// One-sided derivatives of the period with respect to a parameter on which the duration of
// operation o depends with slope `slopes[o]` >= 0 (TRN 7.3). Left < right is a kink: critical
// cycles compete.
struct Derivative {
  double left{};
  double right{};
};
[[nodiscard]] Derivative derivative(const SteadyState& state, std::span<const double> slopes);

// The same program without interference and with exchanges that take no time, nor do delays that
// only exchanges wait for, such as a cycle that begins them.
[[nodiscard]] Program without_exchanges(Program program);

// Period minus that of without_exchanges(), per iteration of the program; differences below 1e-12
// of the period are 0 (TRN 2.6).
[[nodiscard]] Seconds exposed_communication(const Program& program);

} // namespace stepsim::program
