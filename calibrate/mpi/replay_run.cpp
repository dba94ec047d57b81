// Computation is waiting until deadlines on the monotonic clock: deadlines are absolute, so that a
// late wake-up does not shift all that follows.
#include "calibrate/mpi/replay_run.hpp"

#include <time.h>

#include <future>

namespace stepsim::calibrate::mpi {

namespace {

constexpr double kNanosecond = 1e-9;

// The clock that clock_nanosleep waits on.
double now_s() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + kNanosecond * static_cast<double>(time.tv_nsec);
}

// Spinning is exact and costs a core; sleeping may wake up late.
void wait_until(double deadline, Compute compute) {
  if (compute == Compute::spin) {
    while (now_s() < deadline) {}
    return;
  }
  timespec time{};
  time.tv_sec = static_cast<time_t>(deadline);
  time.tv_nsec = static_cast<long>((deadline - static_cast<double>(time.tv_sec)) / kNanosecond);
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) != 0) {}
}

// A gradient of each bucket is memory of its own, as in training: one buffer would stay in the
// cache.
struct Work { // of one plan
  const ReplayPlan* plan{};
  std::vector<Program> programs; // [bucket]
  std::vector<Buffers> buffers;  // [bucket]: gradients are different memory
};

Work work_of(const ReplayPlan& plan, const ReplayOptions& options, const Wire& wire) {
  Work work{&plan, {}, {}};
  for (const ReplayBucket& bucket : plan.buckets) {
    work.programs.push_back(
        program_of(plan.kind, wire.ranks(), wire.rank(), bucket.bytes, options.messages));
    work.buffers.emplace_back(bucket.bytes / kElement);
  }
  return work;
}

// Our schedule, or the library's all-reduce as a framework calls it.
std::span<const float> exchange(const Program& program, const ReplayOptions& options, Wire& wire,
                                Buffers& buffers) {
  if (!options.library) {
    return run(program, wire, buffers);
  }
  MPI_Request request{};
  MPI_Iallreduce(buffers.x.data(), buffers.result.data(), static_cast<int>(buffers.x.size()),
                 MPI_FLOAT, MPI_SUM, wire.group(), &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return buffers.result;
}

// Sums of small integers are exact in fp32, in any order.
void check_sum(std::span<const float> result, std::size_t bucket, const Wire& wire) {
  const auto elements = static_cast<std::int64_t>(result.size());
  const std::string problem =
      first_difference(result, expected_vector(collectives::Op::allreduce, wire.ranks(), elements));
  if (!problem.empty()) {
    throw SimulationError("replay: rank " + std::to_string(wire.rank()) + " bucket " +
                          std::to_string(bucket) + problem);
  }
}

// The barrier before the start is timed: ranks that come late would otherwise look like slow links.
IterationTimes run_iteration(Work& work, bool check, const ReplayOptions& options, Wire& wire) {
  const ReplayPlan& plan = *work.plan;
  if (check) {
    for (Buffers& buffers : work.buffers) {
      buffers.fill(wire.rank(), static_cast<std::int64_t>(buffers.x.size()));
    }
  }
  wire.barrier();
  const double before = now_s();
  wire.barrier();
  const double start = now_s();
  std::vector<std::promise<double>> ready(plan.buckets.size()); // in the order of the queue
  double compute_end = 0;
  std::jthread compute([&] {
    for (std::size_t i = 0; i < ready.size(); ++i) {
      wait_until(start + plan.buckets[i].ready_s, options.compute);
      ready[i].set_value(now_s() - start);
    }
    wait_until(start + plan.compute_s, options.compute);
    compute_end = now_s() - start;
  });
  IterationTimes times;
  for (std::size_t i = 0; i < ready.size(); ++i) {
    const double ready_s = ready[i].get_future().get();
    const double begin = now_s() - start;
    const std::span<const float> sum = exchange(work.programs[i], options, wire, work.buffers[i]);
    times.buckets.push_back({ready_s, begin, now_s() - start});
    if (check) {
      check_sum(sum, i, wire);
    }
  }
  compute.join();
  wait_until(now_s() + plan.update_s, options.compute);
  times.iteration_s = now_s() - start;
  times.compute_s = compute_end;
  times.barrier_s = start - before;
  return times;
}

// The slowest rank decides each of the times, as it does in training.
void slowest(IterationTimes& times, const Wire& wire) {
  for (double* each : {&times.iteration_s, &times.compute_s, &times.barrier_s}) {
    *each = largest_of_all(*each, wire.group());
  }
  static_assert(sizeof(BucketTimes) == 3 * sizeof(double));
  MPI_Allreduce(MPI_IN_PLACE, times.buckets.data(), static_cast<int>(3 * times.buckets.size()),
                MPI_DOUBLE, MPI_MAX, wire.group());
}

} // namespace

// Schedules take turns, so that drift of the machine meets all of them. After the first iteration
// the vectors are zero: sums would otherwise overflow.
std::vector<ReplayRun> run_replay(std::span<const ReplayPlan> plans, const ReplayOptions& options,
                                  Wire& wire, Watchdog& watchdog) {
  std::vector<Work> works;
  for (const ReplayPlan& plan : plans) {
    works.push_back(work_of(plan, options, wire));
  }
  std::vector<ReplayRun> runs(plans.size());
  for (std::int64_t i = 0; i < options.warm_up + options.iterations; ++i) {
    for (std::size_t p = 0; p < plans.size(); ++p) {
      watchdog.begin("an iteration of schedule " + plans[p].schedule);
      IterationTimes times = run_iteration(works[p], i == 0, options, wire);
      slowest(times, wire);
      if (i >= options.warm_up) {
        runs[p].push_back(std::move(times));
      }
      if (i == 0) { // from now on zeros: sums stay what they are
        for (Buffers& buffers : works[p].buffers) {
          std::ranges::fill(buffers.x, 0.0F);
        }
      }
    }
  }
  watchdog.begin("");
  return runs;
}

} // namespace stepsim::calibrate::mpi
