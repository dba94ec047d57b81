// parameter_server, mode sync, in one message, where workers differ: the server takes each push as
// it comes (PIP 3.2). Other synchronous runs are programs with the servers as
// their exchange; this one starts from the same run of equal workers and replaces its times.
//
//   worker w   |lead|...weights are back...| rest |push ...        lead: next forward of layers
//   server                                        |take, add, send|      without a gradient
#include "run/run_program.hpp"

#include "run/network_figures.hpp"
#include "run/planned_messages.hpp"
#include "run/run.hpp"
#include "run/run_figures.hpp"
#include "run/verdict.hpp"
#include "scenario/scenario_sharding.hpp"

namespace stepsim::study {

namespace {

// Jitter of an exchange is one factor on all of it: latencies, bytes and additions.
collectives::Collective slowed(collectives::Collective collective, double factor,
                               std::vector<double> enter_s) {
  collective.links.all.scale(factor, factor);
  if (collective.links.two_level) {
    collective.links.two_level->intra.scale(factor, factor);
  }
  collective.reduction_s_per_byte *= factor;
  collective.enter_s = std::move(enter_s);
  return collective;
}

// End of a round of pushes, sums and pulls, from the same origin as the ready times.
class ServerRounds {
public:
  explicit ServerRounds(const Scenario& scenario) : exchange_(server_exchange(scenario)) {}

