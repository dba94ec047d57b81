#pragma once
// Executes training steps for real (CAL 9). A compute thread waits until absolute deadlines, so
// that errors do not add up, and queues every bucket when it is ready; the calling thread, the only
// one that talks to MPI, takes buckets in that order and runs the real collective, one at a time:
// the single channel of the model.
#include <cstdint>
#include <span>
#include <vector>

#include "calibrate/mpi/replay_plan.hpp"
#include "calibrate/mpi/runtime.hpp"
#include "calibrate/mpi/wire.hpp"

namespace stepsim::calibrate::mpi {

enum class Compute { sleep, spin };

struct ReplayOptions {
  std::int64_t iterations = 10; // after the warm-up
  std::int64_t warm_up = 2;
  Compute compute = Compute::sleep;
  bool library = false; // MPI_Iallreduce instead of our schedules
  MessageOptions messages;
};

struct BucketTimes { // from the start of the iteration
  double ready_s{}, start_s{}, end_s{};
};
// Each time is that of the slowest rank, from the start of the iteration: iteration_s to the end of
// the update, compute_s to the end of backward. barrier_s is the length of the barrier before the
// start, no part of iteration_s.
struct IterationTimes {
  double iteration_s{}, compute_s{}, barrier_s{};
  std::vector<BucketTimes> buckets;
};
struct ReplayRun {
  std::vector<IterationTimes> iterations;
};

// One result per plan, iterations of the plans in turn. All ranks get the same. Throws
// SimulationError where a sum is wrong, which is checked in the first iteration of each plan.
[[nodiscard]] std::vector<ReplayRun> run_replay(std::span<const ReplayPlan> plans,
                                                const ReplayOptions& options, Wire& wire,
                                                Watchdog& watchdog);

} // namespace stepsim::calibrate::mpi
