// parameter_server, modes async and ssp: nobody waits for anybody (PIP 3.3), or only for workers
// that are too far behind (TRN 4.7).
#include "run/run_program.hpp"

#include "run/network_figures.hpp"
#include "run/planned_messages.hpp"
#include "run/run.hpp"
#include "run/run_figures.hpp"
#include "scenario/node_counts.hpp"

namespace stepsim::study {

namespace {

programs::AsyncInput input_of(const Scenario& scenario, ServerExchange exchange) {
  // Between the GPUs of one machine messages take its own link, and share no interface.
  if (collectives::Links& links = exchange.server.links;
      links.two_level && links.two_level->gpus_per_node >= exchange.server.ranks &&
      exchange.server.options.placement != collectives::Placement::dedicated) {
    links.all = links.two_level->intra;
    links.two_level.reset();
  }
  programs::AsyncInput input;
  input.workers = static_cast<std::uint32_t>(scenario.cluster.exchange_ranks());
  input.iterations = scenario.training.iterations;
  input.compute_s = scenario.workload.forward().value + scenario.workload.backward().value +
                    scenario.training.update.value + exchange.codec_s;
  // With a server on every worker the worker's own part of a message stays there.
  const bool own = exchange.server.options.placement == collectives::Placement::sharded;
  const double wire_s = exchange.push_s() * (own ? 1 - 1.0 / input.workers : 1);
  // A server decodes the push, adds it, and encodes the weights that it sends back.
  input.link = {.latency_s = exchange.server.links.all.startup_s(),
                .push_s = wire_s,
                .pull_s = wire_s,
                .add_s = exchange.add_s() + exchange.encode_s()};
  input.servers = scenario.communication.options.servers;
  // Workers of a node share its interfaces, which then carry more gradients than a server's port.
  input.interface_share = collectives::ranks_per_interface(exchange.server) / input.workers;
  input.serial = scenario.training.serial_server;
  input.staleness_bound = scenario.training.staleness_bound;
  input.variability = scenario.variability;
  return input;
}

// Worker 0, from weights to weights.
std::vector<Iteration> iterations_of_first_worker(const programs::AsyncTimes& times,
                                                  double latency_s) {
  std::vector<Iteration> iterations;
  double start = 0;
  for (const programs::AsyncUpdate& update : times.updates) {
    if (update.worker != 0) {
      continue;
    }
    // A push leaves when its gradient is ready and reaches the server's port a latency later.
    const double computed = update.arrive_s - latency_s;
    const auto index = static_cast<std::int64_t>(iterations.size());
    iterations.push_back({.index = index,
                          .start_s = start,
                          .compute_end_s = computed,
                          .exchange_start_s = computed,
                          .exchange_end_s = update.received_s,
                          .iteration_time_s = update.received_s - start,
                          .exposed_communication_s = update.received_s - computed,
                          .applied_gradient = index});
    start = update.received_s;
  }
  return iterations;
}

// From the push that is handed over to new weights, in the second half of the updates.
double mean_round_trip(const programs::AsyncTimes& times) {
  const std::size_t first = times.updates.size() / 2;
  double sum = 0;
  for (std::size_t i = first; i < times.updates.size(); ++i) {
    sum += times.updates[i].received_s - times.updates[i].arrive_s;
  }
  return sum / static_cast<double>(times.updates.size() - first);
}

// Workers send all gradients at once, but servers may have whole tensors of them. All messages have
// the class of the first piece.
programs::NetworkJob job_of(const Scenario& scenario, const programs::AsyncInput& input,
                            const ServerExchange& exchange) {
  programs::NetworkJob job;
  job.value_bytes = served_value_bytes(scenario);
  job.iterations = input.iterations;
  job.workers = input.workers;
  job.hosts = scenario.cluster.fabric->hosts;
  job.servers = servers_of(scenario);
  job.servers->async = {.compute_s = input.compute_s,
                        .variability = input.variability,
                        .staleness_bound = input.staleness_bound};
  const MessageClasses classes(scenario.cluster.network.packet, layer_bytes(scenario));
  const buckets::Problem problem = planned_problem(scenario);
  const bool tensors = job.servers->whole && !is_compressed(scenario);
  const buckets::Plan plan = tensors ? buckets::make_plan(problem, buckets::Schedule::wfbp, {})
                                     : plan_of(scenario, problem);
  std::vector<std::uint32_t> layers;
  for (const buckets::Group& group : plan.groups) {
    for (const std::uint32_t item : group.items) {
      layers.push_back(scenario.workload.gradients[item].layer);
    }
    job.pieces.emplace_back().bytes = group.bytes.value;
  }
  if (is_compressed(scenario)) {
    job.pieces.resize(1);
    job.pieces.front().bytes = std::llround(exchange.server.bytes);
  }
  for (programs::JobPiece& piece : job.pieces) { // a push has all of them
    piece.message_class = classes.of_layers(layers);
  }
  return job;
}

// The job on the simulated network, and what became of its messages.
programs::AsyncTimes on_network(const Scenario& scenario, const programs::AsyncInput& input,
                                const ServerExchange& exchange, Result& result) {
  const programs::NetworkJob made = job_of(scenario, input, exchange);
  programs::JobsResult run = programs::run_network_jobs(network_of(scenario), {&made, 1});
  check_faults(scenario, {&made, 1}, run);
  programs::JobResult& job = run.jobs.front();
  result.events = run.events;
  if (scenario.cluster.network.model == NetworkModel::packet) {
    result.packet_hops = run.packet_hops;
  }
  result.links = links_of(scenario.cluster.fabric->fabric(), run);
  warn_of_idle_servers(scenario, made.pieces.size(), result);
  fill_messages(job, 0, result.summary);
  fill_loss(job.iterations, 0, result.summary);
  result.summary.effective_loss = result.summary.loss_fraction; // a message is of one worker
  result.messages = std::move(job.messages);
  return programs::async_times(input, std::move(run.jobs.front().updates));
}

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

programs::AsyncInput async_input(const Scenario& scenario) {
  const Scenario decides = deciding(scenario);
  return input_of(decides, server_exchange(decides));
}

Result run_async_server(const Scenario& scenario) {
  const bool simulated = simulates_messages(scenario);
  const bool star = is_star(scenario); // whose links have the times of alpha_beta
  const ServerExchange exchange = server_exchange(star ? on_alpha_beta(scenario) : scenario);
  const programs::AsyncInput input = input_of(scenario, exchange);
  Result result;
  const programs::AsyncTimes times =
      simulated ? on_network(scenario, input, exchange, result) : programs::run_async(input);

  result.scenario = scenario;
  result.method = collectives::name(collectives::Method::events);
  if (!simulated) {
    result.events = times.updates.size() * 3; // arrivals at the three stations
  }
  Summary& summary = result.summary;
  summary.iteration_time_s = times.period_s;
  const bool varies = scenario.variability.varies();
  const double layers = (scenario.workload.forward() + scenario.workload.backward()).value;
  summary.forward_s = scenario.workload.forward().value;
  summary.backward_s = scenario.workload.backward().value;
  summary.update_s = scenario.training.update.value;
  summary.codec_compute_s = exchange.codec_s;
  summary.compute_s = layers + *summary.update_s + exchange.codec_s;
  const double computing = varies ? times.compute_s : input.compute_s;
  if (*summary.compute_s > 0) {
    stretch_computing(computing / *summary.compute_s, summary);
  }
  summary.compute_s = computing; // to the last digit
  // A worker that waits behind others at the server is in its exchange, too (TRN 2.6).
  const double round_trip = simulated ? mean_round_trip(times) : input.round_trip_s();
  const double exposed = std::max(0.0, times.period_s - *summary.compute_s);
  fill_communication(std::max(round_trip, exposed), exposed, summary);
  summary.straggler_wait_s = times.held_s;
  summary.makespan_s = times.makespan_s;
  if (!varies && !input.staleness_bound && !simulated) {
    summary.closed_form_s = programs::async_period(input);
  }
  summary.wire_bytes = collectives::most_sent(exchange.server);
  // One worker alone encodes nothing, and its layers are as fast as those of one.
  const double single =
      input.compute_s - exchange.codec_s - (1 - scenario.conditions.alone) * layers;
  const double varied = input.compute_s > 0 ? times.alone_compute_s / input.compute_s : 1;
  fill_speedup(scenario, varies ? single * varied : single, times.period_s, summary);
  fill_staleness(times.staleness, summary);
  fill_memory(unsharded_memory(scenario, scenario.cluster.ranks(), summary), scenario.cluster,
              summary);
  summary.in_flight_gradients = 0;
  // The server is the bottleneck if the slowest of its three stations, or the one that they are, is
  // busy all the time. A per cent is left for the start of the run, where it is not.
  const bool saturated = input.station_s() >= 0.99 * times.period_s;
  const std::string_view largest = largest_of({.latency_s = 2 * input.link.latency_s,
                                               .bandwidth_s = input.link.push_s + input.link.pull_s,
                                               .reduction_s = input.link.add_s / input.servers});
  const bool adds = input.link.add_s > std::max(input.link.push_s, input.link.pull_s);
  const bool routed = simulated && !star; // over links that have no single latency and bandwidth
  const bool computes = *summary.compute_s >= (routed ? round_trip : input.round_trip_s());
  const bool serves = routed ? !computes && server_is_busiest(scenario, result.links) : saturated;
  summary.bottleneck = serves ? (adds ? "reduction" : "server") : computes ? "compute" : largest;
  add_common_warnings(scenario, {}, result);
  result.warnings.emplace_back(
      (input.staleness_bound ? std::string("stale synchronous") : std::string("asynchronous")) +
      ": an iteration of one worker; gradients are applied to later weights than they were "
      "computed on, accuracy is not modelled");
  result.iterations = iterations_of_first_worker(times, simulated ? 0 : input.link.latency_s);
  for (std::uint32_t w = 0; varies && w < times.workers.size(); ++w) {
    const programs::AsyncTimes::Worker& worker = times.workers[w];
    result.workers.push_back({.worker = w,
                              .compute_s = worker.compute_s,
                              .straggler_wait_s = worker.held_s,
                              .transfer_s = std::max(0.0, worker.wait_s - worker.held_s)});
  }
  fill_interval(scenario, result);
  // The closed form with mean times is the bound that random times may undercut.
  warn_below_bound(scenario, programs::async_period(input), result);
  return result;
}

// Synchronous servers whose workers differ: a server takes each push as it comes, and all workers
// have the weights at the end of the last pull (PIP 3.2).

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
