// Synchronous servers in one message whose workers differ: a server takes each push as it comes,
// and all workers have the weights at the end of the last pull (PIP 3.2).
#include "run/run_program.hpp"

#include "run/network_figures.hpp"

namespace stepsim::study {

namespace {

// Jitter of an exchange is one factor on all of it: latencies, bytes and additions.
double end_of(collectives::Collective collective, double factor, std::vector<double> enter_s) {
  collective.links.all.scale(factor, factor);
  if (collective.links.two_level) {
    collective.links.two_level->intra.scale(factor, factor);
  }
  collective.reduction_s_per_byte *= factor;
  collective.enter_s = std::move(enter_s);
  return collectives::events(collective).seconds;
}

// Pushes to one server over one kind of link queue at a single port in the order in which they
// come, so that one pass over the sorted times gives the end.
bool by_formula(const ServerExchange& exchange) {
  return exchange.servers == 1 && !exchange.server.links.two_level;
}

// The end of the last pull, from the same origin as the times at which workers are ready.
double end_of(const ServerExchange& exchange, double factor, std::vector<double> ready_s) {
  // Workers agree on scales before they push; that ends for all of them at once.
  for (const collectives::Collective& each : exchange.before) {
    ready_s.assign(ready_s.size(), end_of(each, factor, ready_s));
  }
  const collectives::Collective& server = exchange.server;
  const double rest = factor * (exchange.encode_s / exchange.servers + exchange.extra_s);
  if (by_formula(exchange)) {
    const programs::ServerLink link{.latency_s = server.links.all.startup_s() * factor,
                                    .push_s = exchange.push_s() * factor,
                                    .pull_s = exchange.push_s() * factor,
                                    .add_s = exchange.add_s() * factor};
    const bool colocated = server.options.placement != collectives::Placement::dedicated;
    return programs::server_round_end(std::move(ready_s), link, colocated) + rest;
  }
  return end_of(server, factor, std::move(ready_s)) + rest;
}

} // namespace

// All that the model of rounds knows: one message, real links, the schedule itself and more than
// one worker.
bool has_server_rounds(const Scenario& scenario) {
  const Communication& communication = scenario.communication;
  return scenario.training.algorithm == TrainingAlgorithm::parameter_server &&
         !scenario.training.async() && scenario.variability.varies() &&
         !simulates_messages(scenario) && scenario.workload.bytes().value > 0 &&
         communication.schedule == buckets::Schedule::single && !scenario.cluster.network.curve &&
         scenario.cluster.ranks() > 1 && !scenario.cluster.machines_push &&
         communication.options.cost_form == collectives::CostForm::exact;
}

bool needs_server_rounds(const Scenario& scenario) {
  return has_server_rounds(scenario) &&
         scenario.method.value_or(collectives::Method::events) == collectives::Method::events;
}

programs::EachRule server_rule(const Scenario& scenario) {
  if (!needs_server_rounds(scenario)) {
    return {};
  }
  return [exchange = server_exchange(scenario)](const programs::Operation&, double factor,
                                                std::span<const double> enter_s,
                                                std::span<double> leave_s) {
    const double origin = *std::ranges::min_element(enter_s); // keeps times small, and their digits
    std::vector<double> ready_s(enter_s.begin(), enter_s.end());
    for (double& each : ready_s) {
      each -= origin;
    }
    std::ranges::fill(leave_s, origin + end_of(exchange, factor, std::move(ready_s)));
  };
}

std::uint64_t round_events(const Scenario& scenario) {
  const ServerExchange exchange = server_exchange(scenario);
  std::uint64_t events = by_formula(exchange) ? 0 : collectives::events(exchange.server).events;
  for (const collectives::Collective& each : exchange.before) {
    events += collectives::events(each).events;
  }
  return events;
}

} // namespace stepsim::study
