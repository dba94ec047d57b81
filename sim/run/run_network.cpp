// Runs whose messages go through the simulated network one by one (PKT 7, 8): what a job measured
// becomes the result. Several jobs share the network.
#include "run/run_network.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "coll/choose.hpp"
#include "coll/evaluate/traffic.hpp"
#include "run/bucket_cost.hpp"
#include "run/network_result.hpp"
#include "run/network_setup.hpp"
#include "run/period_bound.hpp"
#include "run/result_lists.hpp"
#include "run/run_figures.hpp"

namespace stepsim::study {

namespace {

// The first steady iteration: without jitter all periods are equal unless the network remembers.
std::size_t first_steady(const Scenario& scenario, const std::vector<train::JobIteration>& runs) {
  if (scenario.training.discard_iterations) {
    return static_cast<std::size_t>(*scenario.training.discard_iterations);
  }
  constexpr double kRounding = 1e-9;
  const double first = runs.front().period_s;
  const bool differ = std::ranges::any_of(runs, [&](const train::JobIteration& run) {
    return std::abs(run.period_s - first) > kRounding * first;
  });
  return differ && runs.size() > 1 ? 1 : 0;
}

template <class Value> double mean_of(std::span<const train::JobIteration> runs, Value value) {
  double sum = 0;
  for (const train::JobIteration& run : runs) {
    sum += value(run);
  }
  return sum / static_cast<double>(runs.size());
}

// No bytes were sent, so that none of them was lost; null says so and 0 would claim a measurement.
std::optional<double> ratio(double part, double whole) {
  return whole > 0 ? std::optional(part / whole) : std::nullopt;
}

// Messages of the discarded first iterations are left out, as in every other mean.
void fill_messages(const train::JobResult& job, std::size_t first, Summary& summary) {
  std::vector<double> seconds;
  for (const train::JobMessage& message : job.messages) {
    if (message.iteration >= static_cast<std::int64_t>(first)) {
      seconds.push_back(message.end_s - message.start_s);
    }
  }
  if (const auto fct = flow_statistics(std::move(seconds))) {
    summary.fct_mean_s = fct->mean_s;
    summary.fct_p50_s = fct->p50_s;
    summary.fct_p95_s = fct->p95_s;
    summary.fct_p99_s = fct->p99_s;
    summary.fct_max_s = fct->max_s;
  }
}

void fill_loss(const Scenario& scenario, std::span<const train::JobIteration> steady,
               Summary& summary) {
  const auto total = [&](auto member) {
    double sum = 0;
    for (const train::JobIteration& run : steady) {
      sum += static_cast<double>(run.*member);
    }
    return sum;
  };
  using Run = train::JobIteration;
  summary.loss_fraction = ratio(total(&Run::gradient_lost_bytes), total(&Run::gradient_bytes));
  summary.stale_fraction = ratio(total(&Run::parameter_lost_bytes), total(&Run::parameter_bytes));
  // A lost packet of a ring takes the contributions of all ranks that were added to it before; with
  // servers it takes one. Other algorithms are not traced.
  const bool ring = scenario.communication.collective == coll::AlgorithmId::ring;
  if (ring || has_servers(scenario)) {
    const double contributions = static_cast<double>(scenario.workload.bytes().value) *
                                 static_cast<double>(scenario.cluster.ranks()) *
                                 static_cast<double>(steady.size());
    summary.effective_loss = ratio(total(&Run::lost_contributions), contributions);
  }
}

// On a network of links there is no single latency or start-up to name: either workers compute
// longer than messages are under way, or the busiest link is one of a server, or it is bandwidth.
std::string bottleneck(const Scenario& scenario, const Summary& summary,
                       const std::vector<LinkResult>& links) {
  if (*summary.communication_s <= *summary.compute_s) {
    return "compute";
  }
  const auto busiest = std::ranges::max_element(links, {}, &LinkResult::utilization);
  if (has_servers(scenario) && busiest != links.end()) {
    const net::RankFabric& fabric = *scenario.cluster.fabric;
    const net::FabricLink& link =
        fabric.fabric().links[static_cast<std::size_t>(busiest - links.begin())];
    const auto servers =
        std::span(fabric.hosts).subspan(static_cast<std::size_t>(scenario.cluster.ranks()));
    if (std::ranges::find(servers, link.from) != servers.end() ||
        std::ranges::find(servers, link.to) != servers.end()) {
      return "server";
    }
  }
  return "bandwidth";
}

double bytes_sent(const Scenario& scenario, const plan::Plan& plan) {
  double most = 0;
  for (const plan::Group& group : plan.groups) {
    coll::Collective collective = exchange_of(scenario);
    collective.bytes = static_cast<double>(group.bytes.value);
    most += coll::traffic(coll::with_chosen_algorithm(collective)).max_per_rank;
  }
  return most;
}

void fill_summary(const Scenario& scenario, const plan::Plan& plan, const train::JobResult& job,
                  Result& result) {
  Summary& summary = result.summary;
  const std::size_t first = first_steady(scenario, job.iterations);
  const auto steady = std::span(job.iterations).subspan(first);
  using Run = train::JobIteration;
  const double period = mean_of(steady, [](const Run& run) { return run.period_s; });
  summary.iteration_time_s = period;
  const double work = mean_of(steady, [](const Run& run) { return run.mean_work_s; });
  const double compute = mean_of(steady, [](const Run& run) { return run.compute_s; });
  constexpr double kRounding = 1e-9; // times count from the start of the run
  // Where the difference is rounding the exact number is taken, so that equal workers wait for
  // nobody.
  fill_work(scenario, 0, std::abs(compute - work) > kRounding * period ? compute : work, summary);
  fill_communication(mean_of(steady, [](const Run& run) { return run.communication_s; }),
                     mean_of(steady, [](const Run& run) { return run.exposed_s; }), summary);
  summary.straggler_wait_s = std::max(0.0, *summary.compute_s - work);
  summary.makespan_s = job.iterations.back().end_s;
  summary.wire_bytes = exchanges(scenario) ? bytes_sent(scenario, plan) : 0;
  summary.staleness_mean = 0;
  summary.staleness_max = 0;
  fill_speedup(scenario,
               alone_seconds(scenario, static_cast<std::int64_t>(first),
                             static_cast<std::int64_t>(job.iterations.size()) - 1, true),
               period, summary);
  fill_messages(job, first, summary);
  fill_loss(scenario, steady, summary);
  summary.bottleneck = bottleneck(scenario, summary, result.links);
}

// Buckets are shown as they were in the last iteration, which is the steadiest one.
void fill_lists(const Scenario& scenario, const plan::Plan& plan, coll::AlgorithmId algorithm,
                const train::JobResult& job, Result& result) {
  const train::JobIteration& last = job.iterations.back();
  BucketCost plain;
  plain.algorithm = coll::name(algorithm);
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
  for (const train::JobIteration& run : job.iterations) {
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
         .loss_fraction = ratio(static_cast<double>(run.gradient_lost_bytes),
                                static_cast<double>(run.gradient_bytes))});
  }
}

