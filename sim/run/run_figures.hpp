#pragma once
// Adds the figures of a result that all kinds of runs share: compute times, speed-up, staleness,
// the interval of the iteration time, and warnings.

#include "programs/step/parameter_server.hpp"
#include "run/result.hpp"

namespace stepsim::study {

// The slowest worker bounds a step that computing bounds if others wait for it during more than
// this share of the iteration, on average.
inline constexpr double kStragglerShare = 0.1;
// Waiting for a batch that is read meanwhile is the bottleneck if it takes more than this share.
inline constexpr double kWaitShare = 0.01;

// Adds the warnings about the workload, the scenario, the plan and the range of the calibration.
void add_common_warnings(const Scenario& scenario, const buckets::Plan& plan, Result& result);

// Sets period_s, steps, utilization and the staleness of a step where the way of running has not:
// its period without communication is what the slowest worker computes and reads.
void fill_step(const Scenario& scenario, Summary& summary);

// Sets compute_low_s and compute_high_s from compute_s and its parts, if compute times are
// estimated. The codec, and an update time that the scenario gives, have no interval.
void fill_compute_interval(const Scenario& scenario, Summary& summary);

// Sets the bottleneck to "input" if reading takes more than 1 % of the iteration beside computing:
// where the next batch is read during the step, reading is the slowest part if, besides, nearly no
// communication is exposed; else it must be longer than computing and than exposed communication.
void find_input_bound(const Scenario& scenario, Summary& summary);
// Multiplies compute_s and its parts. A factor that is 1 but for rounding leaves their digits as
// they are, so that forward_s is the number that the workload gives.
void stretch_computing(double factor, Summary& summary);

// The number of first iterations that means leave out if the periods of a run differ: half of all
// iterations where gradients are applied late, as in a pipeline, which fills during the first ones
// (PIP 10); else the key discard_iterations, by default 1, or 0 for a single iteration.
[[nodiscard]] std::int64_t discarded_iterations(const Scenario& scenario);

// The factors of the workers of the scenario, or of one that stands for all where they are equal.
[[nodiscard]] layers::Jitter jitter_of(const Scenario& scenario);

// Sets communication_s, exposed_communication_s and overlap_fraction, which is 1 if nothing is
// sent, and 0 if more is exposed than sent, as by waiting.
void fill_communication(double communication_s, double exposed_s, Summary& summary);
// Sets staleness_mean, staleness_max and staleness_histogram.
void fill_staleness(const layers::StalenessCounts& staleness, Summary& summary);

// Sets baseline, speedup, scaling_efficiency and, with a batch size, samples_per_s; only baseline
// if period_s is 0. Each worker takes `period_s` per iteration; a single worker would take
// `single_s`. If single_s exceeds period_s, which a mean over few iterations can cause, the
// efficiency is 1.
void fill_speedup(const Scenario& scenario, double single_s, double period_s, Summary& summary);

// Sets the interval that holds the mean iteration time with 80 %, from the means of up to 20
// batches of result.iterations without the discarded iterations. Sets nothing without random
// factors, or if fewer than two iterations are left.
void fill_interval(const Scenario& scenario, Result& result);

// Sets the interval. Its lower end is raised to the compute time of the slowest worker
// (asynchronous: the fastest) with the least factor that /variability can draw; then both ends are
// moved, if necessary, so that the interval contains the step.
void set_interval(const Scenario& scenario, base::Interval interval, Summary& summary);

// Whether the iteration time has an interval of parts that are not known for sure: under typical
// conditions, and by the model of a library unless times are random, whose mean has an interval.
[[nodiscard]] bool has_uncertain_parts(const Scenario& scenario);

// The interval of the iteration time (CON 4): every part that is not known for sure is moved by one
// standard deviation up and down, each in a run of its own.

struct ProgramMemory;

// Sets the interval of the step, which must be that of the scenario: of the factors
// of typical conditions and what differs between equal runs, of the model of a library, if one is
// asked, and of the estimate of computing beside either. `memory`, if not null, is that of the run.
void fill_step_interval(const Scenario& scenario, ProgramMemory* memory, Summary& summary);
// Gives the mean of replications, of which the first had the interval of `summary` and a step of
// `first_s`, the interval in which its own uncertainty replaces that of the first one.
void replace_mean_in_interval(const base::Interval& mean, double first_s, Summary& summary);

// How long the whole training takes, what it costs, and how much of its time is useful where
// machines fail: the figures of /job, which follow from the step.
//
//     T_wall = M e^(R/M) (e^((tau + delta)/M) - 1) T/tau
//
// is the expected time of T seconds of steps with a checkpoint of delta seconds after every tau of
// them, where the time between failures is exponential with mean M and a restart takes R (Daly, A
// higher order estimate of the optimum checkpoint interval for restart dumps, 2006).
// Checkpoints and restarts may fail, too; nobody waits for a spare machine.

// Seconds; mtbf_s is that of the whole job.
struct Failures {
  double mtbf_s{}, checkpoint_s{}, restart_s{};
};

struct Checkpointing {
  double interval_s{}; // seconds of steps between two checkpoints
  double goodput{};    // T / T_wall
};

// The interval with the least T_wall. A training of `work_s` seconds, if that is given and less
// than the interval, has one checkpoint at its end.
[[nodiscard]] Checkpointing best_checkpointing(const Failures& failures,
                                               std::optional<double> work_s = {});

// Machines of the job: those of the workers, and dedicated servers.
[[nodiscard]] std::int64_t machines_of(const Scenario& scenario);

// Sets the figures of /job from the step and samples_per_s. Returns false, and leaves some
// of them out, where machines fail so often that the training takes longer than numbers tell.
[[nodiscard]] bool fill_job(const Job& job, std::int64_t machines, std::int64_t gpus,
                            Summary& summary);

} // namespace stepsim::study
