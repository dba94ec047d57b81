// Exchanges of a trace are compared at the number of ranks that the trace was recorded with, on the
// scenario's own links: any other number would compare different collectives.

#include "run/run.hpp"

#include "programs/step/exchange_times.hpp"
#include "run/run_figures.hpp"
#include "scenario/scenario_conditions.hpp"

namespace stepsim::study {

namespace {

// Far enough apart that waiting for the slowest rank, or another network, is the likely reason.
constexpr double kFar = 0.3;

// The cluster with `ranks` workers, nodes filled as they are here; empty where it has none like it.
// A cluster with a fabric or a curve cannot be made larger or smaller: its routes and its points
// belong to the ranks that it has.
std::optional<Cluster> with_ranks(const Cluster& cluster, std::int64_t ranks) {
  if (cluster.ranks() == ranks) {
    return cluster;
  }
  if (!cluster.equal_nodes()) {
    return std::nullopt;
  }
  Cluster small = cluster;
  small.gpus_per_node = std::min(cluster.gpus_per_node, ranks);
  small.nodes = ranks / small.gpus_per_node;
  small.nvlink_domain_nodes = std::min(cluster.nvlink_domain_nodes, small.nodes);
  const bool even = small.ranks() == ranks &&
                    small.nodes % std::max<std::int64_t>(small.nvlink_domain_nodes, 1) == 0;
  const bool needs_network = small.nodes > 1 && !cluster.has_network;
  if (!even || needs_network || cluster.fabric || cluster.network.curve) {
    return std::nullopt;
  }
  return small;
}

// A part of the other run with the same name; without one nothing moves.
IntervalPart part_of(const Summary& summary, std::string_view factor) {
  const auto found = std::ranges::find(summary.interval_parts, factor, &IntervalPart::factor);
  return found == summary.interval_parts.end() ? IntervalPart{.factor = factor} : *found;
}

void set_interval_of(const Summary& asked, const Summary& measured, MeasuredTotal& total) {
  double up = kSeriesSpread * kSeriesSpread;
  double down = up;
  const auto add = [&](const IntervalPart& x, const IntervalPart& y) {
    const double high = x.at_high - y.at_high;
    const double low = x.at_low - y.at_low;
    const double longer = std::max({0.0, high, low});
    const double shorter = std::min({0.0, high, low});
    up += longer * longer;
    down += shorter * shorter;
  };
  for (const IntervalPart& part : asked.interval_parts) {
    add(part, part_of(measured, part.factor));
  }
  for (const IntervalPart& part : measured.interval_parts) {
    if (std::ranges::find(asked.interval_parts, part.factor, &IntervalPart::factor) ==
        asked.interval_parts.end()) {
      add({.factor = part.factor}, part);
    }
  }
  total.low_s = total.step_s * std::exp(-kQuantile80 * std::sqrt(down));
  total.high_s = total.step_s * std::exp(kQuantile80 * std::sqrt(up));
}

// Whether the waiting for other ranks is known.
bool knows_waiting(const layers::MeasuredBucket& bucket) {
  return bucket.transfer.median && !bucket.transfer.wait.empty();
}

double taken_s(const layers::MeasuredBucket& bucket) {
  return (knows_waiting(bucket) ? bucket.transfer.median : bucket.median)->value;
}

} // namespace

std::vector<MeasuredExchange> measured_exchanges(const Scenario& scenario) {
  const layers::Workload& workload = scenario.workload;
  const std::int64_t ranks = workload.measured_ranks.value_or(1);
  const bool timed =
      std::ranges::any_of(workload.buckets, [](const layers::MeasuredBucket& bucket) {
        return bucket.median.has_value();
      });
  if (!timed || ranks < 2 || scenario.training.algorithm != TrainingAlgorithm::sync_sgd ||
      scenario.cluster.network.model == NetworkModel::packet) {
    return {};
  }
  const std::optional<Cluster> cluster = with_ranks(scenario.cluster, ranks);
  if (!cluster) {
    return {};
  }
  Scenario there = scenario;
  there.cluster = *cluster;
  // What the trace timed were dense all-reduces.
  there.communication.compression = {};
  there.communication.reduce_broadcast = false;
  programs::ExchangeTimes times(exchange_of(there), std::nullopt, there.cluster.network.curve);
  std::vector<MeasuredExchange> all;
  for (std::size_t b = 0; b < workload.buckets.size(); ++b) {
    const layers::MeasuredBucket& bucket = workload.buckets[b];
    if (!bucket.median) {
      continue;
    }
    try {
      all.push_back({.index = static_cast<std::int64_t>(b),
                     .bytes = bucket.bytes,
                     .measured_s = taken_s(bucket),
                     .simulated_s = times(bucket.bytes).seconds});
    } catch (const SimulationError&) {
      return {}; // the algorithm needs other rank counts
    }
  }
  return all;
}

std::optional<std::string> far_exchanges(const Scenario& scenario,
                                         const std::vector<MeasuredExchange>& all) {
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  for (const MeasuredExchange& each : all) {
    if (each.simulated_s > 0) {
      least = std::min(least, each.measured_s / each.simulated_s);
      most = std::max(most, each.measured_s / each.simulated_s);
    }
  }
  // Exchanges that take no time here have no ratio and are left out.
  if (most == 0 || (most <= 1 + kFar && least >= 1 - kFar)) {
    return std::nullopt;
  }
  const std::string from = base::significant(least, 3);
  const std::string to = base::significant(most, 3);
  const bool waits =
      !std::ranges::all_of(scenario.workload.buckets, knows_waiting); // may be in the times
  return "exchanges of the trace, at " + std::to_string(*scenario.workload.measured_ranks) +
         " ranks, took " + (from == to ? "" : from + " to ") + to +
         " times as long as predicted here: " +
         (most <= 1 + kFar ? "the network of the trace was faster"
          : !waits         ? "that network was slower, without the waiting for other ranks"
          : least >= 1 - kFar
              ? "they contain waiting for the slowest rank, or that network was slower"
              : "those above 1 may contain waiting for the slowest rank; below 1, the "
                "network of the trace was faster");
}

MeasuredTotal corrected_by(const Result& asked, const Result& measured, double measured_s) {
  const bool one_measured = measured.scenario->cluster.nodes == 1;
  if (one_measured != (asked.scenario->cluster.nodes == 1)) {
    throw UsageError(fmt::format("--measured-total: a step on {}; give it to fit-conditions",
                                 one_measured ? "one machine says too little about one on several"
                                              : "several machines says too little about one on "
                                                "one machine"));
  }
  const double predicted_s = step_of(measured.summary);
  MeasuredTotal total{.measured_s = measured_s,
                      .predicted_s = predicted_s,
                      .step_s = step_of(asked.summary) * measured_s / predicted_s};
  if (is_typical(*asked.scenario) && is_typical(*measured.scenario)) {
    set_interval_of(asked.summary, measured.summary, total);
  }
  const Scenario& scenario = *asked.scenario;
  Summary corrected = asked.summary;
  corrected.iteration_time_s = total.step_s;
  if (corrected.samples_per_s) {
    *corrected.samples_per_s *= step_of(asked.summary) / total.step_s;
  }
  (void)fill_job(scenario.job, machines_of(scenario), scenario.cluster.ranks(), corrected);
  total.samples_per_s = corrected.samples_per_s;
  total.time_to_finish_s = corrected.time_to_finish_s;
  total.cost_usd = corrected.cost_usd;
  return total;
}

} // namespace stepsim::study