void fill_tensors(const train::JobResult& job, Result& result) {
  const train::JobIteration& last = job.iterations.back();
  const auto iteration = static_cast<std::int64_t>(job.iterations.size()) - 1;
  // Two entries per bucket, gradients and then parameters; both are sums over all messages of the
  // bucket between whatever ranks.
  result.tensors.resize(2 * job.pieces.size());
  for (std::size_t i = 0; i < result.tensors.size(); ++i) {
    result.tensors[i].bucket = static_cast<std::int64_t>(i / 2);
    result.tensors[i].gradient = i % 2 == 0;
  }
  for (const train::JobMessage& message : job.messages) {
    if (message.iteration != iteration) {
      continue;
    }
    const bool back = message.part == train::MessagePart::parameter;
    TensorResult& tensor = result.tensors[std::size_t{message.piece} * 2 + (back ? 1 : 0)];
    tensor.size_bytes += message.size_bytes;
    tensor.delivered_bytes += message.delivered_bytes;
    tensor.packets += message.packets;
    tensor.delivered_packets += message.delivered_packets;
    tensor.lost_network_bytes += message.lost_network_bytes;
    tensor.lost_stopped_bytes += message.lost_stopped_bytes;
    tensor.wasted_bytes += message.wasted_bytes;
    tensor.retransmissions += message.retransmissions;
    tensor.timeouts += message.timeouts;
    tensor.duplicates += message.duplicates;
    tensor.probe_rounds += message.probe_rounds;
    // The bucket is complete when the last of its messages is.
    tensor.complete_s = std::max(tensor.complete_s, message.end_s - last.start_s);
  }
}

