#pragma once
// The exact period of a program with equal ranks, constant durations and fifo streams (TRN 2.4). It
// is the maximum, over the directed cycles of the constraint graph, of the total duration of the
// operations on the cycle divided by the iterations that the cycle spans. The arcs are: every wait,
// with its distance; from each operation to the next one on its stream, with distance 0; from the
// last operation of a stream to the first, with distance 1.
//
//     a (3 s) waits for c at distance 1, b (4 s) for a at distance 0, c (5 s) for b at distance 1:
//     the cycle a b c takes 12 s and spans 2 iterations, hence the period is 6 s, although the ends
//     of a differ by 5, 7, 5, 7, .. s (cyclicity 2)
#include <cstdint>
#include <span>
#include <vector>

#include "base/units.hpp"
#include "programs/cycle_ratio.hpp"
#include "programs/training_program.hpp"

namespace stepsim::programs {

struct SteadyState {
  Seconds period;
  // Number of iterations after which the times repeat, shifted by as many periods; at most 2^62.
  std::int64_t cyclicity = 1;
  // The critical cycle: operations in the direction of time, the smallest list position first. If
  // there are several critical cycles, one with the fewest operations, then with the smallest first
  // position.
  std::vector<std::uint32_t> cycle;
  std::int64_t cycle_iterations{}; // iterations that `cycle` spans: the sum of its distances
  bool other_cycles{};             // there are further critical cycles

  // Input of derivative(): the critical arcs, with nodes in the order of evaluation, and the node
  // of each operation.
  CycleGraph critical;
  std::vector<std::uint32_t> node_of;
};

// The steady state of a valid program for which recurrence_applies(). The tail and waits that end
// are ignored.
[[nodiscard]] SteadyState steady_state(const Program& program);
// The period of steady_state() alone, which takes a fraction of the time.
[[nodiscard]] Seconds steady_period(const Program& program);

// The one-sided derivatives of the period with respect to a parameter, if the duration of operation
// o has the derivative slopes[o] >= 0 (TRN 7.3). left < right means a kink: several cycles are
// critical.
struct Derivative {
  double left{};
  double right{};
};
[[nodiscard]] Derivative derivative(const SteadyState& state, std::span<const double> slopes);

// The program without interference, in which exchanges take no time, nor do delays that only
// exchanges wait for, such as the cycle time of Horovod. A delay keeps its time if its stream has a
// compute operation, or if a compute or delay operation waits for a delay of its stream.
[[nodiscard]] Program without_exchanges(Program program);

// The program reduced to a single rank, which stands for all ranks if they are equal: every wait is
// for that rank, and every group has that rank only.
[[nodiscard]] Program one_rank(Program program);

// The program without the waits that end, which is how it runs once they have ended.
[[nodiscard]] Program without_warmup(Program program);

} // namespace stepsim::programs
