// Synchronous servers whose workers differ: a server takes each push as it comes, and all workers
// have the weights at the end of the last pull (PIP 3.2).
#include "run/run_program.hpp"

#include "run/network_figures.hpp"
#include "scenario/node_counts.hpp"

namespace stepsim::study {

namespace {

// Pushes to one server over one kind of link queue at a single port in the order in which they
// come, so that one pass over the sorted times gives the end.
bool by_formula(const ServerExchange& exchange) {
  return exchange.server.options.servers == 1 &&
         exchange.server.options.placement != collectives::Placement::sharded &&
         !exchange.server.links.two_level;
}

// The end of the last pull, from the same origin as the times at which workers are ready.
double end_of(const ServerExchange& exchange, std::vector<double> ready_s) {
  // Workers agree on scales before they push; that ends for all of them at once.
  for (collectives::Collective each : exchange.before) {
    each.enter_s = std::move(ready_s);
    ready_s.assign(each.enter_s.size(), collectives::events(each).seconds);
  }
  if (by_formula(exchange)) {
    const programs::ServerLink link{.latency_s = exchange.server.links.all.startup_s(),
                                    .push_s = exchange.push_s(),
                                    .pull_s = exchange.push_s(),
                                    .add_s = exchange.add_s()};
    const bool colocated = exchange.server.options.placement != collectives::Placement::dedicated;
    return programs::server_round_end(std::move(ready_s), link, colocated) + exchange.encode_s() +
           exchange.extra_s;
  }
  collectives::Collective server = exchange.server;
  server.enter_s = std::move(ready_s);
  return collectives::events(server).seconds + exchange.extra_s;
}

// Whether every message waits for the one before it, on all workers.
bool sends_in_line(const Scenario& scenario) {
  const Training& training = scenario.training;
  const Communication& communication = scenario.communication;
  return training.algorithm == TrainingAlgorithm::easgd
             ? !training.overlap.any()
             : training.algorithm == TrainingAlgorithm::parameter_server && !training.async() &&
                   buckets::planner(communication.schedule)
                       .one_channel(communication.schedule_options);
}

// [unit]
std::vector<ServerExchange> exchanges_of(const Scenario& scenario, const ScenarioProgram& made) {
  std::vector<ServerExchange> exchanges(made.plan.groups.size());
  for (std::uint32_t unit = 0; unit < exchanges.size(); ++unit) {
    const std::uint32_t like = made.like(unit);
    exchanges[unit] =
        like == unit ? server_exchange(scenario, made.plan.groups[unit]) : exchanges[like];
  }
  return exchanges;
}

// The ranks of each machine, where servers see a machine as one worker; else none.
std::vector<std::uint32_t> machines_of(const Cluster& cluster) {
  if (!cluster.machines_push) {
    return {};
  }
  std::vector<std::uint32_t> counts =
      domain_ranks(cluster.ranks_per_node, cluster.nvlink_domain_nodes);
  const auto machines = static_cast<std::size_t>(cluster.exchange_ranks());
  counts.resize(machines, static_cast<std::uint32_t>(cluster.gpus_of_domain())); // equal ones
  return counts;
}

// A machine is ready when the last of its ranks is.
std::vector<double> ready_times(std::span<const std::uint32_t> machines,
                                std::span<const double> enter_s) {
  if (machines.empty()) {
    return {enter_s.begin(), enter_s.end()};
  }
  std::vector<double> ready_s;
  for (const std::uint32_t ranks : machines) {
    ready_s.push_back(std::ranges::max(enter_s.first(ranks)));
    enter_s = enter_s.subspan(ranks);
  }
  return ready_s;
}

} // namespace

// All that the model of rounds knows: real links, messages in line and more than one worker.
bool has_server_rounds(const Scenario& scenario) {
  return sends_in_line(scenario) && scenario.variability.varies() &&
         !simulates_messages(scenario) && scenario.workload.bytes().value > 0 &&
         !scenario.cluster.network.curve && scenario.cluster.ranks() > 1 &&
         scenario.communication.options.cost_form == collectives::CostForm::exact;
}

bool needs_server_rounds(const Scenario& scenario) {
  return has_server_rounds(scenario) &&
         scenario.method.value_or(collectives::Method::events) == collectives::Method::events;
}

programs::EachRule server_rule(const Scenario& scenario, const ScenarioProgram& made) {
  if (!needs_server_rounds(scenario)) {
    return {};
  }
  // The factor is one on latencies, bytes and additions, so that workers which come 1 s apart at a
  // server that is twice as slow are as if they came 0.5 s apart.
  return [exchanges = exchanges_of(scenario, made), machines = machines_of(scenario.cluster)](
             const programs::Operation& exchange, double factor, std::span<const double> enter_s,
             std::span<double> leave_s) {
    constexpr double kNoTime = 1e-30;
    const double slower = std::max(factor, kNoTime);
    const double origin = *std::ranges::min_element(enter_s); // keeps times small, and their digits
    std::vector<double> ready_s = ready_times(machines, enter_s);
    for (double& each : ready_s) {
      each = (each - origin) / slower;
    }
    const ServerExchange& message = exchanges[static_cast<std::size_t>(exchange.unit)];
    std::ranges::fill(leave_s, origin + slower * end_of(message, std::move(ready_s)));
  };
}

std::uint64_t round_events(const Scenario& scenario, const ScenarioProgram& made) {
  const std::vector<ServerExchange> exchanges = exchanges_of(scenario, made);
  std::uint64_t events = 0;
  for (const TimedExchange& timed : made.timed) {
    const ServerExchange& exchange = exchanges[timed.unit];
    events += by_formula(exchange) ? 0 : collectives::events(exchange.server).events;
    for (const collectives::Collective& each : exchange.before) {
      events += collectives::events(each).events;
    }
  }
  return events;
}

} // namespace stepsim::study
