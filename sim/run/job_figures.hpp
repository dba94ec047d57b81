#pragma once
// How long the whole training takes, what it costs, and how much of its time is useful where
// machines fail: the figures of /job, which follow from the step.
//
//     T_wall = M e^(R/M) (e^((tau + delta)/M) - 1) T/tau
//
// is the expected time of T seconds of steps with a checkpoint of delta seconds after every tau of
// them, where the time between failures is exponential with mean M and a restart takes R (Daly, A
// higher order estimate of the optimum checkpoint interval for restart dumps, 2006).
// Checkpoints and restarts may fail, too; nobody waits for a spare machine.
#include <cstdint>
#include <optional>

#include "run/summary.hpp"
#include "scenario/scenario.hpp"

namespace stepsim::study {

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

// Sets the figures of /job from iteration_time_s and samples_per_s. Returns false, and leaves some
// of them out, where machines fail so often that the training takes longer than numbers tell.
[[nodiscard]] bool fill_job(const Job& job, std::int64_t machines, std::int64_t gpus,
                            Summary& summary);

} // namespace stepsim::study
