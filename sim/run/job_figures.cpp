#include "run/run_figures.hpp"

namespace stepsim::study {

namespace {

// With x = tau/M and d = delta/M, T_wall is least where (1 - x) e^(x + d) = 1, that is where
// -ln(1 - x) - x = d, whose left side grows and is convex. Newton's method comes down to x from
// sqrt(2 d), Young's interval, or from 1 - e^(-1 - d), which both lie above.
double best_interval(double d) {
  double x = std::min(std::sqrt(2 * d), -std::expm1(-1 - d));
  for (int step = 0; step < 100 && x < 1; ++step) {
    const double next = x - (-std::log1p(-x) - x - d) * (1 - x) / x;
    if (!(next < x) || next <= 0) {
      break;
    }
    x = next;
  }
  return x;
}

} // namespace

Checkpointing best_checkpointing(const Failures& failures, std::optional<double> work_s) {
  const double mtbf = failures.mtbf_s;
  const double d = failures.checkpoint_s / mtbf;
  double x = best_interval(d);
  x = work_s ? std::min(x, *work_s / mtbf) : x;
  const double share = x > 0 ? x / std::expm1(x + d) : 1; // 0 where 1/M is nothing
  return {.interval_s = x * mtbf, .goodput = std::exp(-failures.restart_s / mtbf) * share};
}

std::int64_t machines_of(const Scenario& scenario) {
  const collectives::Options& options = scenario.communication.options;
  const bool servers =
      needs_servers(scenario.training.algorithm) ||
      scenario.communication.collective == collectives::AlgorithmId::parameter_server;
  return scenario.cluster.nodes +
         (servers && options.placement == collectives::Placement::dedicated ? options.servers : 0);
}

bool fill_job(const Job& job, std::int64_t machines, std::int64_t gpus, Summary& summary) {
  const std::optional<double> samples =
      job.tokens    ? static_cast<double>(*job.tokens) / static_cast<double>(*job.tokens_per_sample)
      : job.samples ? std::optional(static_cast<double>(*job.samples))
                    : std::nullopt;
  std::optional<double> time;
  if (samples && summary.samples_per_s) {
    // A whole number, but for the rounding of the rate.
    const double of_step = std::round(*summary.samples_per_s * step_of(summary));
    summary.steps_to_finish = std::ceil(*samples / of_step);
    time = *summary.steps_to_finish * step_of(summary);
  }
  if (job.node_mtbf_s) {
    const Checkpointing best = best_checkpointing(
        {*job.node_mtbf_s / static_cast<double>(machines), *job.checkpoint_s, *job.restart_s},
        time);
    summary.checkpoint_interval_s = best.interval_s;
    summary.goodput = best.goodput;
    time = time ? std::optional(*time / best.goodput) : std::nullopt;
  }
  if (time && !std::isfinite(*time)) {
    return false;
  }
  summary.time_to_finish_s = time;
  if (time && job.price_per_gpu_hour) {
    summary.cost_usd = *time / 3600 * static_cast<double>(gpus) * *job.price_per_gpu_hour;
  }
  return true;
}

} // namespace stepsim::study
