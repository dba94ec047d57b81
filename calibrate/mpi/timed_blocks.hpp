#pragma once
// How times between processes are taken (CAL 6). A block is one thing to time. All blocks are
// visited in three passes, each in its own random order, so that drift is not mistaken for size.
// One sample: two barriers, then every rank times the call with its own clock; the time is that of
// the slowest rank. A block whose calls cannot overlap (repeatable) is called several times per
// sample, so that a sample lasts about a millisecond (repeats_for).
#include <functional>
#include <string>
#include <vector>

#include "calibrate/mpi/runtime.hpp"
#include "calibrate/mpi/wire.hpp"

namespace stepsim::calibrate::mpi {

inline constexpr double kSteadyPass = 0.15; // passes that differ more are reported

struct Block {
  std::string what; // for messages
  std::function<void()> call;
  std::function<void()> prepare{}; // before each sample, not timed
  bool repeatable = false;
  double divisor = 1; // messages that follow one another in a call; the time is per message
  int repeats = 1;
  std::vector<std::vector<double>> passes{}; // seconds

  [[nodiscard]] std::vector<double> all() const;
};

// Measures all blocks. Every rank must call it; all ranks get the same times, written into
// `passes`. Ends about `max_seconds` after the start, but takes at least one sample of each block.
// `seed` decides the order of the blocks, which must be the same on all ranks.
void measure(std::vector<Block>& blocks, double max_seconds, std::uint64_t seed, Wire& wire,
             Watchdog& watchdog);

// Blocks whose passes differ by more than kSteadyPass: "lp allreduce 4096 B: passes differ by 18
// %".
[[nodiscard]] std::vector<std::string> unsteady(const std::vector<Block>& blocks);

} // namespace stepsim::calibrate::mpi