  // `factor` multiplies all times of the exchange.
  [[nodiscard]] double end(std::vector<double> ready, double factor) {
    // Workers agree on scales before they push; that ends for all of them at once.
    for (const collectives::Collective& each : exchange_.before) {
      const collectives::Evaluation evaluation = collectives::events(slowed(each, factor, ready));
      events_ += evaluation.events;
      ready.assign(ready.size(), evaluation.seconds);
    }
    const collectives::Collective& server = exchange_.server;
    const double rest = factor * (exchange_.encode_s / exchange_.servers + exchange_.extra_s);
    if (by_formula()) {
      const programs::ServerLink link{.latency_s = server.links.all.startup_s() * factor,
                                      .push_s = exchange_.push_s() * factor,
                                      .pull_s = exchange_.push_s() * factor,
                                      .add_s = exchange_.add_s() * factor};
      const bool colocated = server.options.placement != collectives::Placement::dedicated;
      return programs::server_round_end(std::move(ready), link, colocated) + rest;
    }
    const collectives::Evaluation evaluation =
        collectives::events(slowed(server, factor, std::move(ready)));
    events_ += evaluation.events;
    return evaluation.seconds + rest;
  }
  // One server and one kind of link: pushes queue at a single port in the order in which they come,
  // so that one pass over the sorted times gives the end.
  [[nodiscard]] bool by_formula() const {
    return exchange_.servers == 1 && !exchange_.server.links.two_level;
  }
  [[nodiscard]] std::uint64_t events() const { return events_; }

private:
  ServerExchange exchange_;
  std::uint64_t events_{};
};

// One worker's computing, cut where an exchange waits for it or it for the exchange.
struct Parts {
  double lead_s{}; // forward of the first layers, which have no gradient and wait for nothing
  double rest_s{}; // from the weights to the last gradient
  double tail_s{}; // backward after the last gradient
};

// Only layers in front of the first one with a gradient can run before the weights are back, and
// only their backward goes on after the last gradient has left.
Parts parts_of(const Scenario& scenario, double compute_s) {
  Parts parts;
  std::size_t first = scenario.workload.layers.size();
  for (const layers::Gradient& gradient : scenario.workload.gradients) {
    first = gradient.bytes.value > 0 ? std::min<std::size_t>(first, gradient.layer) : first;
  }
  const Communication& communication = scenario.communication;
  for (std::size_t layer = 0; layer < first; ++layer) {
    const layers::WorkLayer& each = scenario.workload.layers[layer];
    if (communication.next_forward == programs::NextForward::per_layer) {
      parts.lead_s += each.forward.value;
    }
    if (communication.overlap_backward) {
      parts.tail_s += each.backward.value;
    }
  }
  parts.rest_s = compute_s - parts.lead_s - parts.tail_s;
  return parts;
}

// Sums over the iterations that count.
struct Totals {
  std::vector<double> worker_s; // each one's computing
  double compute_s{};           // periods as they would be without exchanges
  double exposed_s{};
  double exchange_factor{}; // of the exchanges
  double rounds_s{};        // of all iterations
};

// The first round follows one that ended at 0, as long as those of equal workers. A period goes
// from the last worker that is ready to the last one that is ready in the next round; without its
// exchange the workers would wait for one another alone.
Totals run_rounds(const Scenario& scenario, const Parts& parts, double exchange_s,
                  ServerRounds& rounds, Result& result) {
  const auto workers = static_cast<std::uint32_t>(scenario.cluster.ranks());
  Totals totals{.worker_s = std::vector<double>(workers)};
  const layers::Jitter jitter(scenario.variability, workers);
  std::vector<double> ready(workers); // from the end of the round before
  for (std::uint32_t w = 0; w < workers; ++w) {
    const double factor = jitter.compute(w, 1);
    ready[w] =
        std::max(0.0, parts.tail_s + parts.lead_s * factor - exchange_s) + parts.rest_s * factor;
  }
  result.iterations.clear();
  double origin = 0;
  // Times are relative to the end of the round before, which keeps them small: in a long run sums
  // from the start would lose digits.
  for (std::int64_t t = 0; t < scenario.training.iterations; ++t) {
    const double first = *std::ranges::min_element(ready);
    const double last = *std::ranges::max_element(ready);
    const double exchange_factor = jitter.exchange(t + 1);
    const double took = rounds.end(ready, exchange_factor);
    double last_without = 0;
    for (std::uint32_t w = 0; w < workers; ++w) {
      const double factor = jitter.compute(w, t + 2);
      const double overlapped = parts.tail_s * jitter.compute(w, t + 1) + parts.lead_s * factor;
      const double rest = parts.rest_s * factor;
      const double free = ready[w] + overlapped;
      last_without = std::max(last_without, std::max(last, free) + rest);
      ready[w] = std::max(0.0, free - took) + rest;
      totals.worker_s[w] += t >= discarded_iterations(scenario) ? overlapped + rest : 0;
    }
    const double next = took + *std::ranges::max_element(ready);
    constexpr double kRounding = 1e-12;
    // What is left when the period without exchanges is taken off; differences of the size of
    // rounding are nothing.
    const double exposed = next - last_without > kRounding * next ? next - last_without : 0;
    if (t >= discarded_iterations(scenario)) {
      totals.compute_s += next - exposed - last;
      totals.exposed_s += exposed;
      totals.exchange_factor += exchange_factor;
    }
    result.iterations.push_back({.index = t,
                                 .start_s = origin,
                                 .compute_end_s = origin + last,
                                 .exchange_start_s = origin + first,
                                 .exchange_end_s = origin + took,
                                 .iteration_time_s = next - last,
                                 .exposed_communication_s = exposed,
                                 .applied_gradient = t,
                                 .density = {},
                                 .k = {}});
    origin += took;
  }
  totals.rounds_s = origin;
  return totals;
}

// The formula lets all exchanges start with the last worker and so is never earlier. A bound for
// all of them may begin as much earlier as the first worker is ready before the last one. Nothing
// is known of random factors, nor of the best merge of workers that differ.
void fill_limits(const Scenario& scenario, Result& result) {
  Summary& summary = result.summary;
  summary.merge_optimal_iteration_time_s.reset();
  summary.merge_gap_to_optimal.reset();
  const std::optional<double> bound = std::exchange(summary.lower_bound_s, std::nullopt);
  const bool has_form = std::exchange(summary.closed_form_s, std::nullopt).has_value();
  summary.closed_form_is_bound.reset();
  if (scenario.variability.random()) {
    return;
  }
  if (has_form) {
    Scenario formula = scenario;
    formula.method = collectives::Method::closed_form;
    summary.closed_form_s = period_of(formula);
    summary.closed_form_is_bound = true;
  }
  if (bound) {
    const layers::Jitter jitter = jitter_of(scenario);
    const double computing = (scenario.workload.forward() + scenario.workload.backward()).value;
    const double all = *PeriodBounds(scenario, planned_problem(scenario), WorkSums(scenario))
                            .with_slowest(jitter.slowest());
    summary.lower_bound_s =
        bound_of(std::max(jitter.slowest() * computing,
                          all - (jitter.slowest() - jitter.fastest()) * computing),
                 *summary.iteration_time_s);
  }
}

} // namespace

// All that the model of rounds knows: one message, real links, the schedule itself and more than
// one worker. Any other case is a run of equal workers with factors on top.
bool has_server_rounds(const Scenario& scenario) {
  const Communication& communication = scenario.communication;
  const bool sends =
      std::ranges::any_of(scenario.workload.gradients, [](const layers::Gradient& gradient) {
        return gradient.bytes.value > 0;
      });
  return sends && scenario.training.algorithm == TrainingAlgorithm::parameter_server &&
         !scenario.training.async() && scenario.variability.varies() &&
         !simulates_messages(scenario) && !accumulates_or_shards(scenario) &&
         communication.schedule == buckets::Schedule::single && !scenario.cluster.network.curve &&
         scenario.cluster.ranks() > 1 && !scenario.cluster.machines_push &&
         communication.options.cost_form == collectives::CostForm::exact;
}

bool needs_server_rounds(const Scenario& scenario) {
  return has_server_rounds(scenario) &&
         scenario.method.value_or(collectives::Method::events) == collectives::Method::events;
}

Result run_server_rounds(const Scenario& scenario) {
  Scenario equal = scenario;
  equal.variability = {.seed = scenario.variability.seed};
  Result result = run_program(equal);
  result.program.reset();
  result.scenario = scenario;
  Summary& summary = result.summary;
  const auto workers = static_cast<std::uint32_t>(scenario.cluster.ranks());
  const auto count =
      static_cast<double>(scenario.training.iterations - discarded_iterations(scenario));
  const double equal_period = step_of(summary);
  const double exchange = *summary.communication_s;
  const double codec = *summary.codec_compute_s;
  const Parts parts = parts_of(scenario, *summary.compute_s);
  ServerRounds rounds(scenario);
  const Totals totals = run_rounds(scenario, parts, exchange, rounds, result);
  const double compute = totals.compute_s / count;
  const double exposed = totals.exposed_s / count;
  const double period = compute + exposed;
  // Pulls of a server on a worker's host may slow the last push, which takes longer than alone.
  const double communication = std::max(exchange * totals.exchange_factor / count, exposed);
  summary.iteration_time_s = period;
  summary.period_s.reset(); // follows from the other figures, with utilization (fill_step)
  // The run of equal workers has start and end right; its iterations are exchanged for the rounds
  // that were timed.
  summary.makespan_s = *summary.makespan_s + totals.rounds_s -
                       static_cast<double>(scenario.training.iterations) * equal_period;
  fill_work(scenario, codec, compute, summary);
  fill_communication(communication, exposed, summary);
  double waited = 0;
  for (std::uint32_t w = 0; w < workers; ++w) {
    const double computes = totals.worker_s[w] / count;
    const double waits = std::max(0.0, compute - computes);
    waited += waits;
    result.workers.push_back({.worker = w,
                              .compute_s = computes,
                              .straggler_wait_s = waits,
                              .transfer_s = communication});
  }
  summary.straggler_wait_s = waited / workers;
  fill_limits(scenario, result);
  fill_speedup(
      scenario,
      alone_seconds(scenario, discarded_iterations(scenario), scenario.training.iterations - 1),
      period, summary);
  if (*summary.straggler_wait_s > kStragglerShare * period) {
    summary.bottleneck = "straggler";
  }
  result.method = collectives::name(collectives::Method::events);
  result.events = rounds.events();
  result.warnings.emplace_back(kEqualWorkers);
  fill_interval(scenario, result);
  warn_below_bound(scenario, equal_period, result);
  return result;
}

} // namespace stepsim::study
