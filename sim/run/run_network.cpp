// Runs whose messages go through the simulated network one by one (PKT 7, 8): what a job measured
// becomes the result. Several jobs share the network.
#include "run/run_network.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "collectives/choose.hpp"
#include "collectives/evaluate/traffic.hpp"
#include "programs/step/step.hpp"
#include "run/bucket_cost.hpp"
#include "run/network_figures.hpp"
#include "run/network_result.hpp"
#include "run/network_setup.hpp"
#include "run/period_bound.hpp"
#include "run/planned_messages.hpp"
#include "run/result_lists.hpp"
#include "run/run_figures.hpp"
#include "run/verdict.hpp"

namespace stepsim::study {

namespace {

template <class Value> double mean_of(std::span<const programs::JobIteration> runs, Value value) {
  double sum = 0;
  for (const programs::JobIteration& run : runs) {
    sum += value(run);
  }
  return sum / static_cast<double>(runs.size());
}

double bytes_sent(const Scenario& scenario, const programs::NetworkJob& job) {
  double most = 0;
  for (const programs::JobPiece& piece : job.pieces) {
    collectives::Collective collective = exchange_of(scenario);
    collective.bytes = static_cast<double>(piece.bytes);
    most += collectives::traffic(collectives::with_chosen_algorithm(collective)).max_per_rank;
  }
  return most;
}

// Messages of the last iteration that follow each other up to the end of the exchange.
double chained_s(const programs::JobResult& job) {
  std::vector<programs::Sent> sent;
  double until = 0;
  for (const auto& piece : job.pieces) {
    sent.push_back({piece.start_s, piece.end_s});
    until = std::max(until, piece.end_s);
  }
  return programs::chained_s(std::move(sent), until);
}

void fill_summary(const Scenario& scenario, const buckets::Plan& plan,
                  const programs::NetworkJob& planned, const programs::JobResult& job,
                  Result& result) {
  Summary& summary = result.summary;
  const std::size_t first = first_steady(scenario, job.iterations);
  const auto steady = std::span(job.iterations).subspan(first);
  using Run = programs::JobIteration;
  const double period = mean_of(steady, [](const Run& run) { return run.period_s; });
  summary.iteration_time_s = period;
  const double work = mean_of(steady, [](const Run& run) { return run.mean_work_s; });
  const double compute = mean_of(steady, [](const Run& run) { return run.compute_s; });
  constexpr double kRounding = 1e-9; // times count from the start of the run
  // Where the difference is rounding the exact number is taken, so that equal workers wait for
  // nobody.
  double codec_s = 0;
  for (const programs::JobPiece& piece : planned.pieces) {
    codec_s += piece.encode_s + piece.decode_s;
  }
  fill_work(scenario, codec_s, std::abs(compute - work) > kRounding * period ? compute : work,
            summary);
  fill_communication(mean_of(steady, [](const Run& run) { return run.communication_s; }),
                     mean_of(steady, [](const Run& run) { return run.exposed_s; }), summary);
  summary.straggler_wait_s = std::max(0.0, *summary.compute_s - work);
  summary.makespan_s = job.iterations.back().end_s;
  summary.wire_bytes = exchanges(scenario) ? bytes_sent(scenario, planned) : 0;
  summary.staleness_mean = 0;
  summary.staleness_max = 0;
  fill_speedup(scenario,
               alone_seconds(scenario, jitter_of(scenario), static_cast<std::int64_t>(first),
                             static_cast<std::int64_t>(job.iterations.size()) - 1, true),
               period, summary);
  if (!is_compressed(scenario) && !scenario.variability.random()) {
    const double slowest = jitter_of(scenario).slowest();
    if (const auto bound = period_lower_bound(scenario, planned_problem(scenario), slowest)) {
      summary.lower_bound_s = bound_of(*bound, period);
    }
  }
  fill_messages(job, first, summary);
  fill_loss(scenario, steady, summary);
  summary.bottleneck = verdict(
      summary, [&] { return chained_s(job); },
      [&] {
        BucketCosts costs(scenario, std::nullopt);
        std::vector<BucketCost> all;
        for (const buckets::Group& group : plan.groups) {
          all.push_back(costs(group));
        }
        return largest_on_network(scenario, plan, all, result.links);
      });
}

// Buckets are shown as they were in the last iteration, which is the steadiest one.
void fill_lists(const Scenario& scenario, const buckets::Plan& plan,
                collectives::AlgorithmId algorithm, const programs::JobResult& job,
                Result& result) {
  const programs::JobIteration& last = job.iterations.back();
  BucketCost plain;
  plain.algorithm = is_compressed(scenario)
                        ? collectives::row(scenario.communication.compression.method).name
                        : collectives::name(algorithm);
  result.buckets =
      plain_buckets(scenario, plan, std::vector<BucketCost>(plan.groups.size(), plain));
  for (std::size_t g = 0; g < result.buckets.size(); ++g) {
    Bucket& bucket = result.buckets[g];
    bucket.ready_s = job.pieces[g].ready_s - last.start_s;
    bucket.start_s = job.pieces[g].start_s - last.start_s;
    bucket.end_s = job.pieces[g].end_s - last.start_s;
    bucket.exposed_s =
        std::max(0.0, job.pieces[g].end_s - std::max(job.pieces[g].start_s, last.compute_end_s));
  }
  for (const programs::JobIteration& run : job.iterations) {
    result.iterations.push_back(
        {.index = static_cast<std::int64_t>(result.iterations.size()),
         .start_s = run.start_s,
         .compute_end_s = run.compute_end_s,
         .exchange_start_s = run.exchange_start_s,
         .exchange_end_s = run.exchange_end_s,
         .iteration_time_s = run.period_s,
         .exposed_communication_s = run.exposed_s,
         .applied_gradient = static_cast<std::int64_t>(result.iterations.size()),
         .density = {},
         .k = {},
         .loss_fraction = lost_part(static_cast<double>(run.gradient_lost_bytes),
                                    static_cast<double>(run.gradient_bytes))});
  }
}

} // namespace

Result run_network(const Scenario& scenario) {
  const std::size_t jobs = 1 + scenario.other_jobs.size();
  std::vector<PlannedJob> planned;
  std::vector<programs::NetworkJob> all;
  for (std::size_t j = 0; j < jobs; ++j) {
    planned.push_back(planned_job(jobs == 1 ? scenario : scenario_of_job(scenario, j)));
    all.push_back(planned.back().job);
  }
  const programs::JobsResult run = programs::run_network_jobs(network_of(scenario), all);

  // Everything but `jobs` and the links is of the first job.
  const Scenario first = jobs == 1 ? scenario : scenario_of_job(scenario, 0);
  const buckets::Plan& plan = planned.front().plan;
  const programs::JobResult& job = run.jobs.front();
  Result result;
  result.scenario = scenario;
  result.method = collectives::name(collectives::Method::events);
  result.events = run.events;
  const bool packets = scenario.cluster.network.model == NetworkModel::packet;
  if (packets) {
    result.packet_hops = run.packet_hops;
  }
  add_common_warnings(first, plan, result);
  warn_of_idle_servers(first, plan.groups.size(), result);
  result.links = links_of(scenario.cluster.fabric->fabric(), run);
  fill_summary(first, plan, all.front(), job, result);
  fill_lists(first, plan, all.front().collective.algorithm, job, result);
  if (packets) {
    fill_tensors(job, job.iterations.back().start_s, result);
  }
  fill_interval(first, result);
  warn_below_bound(scenario,
                   first.workload.forward().value + first.workload.backward().value +
                       first.training.update.value,
                   result);
  if (jobs > 1) {
    result.jobs = times_of_jobs(scenario, all, run);
  } else {
    keep_messages(job, result);
  }
  return result;
}

} // namespace stepsim::study