void keep_messages(const train::JobResult& job, Result& result) {
  for (const train::JobMessage& message : job.messages) {
    result.messages.push_back({.iteration = message.iteration,
                               .bucket = message.piece,
                               .src = message.src,
                               .dst = message.dst,
                               .start_s = message.start_s,
                               .end_s = message.end_s});
  }
}

std::vector<LinkResult> links_of(const net::Fabric& fabric, const train::JobsResult& run) {
  std::vector<LinkResult> links;
  for (std::size_t link = 0; link < fabric.links.size(); ++link) {
    links.push_back(run.link_counters.empty()
                        ? link_result(fabric.links[link], run.links[link], run.elapsed_s)
                        : link_result(run.link_counters[link], run.elapsed_s));
  }
  return links;
}

// Every job alone on the network, and all of them together while none has ended.
// Once the first job has ended the others have more of the network; iterations that end later are
// left out of the mean.
std::vector<JobTimes> times_of_jobs(const Scenario& scenario,
                                    const std::vector<PlannedJob>& planned,
                                    const train::JobsResult& together) {
  double first_end = std::numeric_limits<double>::infinity();
  for (const train::JobResult& job : together.jobs) {
    first_end = std::min(first_end, job.iterations.back().end_s);
  }
  // Empty where none is left behind the discarded ones.
  const auto steady_mean =
      [&](const std::vector<train::JobIteration>& runs) -> std::optional<double> {
    const std::size_t first = runs.empty() ? 0 : first_steady(scenario, runs);
    if (first >= runs.size()) {
      return std::nullopt;
    }
    return mean_of(std::span(runs).subspan(first),
                   [](const train::JobIteration& run) { return run.period_s; });
  };
  std::vector<JobTimes> times;
  for (std::size_t j = 0; j < planned.size(); ++j) {
    const train::JobsResult alone =
        train::run_network_jobs(network_of(scenario), std::span(&planned[j].job, 1));
    std::vector<train::JobIteration> shared = together.jobs[j].iterations;
    std::erase_if(shared, [&](const train::JobIteration& run) { return run.end_s > first_end; });
    const Scenario own = scenario_of_job(scenario, j);
    times.push_back({.name = own.workload.name,
                     .nodes = own.cluster.nodes,
                     .together_s = steady_mean(shared),
                     .alone_s = steady_mean(alone.jobs.front().iterations).value_or(0)});
  }
  return times;
}

} // namespace

Result run_network(const Scenario& scenario) {
  const std::size_t jobs = 1 + scenario.other_jobs.size();
  std::vector<PlannedJob> planned;
  std::vector<train::NetworkJob> all;
  for (std::size_t j = 0; j < jobs; ++j) {
    planned.push_back(planned_job(jobs == 1 ? scenario : scenario_of_job(scenario, j)));
    all.push_back(planned.back().job);
  }
  const train::JobsResult run = train::run_network_jobs(network_of(scenario), all);

  // Everything but `jobs` and the links is of the first job.
  const Scenario first = jobs == 1 ? scenario : scenario_of_job(scenario, 0);
  const plan::Plan& plan = planned.front().plan;
  const train::JobResult& job = run.jobs.front();
  Result result;
  result.scenario = scenario;
  result.method = coll::name(coll::Method::events);
  result.events = run.events;
  const bool packets = scenario.cluster.network.model == NetworkModel::packet;
  if (packets) {
    result.packet_hops = run.packet_hops;
  }
  add_common_warnings(first, plan, result);
  if (first.training.whole_split && plan.groups.size() < first.communication.options.servers) {
    result.warnings.push_back("server_split whole: " + std::to_string(plan.groups.size()) +
                              " messages of the schedule for " +
                              std::to_string(first.communication.options.servers) +
                              " servers; the others have nothing to do");
  }
  result.links = links_of(scenario.cluster.fabric->fabric(), run);
  fill_summary(first, plan, job, result);
  fill_lists(first, plan, all.front().collective.algorithm, job, result);
  if (packets) {
    fill_tensors(job, result);
  }
  fill_interval(first, result);
  warn_below_bound(first.workload.forward().value + first.workload.backward().value +
                       first.training.update.value,
                   result);
  if (jobs > 1) {
    result.jobs = times_of_jobs(scenario, planned, run);
  } else {
    keep_messages(job, result);
  }
  return result;
}

} // namespace stepsim::study
