#pragma once
// Figures of a result that every way of running a scenario adds: work, speed-up, staleness, the
// interval of a mean, warnings.
#include <cstdint>

#include "base/mean_interval.hpp"
#include "plan/problem.hpp"
#include "run/result.hpp"
#include "train/step/parameter_server.hpp"

namespace stepsim::study {

// From this share of the iteration on, waiting for slower workers is the bottleneck.
inline constexpr double kStragglerShare = 0.1;

// Warnings of the workload, the scenario, the plan and the calibration's range.
void add_common_warnings(const Scenario& scenario, const plan::Plan& plan, Result& result);

// compute_low_s and compute_high_s, from compute_s and its parts; nothing where times are not
// estimated. The codec, and an update that the scenario gives, are not.
void fill_compute_interval(const Scenario& scenario, Summary& summary);
// forward_s, backward_s and update_s of the workload, with `codec_s` codec_compute_s and compute_s;
// in proportion, so that all of them add up to `compute_s`, what the run spends on computing.
void fill_work(const Scenario& scenario, double codec_s, double compute_s, Summary& summary);

// First iterations that the means of a run whose periods differ leave out.
[[nodiscard]] std::int64_t discarded_iterations(const Scenario& scenario);

// The iteration of one worker alone with the factors drawn in iterations first..last (from 0).
// `to_next_backward`: as synchronous steps count, else forward and backward belong together.
[[nodiscard]] double alone_seconds(const Scenario& scenario, std::int64_t first, std::int64_t last,
                                   bool to_next_backward);

// communication_s, exposed_communication_s and overlap_fraction, 1 where nothing is sent.
void fill_communication(double communication_s, double exposed_s, Summary& summary);
// staleness_mean, _max and _histogram.
void fill_staleness(const train::StalenessCounts& staleness, Summary& summary);

// speedup, scaling_efficiency and samples_per_s of workers that each take `period_s` per iteration,
// against one worker that takes `single_s`. The efficiency is at most 1: a mean over few iterations
// may leave out work that the baseline has, which is at most the period then.
void fill_speedup(const Scenario& scenario, double single_s, double period_s, Summary& summary);

// 95 % interval of the iteration time, by the means of up to 20 batches of result.iterations
// without the discarded ones; nothing without random factors or with fewer than two iterations
// left.
void fill_interval(const Scenario& scenario, Result& result);

// The interval, but not below what the slowest worker (asynchronous: the fastest) computes with the
// least factor of the law, and not above or below the mean.
void set_interval(const Scenario& scenario, base::Interval interval, Summary& summary);

} // namespace stepsim::study
