// parameter_server, mode sync, in one message, where workers differ: the server takes each push as
// it comes (PIP 3.2). Other synchronous runs are run_sync with the parameter server as its
// exchange; this one starts from the same run of equal workers and replaces its times.
//
//   worker w   |lead|...weights are back...| rest |push ...        lead: next forward of layers
//   server                                        |take, add, send|      without a gradient
#include <algorithm>

#include "coll/evaluate.hpp"
#include "study/bucket_cost.hpp"
#include "study/run_parts.hpp"
#include "study/server_exchange.hpp"
#include "train/parameter_server.hpp"

namespace stepsim::study {

namespace {

coll::Collective slowed(coll::Collective collective, double factor, std::vector<double> enter_s) {
  collective.links.all.latency_s *= factor;
  collective.links.all.block_latency_s *= factor;
  collective.links.all.per_byte_s *= factor;
  if (collective.links.two_level) {
    collective.links.two_level->intra.latency_s *= factor;
    collective.links.two_level->intra.block_latency_s *= factor;
    collective.links.two_level->intra.per_byte_s *= factor;
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
    for (const coll::Collective& each : exchange_.before) {
      const coll::Evaluation evaluation = coll::events(slowed(each, factor, ready));
      events_ += evaluation.events;
      ready.assign(ready.size(), evaluation.seconds);
    }
    const coll::Collective& server = exchange_.server;
    const double rest = factor * (exchange_.encode_s / exchange_.servers + exchange_.extra_s);
    if (by_formula()) {
      const train::ServerLink link{.latency_s = server.links.all.latency_s * factor,
                                   .push_s = exchange_.push_s() * factor,
                                   .pull_s = exchange_.push_s() * factor,
                                   .add_s = exchange_.add_s() * factor};
      const bool colocated = server.options.placement != coll::Placement::dedicated;
      return train::server_round_end(std::move(ready), link, colocated) + rest;
    }
    const coll::Evaluation evaluation = coll::events(slowed(server, factor, std::move(ready)));
    events_ += evaluation.events;
    return evaluation.seconds + rest;
  }
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
  [[nodiscard]] double all() const { return lead_s + rest_s + tail_s; }
};

Parts parts_of(const Scenario& scenario, double compute_s) {
  Parts parts;
  std::size_t first = scenario.workload.layers.size();
  for (const train::Gradient& gradient : scenario.workload.gradients) {
    first = gradient.bytes.value > 0 ? std::min<std::size_t>(first, gradient.layer) : first;
  }
  const Communication& communication = scenario.communication;
  for (std::size_t layer = 0; layer < first; ++layer) {
    const train::WorkLayer& each = scenario.workload.layers[layer];
    if (communication.next_forward == train::NextForward::per_layer) {
      parts.lead_s += each.forward.value;
    }
    if (communication.overlap_backward) {
      parts.tail_s += each.backward.value;
    }
  }
  parts.rest_s = compute_s - parts.lead_s - parts.tail_s;
  return parts;
}

// Sums over the iterations that count, per worker.
struct Totals {
  std::vector<double> compute_s, wait_s;
  double slowest_s{};
  double periods_s{};
};

std::int64_t discarded(const Scenario& scenario) {
  return scenario.training.discard_iterations.value_or(0);
}

// The first round follows one that ended at 0, as long as those of equal workers.
Totals run_rounds(const Scenario& scenario, const Parts& parts, double exchange_s,
                  ServerRounds& rounds, Result& result) {
  const auto workers = static_cast<std::uint32_t>(scenario.cluster.ranks());
  Totals totals{std::vector<double>(workers), std::vector<double>(workers), 0, 0};
  const train::Jitter jitter(scenario.variability, workers);
  std::vector<double> ready(workers);
  std::vector<double> free(workers); // the lead is done, from the end of the round before
  for (std::uint32_t w = 0; w < workers; ++w) {
    free[w] = parts.tail_s + parts.lead_s * jitter.compute(w, 1) - exchange_s;
  }
  result.iterations.clear();
  double origin = 0;
  for (std::int64_t t = 0; t < scenario.training.iterations; ++t) {
    double slowest = 0;
    for (std::uint32_t w = 0; w < workers; ++w) {
      const double factor = jitter.compute(w, t + 1);
      ready[w] = std::max(0.0, free[w]) + parts.rest_s * factor;
      slowest = std::max(slowest, parts.all() * factor);
    }
    if (t >= discarded(scenario)) {
      for (std::uint32_t w = 0; w < workers; ++w) {
        const double computes = parts.all() * jitter.compute(w, t + 1);
        totals.compute_s[w] += computes;
        totals.wait_s[w] += slowest - computes;
      }
      totals.slowest_s += slowest;
    }
    const double last = *std::ranges::max_element(ready);
    const double took = rounds.end(ready, jitter.exchange(t + 1));
    result.iterations.push_back({.index = t,
                                 .start_s = origin,
                                 .compute_end_s = origin + last,
                                 .exchange_start_s = origin + *std::ranges::min_element(ready),
                                 .exchange_end_s = origin + took,
                                 .iteration_time_s = took,
                                 .exposed_communication_s = std::max(0.0, took - slowest),
                                 .applied_gradient = t,
                                 .density = {},
                                 .k = {}});
    for (std::uint32_t w = 0; w < workers; ++w) {
      free[w] = ready[w] + parts.tail_s * jitter.compute(w, t + 1) +
                parts.lead_s * jitter.compute(w, t + 2) - took;
    }
    origin += took;
  }
  totals.periods_s = origin;
  return totals;
}

double mean_period(const Scenario& scenario, const std::vector<Iteration>& iterations) {
  const auto discard = static_cast<std::size_t>(discarded(scenario));
  double sum = 0;
  for (std::size_t t = discard; t < iterations.size(); ++t) {
    sum += iterations[t].iteration_time_s;
  }
  return sum / static_cast<double>(iterations.size() - discard);
}

} // namespace

bool needs_server_rounds(const Scenario& scenario) {
  const Communication& communication = scenario.communication;
  return scenario.training.algorithm == TrainingAlgorithm::parameter_server &&
         !scenario.training.async && scenario.variability.varies() &&
         communication.schedule == plan::Schedule::single && !scenario.cluster.network.curve &&
         scenario.cluster.ranks() > 1 && communication.options.cost_form == coll::CostForm::exact &&
         scenario.method.value_or(coll::Method::events) == coll::Method::events;
}

Result run_server_rounds(const Scenario& scenario) {
  Scenario equal = scenario;
  equal.variability = {.seed = scenario.variability.seed};
  Result result = run_sync(equal);
  result.scenario = scenario;
  Summary& summary = result.summary;
  const auto workers = static_cast<std::uint32_t>(scenario.cluster.ranks());
  const auto count = static_cast<double>(scenario.training.iterations - discarded(scenario));
  const double equal_period = *summary.iteration_time_s;
  const double exchange = *summary.communication_s;
  const double codec = *summary.codec_compute_s;
  const Parts parts = parts_of(scenario, *summary.compute_s);
  ServerRounds rounds(scenario);
  const Totals totals = run_rounds(scenario, parts, exchange, rounds, result);
  const double period = mean_period(scenario, result.iterations);
  summary.iteration_time_s = period;
  summary.makespan_s = *summary.makespan_s + totals.periods_s -
                       static_cast<double>(scenario.training.iterations) * equal_period;
  fill_work(scenario, codec, totals.slowest_s / count, summary);
  fill_communication(exchange, std::max(0.0, period - *summary.compute_s), summary);
  double waited = 0;
  for (std::uint32_t w = 0; w < workers; ++w) {
    waited += totals.wait_s[w] / count;
    result.workers.push_back({.worker = w,
                              .compute_s = totals.compute_s[w] / count,
                              .straggler_wait_s = totals.wait_s[w] / count,
                              .transfer_s = exchange});
  }
  summary.straggler_wait_s = waited / workers;
  summary.staleness_mean = 0;
  summary.staleness_max = 0;
  // Formulas, bounds and the best merge are for equal workers.
  summary.closed_form_s.reset();
  summary.lower_bound_s.reset();
  summary.merge_optimal_iteration_time_s.reset();
  summary.merge_gap_to_optimal.reset();
  fill_speedup(
      scenario,
      alone_seconds(scenario, discarded(scenario), scenario.training.iterations - 1, false), period,
      summary);
  if (*summary.straggler_wait_s > kStragglerShare * period) {
    summary.bottleneck = "straggler";
  }
  result.method =
      coll::name(rounds.by_formula() ? coll::Method::closed_form : coll::Method::events);
  result.events = rounds.events();
  result.warnings.emplace_back(kEqualWorkers);
  fill_interval(scenario, result);
  warn_below_bound(equal_period, result);
  return result;
}

} // namespace stepsim::study
