// What every way of running a scenario adds to its result.

#include "run/run_figures.hpp"

#include "collectives/algorithms.hpp"
#include "run/group_exchange.hpp"
#include "run/planned_messages.hpp"
#include "run/summary_fields.hpp"
#include "scenario/scenario_conditions.hpp"
#include "scenario/scenario_library.hpp"

namespace stepsim::study {

namespace {

void append(std::vector<std::string>& all, const std::vector<std::string>& some) {
  all.insert(all.end(), some.begin(), some.end());
}

// The largest ratio by which ranks or a message lie outside what the calibration covers.
// Below the range the factor is the range's lower end over the value, above it the value over the
// upper end, so that 2 means twice too large or half too small.
std::optional<double> extrapolation_factor(const Network& network, std::int64_t ranks,
                                           const buckets::Plan& plan) {
  if (!network.valid_ranks && !network.valid_bytes) {
    return std::nullopt;
  }
  double factor = 1;
  const auto include = [&](const std::optional<std::pair<double, double>>& range, double value) {
    if (range && value > 0) {
      factor = std::max({factor, value / range->second, range->first / value});
    }
  };
  include(network.valid_ranks, static_cast<double>(ranks));
  for (const buckets::Group& group : plan.groups) {
    include(network.valid_bytes, static_cast<double>(group.bytes.value));
  }
  return factor;
}

// The collectives of a bucket: the stages of a compressed exchange, the two halves of one that has
// two, where the algorithm knows them, or the exchange as a whole.
std::vector<collectives::Collective> collectives_of(const Scenario& scenario,
                                                    const buckets::Group& group) {
  collectives::Collective exchange = exchange_of(scenario);
  std::vector<collectives::Collective> all;
  if (is_compressed(scenario)) {
    for (collectives::ExchangeStage& stage :
         collectives::compressed_exchange(scenario.communication.compression,
                                          gradient_part(scenario, group), exchange)
             .stages) {
      all.push_back(std::move(stage.collective));
    }
    return all;
  }
  exchange.bytes = static_cast<double>(group.bytes.value);
  if (splits_exchange(scenario)) {
    for (const collectives::Op op : {collectives::Op::reduce_scatter, collectives::Op::allgather}) {
      if (exchange.algorithm == collectives::AlgorithmId::automatic ||
          collectives::find_algorithm(op, exchange.algorithm) != nullptr) {
        all.push_back(exchange);
        all.back().op = op;
      }
    }
  }
  return all.empty() ? std::vector{exchange} : all;
}

// The warnings that some message is only estimated, each once. Without a method of the scenario
// that is so only where ranks share interfaces.
void add_estimates(const Scenario& scenario, const buckets::Plan& plan, Result& result) {
  const auto levels = exchange_of(scenario).links.two_level;
  if (!scenario.method && !(levels && levels->nics_per_node < levels->gpus_per_node)) {
    return;
  }
  std::set<std::string> said;
  std::set<Bytes> sizes;
  for (const buckets::Group& group : plan.groups) {
    if (!sizes.insert(group.bytes).second) {
      continue;
    }
    for (const collectives::Collective& asked : collectives_of(scenario, group)) {
      const collectives::Collective chosen = collectives::with_chosen_algorithm(asked);
      if (auto warning = collectives::estimate_warning(
              chosen, scenario.method.value_or(collectives::automatic_method(chosen)))) {
        said.insert(*std::move(warning));
      }
    }
  }
  append(result.warnings, {said.begin(), said.end()});
}

// Of a rate that is a line's, where TCP carries the bytes: a payload that is lost already before
// any condition (CON 1).
std::optional<std::string> hint_of_payload(const Scenario& scenario) {
  constexpr std::array kLines{1.0, 2.5, 5.0, 10.0, 20.0, 25.0, 40.0, 50.0, 100.0, 200.0, 400.0};
  if (!scenario.nominal || scenario.communication.question || scenario.cluster.fabric ||
      !links_lose(scenario)) {
    return std::nullopt;
  }
  const Network& network = scenario.nominal->cluster.network;
  const double gigabits = network.bandwidth_Bps * network.efficiency / 1.25e8;
  if (network.carrier.value_or(links::Carrier::rdma) == links::Carrier::rdma ||
      std::ranges::find(kLines, gigabits) == kLines.end()) {
    return std::nullopt;
  }
  return "/cluster/network has the rate of a line: " +
         base::significant(kTcpPayload * gigabits / 8, 4) + " GB/s is what TCP carries on " +
         base::shortest(gigabits) + " Gb/s";
}

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

void add_common_warnings(const Scenario& scenario, const buckets::Plan& plan, Result& result) {
  result.warnings.reserve(scenario.workload.warnings.size() + scenario.warnings.size() + 8);
  append(result.warnings, scenario.workload.warnings);
  append(result.warnings, scenario.warnings);
  append(result.warnings, plan.warnings);
  for (const std::string_view pointer : scenario.conditions.shortened) {
    result.warnings.push_back(std::string(pointer) +
                              " has no effect: typical conditions have a shorter latency in its "
                              "place, by their factors; ideal ones keep it");
  }
  if (auto hint = hint_of_payload(scenario)) {
    result.warnings.push_back(*std::move(hint));
  }
  if (!exchanges(scenario)) {
    result.warnings.emplace_back("one worker: no communication");
  } else if (!scenario.cluster.network.curve && !is_compressed(scenario)) {
    const bool in_groups = has_islands(scenario.training) ||
                           scenario.training.sharding.strategy == ShardingStrategy::hybrid_shard;
    for (const RankGroup group : {RankGroup::all, RankGroup::node, RankGroup::replica}) {
      if (in_groups != (group == RankGroup::all)) {
        if (auto idle = collectives::idle_interfaces(collective_of(scenario, group))) {
          result.warnings.push_back(std::move(*idle));
        }
      }
    }
  }
  const bool buckets_alone = !scenario.training.sharding.any() &&
                             !trains_in_rounds(scenario.training); // not exchanges of groups
  if (buckets_alone && exchanges(scenario) && !scenario.cluster.network.curve &&
      !scenario.communication.question && !scenario.cluster.fabric) {
    add_estimates(scenario, plan, result);
  }
  if (const auto& question = scenario.communication.question) {
    std::vector<double> bytes;
    for (const buckets::Group& group : plan.groups) {
      bytes.push_back(static_cast<double>(group.bytes.value));
    }
    append(result.warnings, library_warnings(*question, bytes));
    if (buckets::planner(scenario.communication.schedule).needs_linear_cost()) {
      result.warnings.push_back(
          "linear: false; the planner takes the tangent of the library's cost "
          "at the mean gradient, " +
          base::readable_bytes(mean_message(scenario)));
    }
  }
  result.extrapolation_factor =
      extrapolation_factor(scenario.cluster.network, scenario.cluster.ranks(), plan);
  if (result.extrapolation_factor.value_or(1) > 1) {
    result.warnings.push_back(
        "ranks or message sizes lie outside the range of the calibration, by " +
        base::significant(*result.extrapolation_factor, 3) + " times at most: extrapolated");
  }
}

void stretch_computing(double factor, Summary& summary) {
  constexpr double kRounding = 1e-12;
  for (const SummaryNumber part :
       {&Summary::forward_s, &Summary::backward_s, &Summary::update_s, &Summary::codec_compute_s,
        &Summary::compute_s, &Summary::select_s, &Summary::residual_s, &Summary::compress_s}) {
    if (summary.*part && std::abs(factor - 1) > kRounding) {
      *(summary.*part) *= factor;
    }
  }
}

void fill_compute_interval(const Scenario& scenario, Summary& summary) {
  if (!scenario.workload.interval || !summary.compute_s) {
    return;
  }
  const bool own_update = scenario.training.update.value == scenario.workload.update.value;
  const double estimated = summary.forward_s.value_or(0) + summary.backward_s.value_or(0) +
                           (own_update ? summary.update_s.value_or(0) : 0);
  summary.compute_low_s = *summary.compute_s - (1 - scenario.workload.interval->low) * estimated;
  summary.compute_high_s = *summary.compute_s + (scenario.workload.interval->high - 1) * estimated;
}

void find_input_bound(const Scenario& scenario, Summary& summary) {
  const double unexplained = wait_of_step(scenario).value;
  const double wait = summary.input_wait_s.value_or(0) + unexplained;
  const double exposed = summary.exposed_communication_s.value_or(0) - unexplained;
  const double share = kWaitShare * step_of(summary);
  const bool slowest = scenario.training.input_pipelined && unexplained == 0
                           ? !(exposed > share)
                           : wait > summary.compute_s.value_or(0) && wait > exposed;
  if (wait > share && slowest) {
    summary.bottleneck = unexplained > summary.input_wait_s.value_or(0) ? "waiting" : "input";
  }
}

layers::Jitter jitter_of(const Scenario& scenario) {
  const bool alike = !scenario.variability.varies() && scenario.variability.stragglers.empty();
  const std::int64_t ranks = alike ? 1 : scenario.cluster.ranks();
  return {scenario.variability, static_cast<std::uint32_t>(ranks)};
}

// Exposed communication may exceed the time on the wire, by waiting for a tick or for other
// workers; the fraction is then 0 and not negative.
void fill_communication(double communication_s, double exposed_s, Summary& summary) {
  summary.communication_s = communication_s;
  summary.exposed_communication_s = exposed_s;
  constexpr double kRounding = 1e-12;
  const double hidden = communication_s > 0 ? 1 - exposed_s / communication_s : 1;
  summary.overlap_fraction = hidden < kRounding ? 0 : std::min(hidden, 1.0);
}

void fill_step(const Scenario& scenario, Summary& summary) {
  if (!summary.staleness_mean && !trains_in_rounds(scenario.training)) {
    summary.staleness_mean = summary.staleness_max = 0; // a gradient is applied in its own step
  }
  if (summary.period_s) {
    return;
  }
  const double period = step_of(summary);
  summary.steps = 1;
  summary.period_s = period;
  summary.utilization =
      period > 0 ? std::max(0.0, period - *summary.exposed_communication_s) / period : 1;
}

void fill_staleness(const layers::StalenessCounts& staleness, Summary& summary) {
  summary.staleness_mean = staleness.mean();
  summary.staleness_max = static_cast<double>(staleness.max());
  summary.staleness_histogram = staleness.histogram();
}

void fill_speedup(const Scenario& scenario, double single_s, double period_s, Summary& summary) {
  const auto workers = static_cast<double>(scenario.cluster.ranks());
  summary.baseline =
      !scenario.training.sharding.any()
          ? "one worker: forward, backward and update without communication"
          : "one worker: forward, backward and update of one shard without communication";
  if (period_s > 0) {
    summary.scaling_efficiency = std::min(single_s, period_s) / period_s;
    summary.speedup = workers * *summary.scaling_efficiency;
    if (scenario.workload.batch_size) {
      summary.samples_per_s =
          workers * static_cast<double>(*scenario.workload.batch_size) / period_s;
    }
  }
}

std::int64_t discarded_iterations(const Scenario& scenario) {
  if (applies_late(scenario.training.algorithm)) {
    return scenario.training.iterations / 2;
  }
  return scenario.training.discard_iterations.value_or(scenario.training.iterations > 1 ? 1 : 0);
}

void fill_interval(const Scenario& scenario, Result& result) {
  if (!scenario.variability.random()) {
    return;
  }
  // Means of consecutive blocks, because neighbouring iterations depend on each other.
  // Few enough that the means of long runs hardly depend on each other, and enough for Student's t
  // to be narrow.
  constexpr std::size_t kBatches = 20;
  const auto skip = static_cast<std::size_t>(discarded_iterations(scenario));
  const std::size_t count = result.iterations.size() > skip ? result.iterations.size() - skip : 0;
  const std::size_t batches = std::min(kBatches, count);
  // One mean has no variance.
  if (batches < 2) {
    return;
  }
  // An iteration of a program may have several steps.
  const double steps = result.summary.steps.value_or(1);
  std::vector<double> means;
  for (std::size_t b = 0; b < batches; ++b) {
    const std::size_t begin = skip + b * count / batches;
    const std::size_t end = skip + (b + 1) * count / batches;
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) {
      sum += result.iterations[i].iteration_time_s;
    }
    means.push_back(sum / (static_cast<double>(end - begin) * steps));
  }
  set_interval(scenario, base::mean_interval(means, kLevel80), result.summary);
}

void set_interval(const Scenario& scenario, base::Interval interval, Summary& summary) {
  const layers::Variability& variability = scenario.variability;
  const layers::Jitter jitter(variability, static_cast<std::uint32_t>(scenario.cluster.ranks()));
  // In step, the period is that of the slowest worker; an asynchronous period may be that of the
  // fastest.
  const double least = (scenario.training.async() ? jitter.fastest() : jitter.slowest()) *
                       layers::least_factor(variability, variability.compute_cv) *
                       (scenario.workload.forward().value + scenario.workload.backward().value +
                        scenario.training.update.value);
  const double mean = step_of(summary);
  summary.iteration_time_low_s = std::min(mean, std::max(interval.low, least));
  summary.iteration_time_high_s = std::max(mean, interval.high);
  summary.interval_level = kLevel80;
}

bool has_uncertain_parts(const Scenario& scenario) {
  return is_typical(scenario) ||
         (scenario.communication.question && !scenario.variability.random());
}

Checkpointing best_checkpointing(const Failures& failures, std::optional<double> work_s) {
  const double mtbf = failures.mtbf_s;
  const double d = failures.checkpoint_s / mtbf;
  double x = best_interval(d);
  x = work_s ? std::min(x, *work_s / mtbf) : x;
  const double share = x > 0 ? x / std::expm1(x + d) : 1; // 0 where 1/M is nothing
  return {.interval_s = x * mtbf, .goodput = std::exp(-failures.restart_s / mtbf) * share};
}

std::int64_t machines_of(const Scenario& scenario) {
  return scenario.cluster.nodes + scenario.communication.dedicated_servers();
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
