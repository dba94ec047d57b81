#pragma once
// Executes training steps with real MPI messages (CAL 9). A second thread stands in for computing:
// it waits until the planned time of every bucket, always counted from the start of the iteration,
// so that delays do not add up, and then queues the bucket. The calling thread, the only one that
// calls MPI, runs the collectives of the queued buckets one at a time, as the single channel of the
// model does.

#include "calibrate/mpi/replay_plan.hpp"
#include "calibrate/mpi/runtime.hpp"
#include "calibrate/mpi/wire.hpp"

namespace stepsim::calibrate::mpi {

enum class Compute { sleep, spin };

struct ReplayOptions {
  std::int64_t iterations = 10; // after the warm-up
  std::int64_t warm_up = 2;
  Compute compute = Compute::sleep;
  bool library = false; // MPI_Iallreduce instead of the schedules that the simulator evaluates
  MessageOptions messages;
};

struct BucketTimes { // seconds from the start of the iteration
  double ready_s{}, start_s{}, end_s{};
};
// Times of the slowest rank, each the maximum over ranks: iteration_s from the start of the
// iteration to the end of the update, compute_s from the start to the end of backward. barrier_s is
// the time in the barrier before the start, which is not part of iteration_s.
struct IterationTimes {
  double iteration_s{}, compute_s{}, barrier_s{};
  std::vector<BucketTimes> buckets;
};
using ReplayRun = std::vector<IterationTimes>; // without the warm-up

// Runs the plans in turn, one iteration each, and returns one result per plan, the same on all
// ranks. `watchdog` is armed for every iteration. Throws SimulationError if a sum is wrong, which
// is checked in the first iteration of each plan; its times contain the check, so that it should be
// one of the warm-up.
[[nodiscard]] std::vector<ReplayRun> run_replay(std::span<const ReplayPlan> plans,
                                                const ReplayOptions& options, Wire& wire,
                                                Watchdog& watchdog);

} // namespace stepsim::calibrate::mpi
