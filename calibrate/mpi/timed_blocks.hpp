#pragma once
// Times calls between processes (CAL 6). A block is one call to time. All blocks are measured in
// three passes, each in its own random order, so that drift is not mistaken for an effect of size.
// For one sample, every rank times the call with its own clock after two barriers; the sample is
// the time of the slowest rank. A block whose calls cannot overlap (repeatable) is called several
// times per sample, so that a sample lasts about a millisecond (repeats_for).

#include "calibrate/core/points.hpp"
#include "calibrate/execute/sampling.hpp"
#include "calibrate/mpi/runtime.hpp"
#include "calibrate/mpi/wire.hpp"

namespace stepsim::calibrate::mpi {

// A block is reported if the median of a pass differs by more than this share from the median of
// the samples of its other passes.
inline constexpr double kSteadyPass = 0.15;

struct Block {
  std::string what; // name for messages
  std::function<void()> call;
  std::function<void()> prepare{}; // called before each sample, not timed
  bool repeatable = false;         // whether a sample may have several calls
  double divisor = 1; // number of messages that follow one another in a call; times are per message
  int repeats = 1;    // calls per sample; set by measure() if repeatable
  std::vector<std::vector<double>> passes{}; // [pass][sample] seconds

  [[nodiscard]] std::vector<double> all() const { return pooled(passes); }
};

struct MeasureOptions {
  double max_seconds = 0;  // time limit of all blocks together; 0: no time but for `every_block`
  std::uint64_t seed = 1;  // seed of the random order of the blocks, the same on all ranks
  bool every_block = true; // takes at least one sample of each block even when the time is up
  // Called after each block of each pass, also if time was up and nothing was measured. May differ
  // between ranks; must not call MPI.
  std::function<void()> after_block{};
};

// Measures all blocks and writes the times into their `passes`. Every rank must call it; all ranks
// get the same times. Ends about `max_seconds` after the start.
void measure(std::vector<Block>& blocks, const MeasureOptions& options, Wire& wire,
             Watchdog& watchdog);

// Appends all samples of a block, with the numbers of their passes. `bytes` is the size of its
// messages.
void append(std::int64_t bytes, const Block& block, std::vector<io::Sample>& samples);

// A warning per block whose passes differ by more than kSteadyPass: "lp allreduce 4096 B: passes
// differ by 18 %".
[[nodiscard]] std::vector<std::string> unsteady(const std::vector<Block>& blocks);

} // namespace stepsim::calibrate::mpi
