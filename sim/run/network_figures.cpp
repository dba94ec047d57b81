// What became of messages and how links were used, as a result shows it.
#include "run/network_figures.hpp"

#include "run/run_figures.hpp"

namespace stepsim::study {

std::optional<double> lost_part(double part, double whole) {
  return whole > 0 ? std::optional(part / whole) : std::nullopt;
}

// Messages of the discarded first iterations are left out, as in every other mean.
void fill_messages(const programs::JobResult& job, std::size_t first, Summary& summary) {
  std::vector<double> seconds;
  for (const programs::JobMessage& message : job.messages) {
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

void fill_loss(const Scenario& scenario, std::span<const programs::JobIteration> steady,
               Summary& summary) {
  const auto total = [&](auto member) {
    double sum = 0;
    for (const programs::JobIteration& run : steady) {
      sum += static_cast<double>(run.*member);
    }
    return sum;
  };
  using Run = programs::JobIteration;
  summary.loss_fraction = lost_part(total(&Run::gradient_lost_bytes), total(&Run::gradient_bytes));
  summary.stale_fraction =
      lost_part(total(&Run::parameter_lost_bytes), total(&Run::parameter_bytes));
  if (scenario.training.sharding.strategy != ShardingStrategy::none) {
    return; // gradients of other sizes than the workload's
  }
  // A lost packet of a ring takes the contributions of all ranks that were added to it before; with
  // servers it takes one. Other algorithms are not traced.
  const bool ring = scenario.communication.collective == collectives::AlgorithmId::ring;
  if (ring || has_servers(scenario)) {
    const double contributions = static_cast<double>(scenario.workload.bytes().value) *
                                 static_cast<double>(scenario.cluster.ranks()) *
                                 static_cast<double>(steady.size());
    summary.effective_loss = lost_part(total(&Run::lost_contributions), contributions);
  }
}

void fill_tensors(const programs::JobResult& job, std::size_t pieces, Result& result) {
  const Iteration& last = result.iterations.back();
  // Two entries per bucket, gradients and then parameters; both are sums over all messages of the
  // bucket between whatever ranks.
  result.tensors.resize(2 * pieces);
  for (std::size_t i = 0; i < result.tensors.size(); ++i) {
    result.tensors[i].bucket = static_cast<std::int64_t>(i / 2);
    result.tensors[i].gradient = i % 2 == 0;
  }
  for (const programs::JobMessage& message : job.messages) {
    if (message.iteration != last.index) {
      continue;
    }
    const bool back = message.part == programs::MessagePart::parameter;
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

bool server_is_busiest(const Scenario& scenario, const std::vector<LinkResult>& links) {
  const auto busiest = std::ranges::max_element(links, {}, &LinkResult::utilization);
  if (busiest == links.end()) {
    return false;
  }
  const links::RankFabric& fabric = *scenario.cluster.fabric;
  const links::FabricLink& link =
      fabric.fabric().links[static_cast<std::size_t>(busiest - links.begin())];
  const auto servers =
      std::span(fabric.hosts).subspan(static_cast<std::size_t>(scenario.cluster.ranks()));
  return std::ranges::find(servers, link.from) != servers.end() ||
         std::ranges::find(servers, link.to) != servers.end();
}

void warn_of_idle_servers(const Scenario& scenario, std::size_t pieces, Result& result) {
  const std::uint32_t servers = scenario.communication.options.servers;
  if (scenario.training.whole_split && pieces < servers) {
    result.warnings.push_back(
        "server_split whole: " + base::counted(static_cast<std::int64_t>(pieces), "message") +
        " for " + std::to_string(servers) + " servers; the others have nothing to do");
  }
}

std::vector<LinkResult> links_of(const links::Fabric& fabric, const programs::JobsResult& run) {
  std::vector<LinkResult> links;
  for (std::size_t link = 0; link < fabric.links.size(); ++link) {
    links.push_back(run.link_counters.empty()
                        ? link_result(fabric.links[link], run.links[link], run.elapsed_s)
                        : link_result(run.link_counters[link], run.elapsed_s));
  }
  return links;
}

// Once the first job has ended the others have more of the network; their iterations that end later
// are left out of the mean.
std::vector<JobTimes> times_of_jobs(const Scenario& scenario,
                                    std::span<const programs::NetworkJob> jobs,
                                    const programs::JobsResult& together) {
  double first_end = std::numeric_limits<double>::infinity();
  for (const programs::JobResult& job : together.jobs) {
    first_end = std::min(first_end, job.end_s);
  }
  // The iterations of the summary. Empty where none is left.
  const auto mean_until = [&](const programs::JobResult& job, const programs::Program& program,
                              const Window& window, double end_s) -> std::optional<double> {
    double sum = 0;
    std::int64_t count = 0;
    for (std::int64_t i = window.from + 1; i <= window.to; ++i) {
      const programs::JobIteration& each = job.iterations[static_cast<std::size_t>(i)];
      if (each.end_s <= end_s) {
        sum += each.period_s;
        ++count;
      }
    }
    // An iteration of a program may be a round of steps.
    return count > 0 ? std::optional(sum / static_cast<double>(count) / program.steps)
                     : std::nullopt;
  };
  std::vector<JobTimes> times;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const programs::JobsResult alone =
        programs::run_network_jobs(network_of(scenario), jobs.subspan(j, 1));
    const Scenario own = scenario_of_job(scenario, j);
    const programs::Program& program = jobs[j].program->program;
    const Window window = window_of(own, program);
    times.push_back(
        {.name = own.workload.name,
         .nodes = own.cluster.nodes,
         .together_s = mean_until(together.jobs[j], program, window,
                                  together.jobs[j].end_s == first_end ? kNever : first_end),
         .alone_s = mean_until(alone.jobs.front(), program, window, kNever).value_or(0)});
  }
  return times;
}

} // namespace stepsim::study
