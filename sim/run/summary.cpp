#include <algorithm>
#include <numeric>
#include <optional>
#include <variant>

#include "coll/choose.hpp"
#include "coll/formula/blocks.hpp"
#include "coll/formula/closed_form.hpp"
#include "plan/bounds.hpp"
#include "plan/planners.hpp"
#include "run/bucket_cost.hpp"
#include "run/run_parts.hpp"
#include "scenario/compression/compressed_cost.hpp"
#include "train/step/exchange_times.hpp"

namespace stepsim::study {

namespace {

// The step with every message costed as `problem` says.
double planned_period(const Scenario& scenario, const plan::Problem& problem,
                      const plan::Plan& plan, plan::Schedule schedule) {
  const auto seconds = planned_seconds(scenario, problem, plan, schedule);
  return train::run_step(step_input(scenario, plan, seconds, schedule)).period_s;
}

// The best merge with every message evaluated as the run evaluates its own.
double optimal_period(const Scenario& scenario, const plan::Problem& problem, BucketCosts& costs) {
  constexpr plan::Schedule kOptimal = plan::Schedule::optimal;
  const plan::Plan best = plan::make_plan(problem, kOptimal);
  const auto period = [&](const Scenario& run, BucketCosts& evaluate) {
    std::vector<MessageSeconds> seconds;
    for (const plan::Group& group : best.groups) {
      seconds.push_back(message_seconds(problem, evaluate(group), kOptimal));
    }
    return train::run_step(step_input(run, best, seconds, kOptimal)).period_s;
  };
  if (!has_all_gathers(scenario)) {
    return period(scenario, costs);
  }
  Scenario whole = scenario; // whose messages are not split
  whole.communication.schedule = kOptimal;
  BucketCosts evaluate(whole, measured_curve(whole));
  return period(whole, evaluate);
}

// The closed form of some message is an upper bound.
bool formula_is_bound(const Scenario& scenario, const plan::Plan& plan) {
  coll::Collective collective = exchange_of(scenario);
  return exchanges(scenario) && std::ranges::any_of(plan.groups, [&](const plan::Group& group) {
           collective.bytes = static_cast<double>(group.bytes.value);
           const coll::Collective asked = coll::with_chosen_algorithm(collective);
           const auto form = asked.homogeneous() ? coll::closed_form(asked) : std::nullopt;
           return form && form->upper_bound;
         });
}

constexpr double kHiddenShare =
    0.01; // exposed communication below 1 % of the period: compute-bound

// Wire time without latency and without bytes tells the parts of a compressed exchange; the rest is
// the work of compressing.
std::string largest_compressed_part(const Scenario& scenario, const plan::Plan& plan,
                                    std::span<const BucketCost> costs) {
  if (scenario.cluster.fabric) { // whose latency and bandwidth are no two numbers
    double wire = 0;
    double work = 0;
    for (const BucketCost& cost : costs) {
      wire += cost.wire_s;
      work += cost.compress_s() + cost.encode_s + cost.decode_s + cost.merge_s + cost.scatter_s;
    }
    return work > wire ? "compression" : "bandwidth";
  }
  const auto total = [&](double latency_factor, double bandwidth_factor) {
    Scenario part = scenario;
    part.cluster.network.latency_s *= latency_factor;
    part.cluster.network.block_latency_s *= latency_factor;
    part.cluster.network.bandwidth_Bps *= bandwidth_factor;
    const plan::Cost cost = compressed_cost(part);
    double sum = 0;
    for (const plan::Group& group : plan.groups) {
      sum += cost.seconds(static_cast<double>(group.bytes.value), 1);
    }
    return sum;
  };
  constexpr double kFast = 1e12; // times the bandwidth: bytes cost nothing
  const double all = total(1, 1);
  const double latency = all - total(0, 1);
  const double bandwidth = all - total(1, kFast);
  double work = all - latency - bandwidth;
  for (const BucketCost& cost : costs) {
    work += cost.compress_s() + cost.encode_s + cost.decode_s;
  }
  if (work > latency && work > bandwidth) {
    return "compression";
  }
  return latency >= bandwidth ? "latency" : "bandwidth";
}

// On a fabric: messages of one byte take the latency, all others more by what their bytes cost.
std::string largest_fabric_part(const Scenario& scenario, const plan::Plan& plan) {
  coll::Collective collective = exchange_of(scenario);
  const auto total = [&](bool one_byte) {
    const plan::Cost cost = train::planner_cost(collective);
    double sum = 0;
    for (const plan::Group& group : plan.groups) {
      const auto bytes = static_cast<double>(group.bytes.value);
      sum += cost.seconds(one_byte ? std::min(1.0, bytes) : bytes, 1);
    }
    return sum;
  };
  const double all = total(false);
  collective.reduction_s_per_byte = 0;
  const double reduction = all - total(false);
  const double latency = total(true);
  const double bandwidth = all - reduction - latency;
  if (latency >= bandwidth && latency >= reduction) {
    return "latency";
  }
  return bandwidth >= reduction ? "bandwidth" : "reduction";
}

} // namespace

// The algorithm and the block are those of the first message.
std::string largest_part(const Scenario& scenario, const plan::Plan& plan,
                         std::span<const BucketCost> costs) {
  if (is_compressed(scenario)) {
    return largest_compressed_part(scenario, plan, costs);
  }
  if (scenario.cluster.network.curve) {
    return "bandwidth"; // a measured curve has no parts
  }
  if (scenario.cluster.fabric) {
    return largest_fabric_part(scenario, plan);
  }
  coll::Collective collective = exchange_of(scenario);
  const auto total = [&](bool latency, bool bandwidth, bool reduction) {
    coll::Collective part = collective;
    const auto keep = [&](coll::LinkCost& cost) {
      cost.latency_s *= latency ? 1 : 0;
      cost.block_latency_s *= latency ? 1 : 0;
      cost.per_byte_s *= bandwidth ? 1 : 0;
    };
    keep(part.links.all);
    if (part.links.two_level) {
      keep(part.links.two_level->intra);
    }
    part.reduction_s_per_byte *= reduction ? 1 : 0;
    double sum = 0;
    const plan::Cost cost = train::planner_cost(part);
    for (const plan::Group& group : plan.groups) {
      sum += cost.seconds(static_cast<double>(group.bytes.value), 1);
    }
    return sum;
  };
  collective.bytes = static_cast<double>(plan.groups.front().bytes.value);
  collective = coll::with_chosen_algorithm(collective);
  if (const auto blocks = coll::resolve_blocks(collective)) {
    collective.options.block = Bytes{static_cast<std::int64_t>(blocks->block_bytes)};
  }
  const double latency = total(true, false, false);
  const double bandwidth = total(false, true, false);
  const double reduction = total(false, false, true);
  if (latency >= bandwidth && latency >= reduction) {
    return "latency";
  }
  return bandwidth >= reduction ? "bandwidth" : "reduction";
}

void compare_with_optimum(plan::Schedule schedule, double best_s, Summary& summary) {
  const bool one_channel = plan::planner(schedule).needs == plan::Needs::cost;
  const double period = *summary.iteration_time_s;
  // Planners see equal parts and formulas where evaluators may know better.
  const double best = one_channel ? std::min(best_s, period) : best_s;
  summary.merge_optimal_iteration_time_s = best;
  if (one_channel) {
    summary.merge_gap_to_optimal = best > 0 ? period / best - 1 : 0;
  }
}

void fill_merge(const Scenario& scenario, const plan::Problem& problem, const plan::Plan& plan,
                BucketCosts& costs, Summary& summary) {
  const plan::Schedule schedule = scenario.communication.schedule;
  if (schedule == plan::Schedule::mg_wfbp) {
    summary.merge_waiting_merges = static_cast<double>(plan.waiting_merges);
    summary.merge_certified_optimal = plan::certified_optimal(problem, plan);
  }
  if (scenario.communication.reduce_broadcast) {
    return; // the planner's cost is the reduce alone: no optimum of the whole exchange
  }
  compare_with_optimum(schedule,
                       schedule == plan::Schedule::optimal
                           ? *summary.iteration_time_s
                           : optimal_period(scenario, problem, costs),
                       summary);
  if (!scenario.cluster.network.curve && !scenario.cluster.fabric) {
    plan::Problem formula = problem;
    formula.cost = formula_cost(scenario);
    summary.closed_form_s = planned_period(scenario, formula, plan, schedule);
    summary.closed_form_is_bound = formula_is_bound(scenario, plan);
  }
}

void fill_compression(const Scenario& scenario, std::span<const BucketCost> costs,
                      Summary& summary) {
  if (!is_compressed(scenario)) {
    return;
  }
  const coll::Compression& compression = scenario.communication.compression;
  const auto total = [&](auto member) {
    return std::accumulate(costs.begin(), costs.end(), 0.0,
                           [&](double sum, const BucketCost& cost) { return sum + cost.*member; });
  };
  const coll::CompressionKind kind = coll::row(compression.method).kind;
  if (kind == coll::CompressionKind::codec) {
    summary.codec_hops = static_cast<double>(scenario.cluster.ranks() - 1);
    return;
  }
  summary.select_s = total(&BucketCost::select_s);
  summary.residual_s = total(&BucketCost::residual_s);
  summary.compress_s = *summary.select_s + *summary.residual_s;
  summary.staging_s = total(&BucketCost::staging_s);
  summary.wire_s = total(&BucketCost::wire_s);
  summary.merge_s = total(&BucketCost::merge_s);
  summary.scatter_s = total(&BucketCost::scatter_s);
  if (kind == coll::CompressionKind::sparse) {
    double k = 0;
    double elements = 0;
    for (const BucketCost& cost : costs) {
      k += static_cast<double>(cost.k);
      elements += static_cast<double>(cost.elements);
    }
    summary.k = k;
    summary.density = compression.density ? compression.density
                      : elements > 0      ? std::optional(k / elements)
                                          : std::nullopt;
  }
}

Summary summarize(const Scenario& scenario, const plan::Problem& problem, const plan::Plan& plan,
                  const train::StepTimes& step, std::span<const BucketCost> costs, double added_s) {
  Summary summary;
  summary.iteration_time_s = step.period_s;
  const auto total = [&](auto member) {
    return std::accumulate(costs.begin(), costs.end(), 0.0,
                           [&](double sum, const BucketCost& cost) { return sum + cost.*member; });
  };
  const double decode = total(&BucketCost::decode_s);
  summary.codec_compute_s = total(&BucketCost::encode_s) + decode;
  summary.forward_s = step.forward_s;
  summary.backward_s = step.backward_s - added_s;
  summary.update_s = step.update_s - decode;
  summary.compute_s =
      *summary.forward_s + *summary.backward_s + *summary.update_s + *summary.codec_compute_s;
  fill_communication(step.communication_s, step.exposed_s, summary);
  summary.wire_bytes = total(&BucketCost::bytes_sent);
  summary.straggler_wait_s = 0;
  summary.makespan_s = train::makespan_s(step, scenario.training.iterations);

  summary.input_wait_s = step.input_wait_s;

  const train::StepTimes alone = train::run_step(step_input(scenario));
  fill_speedup(scenario, alone.period_s, step.period_s, summary);
  fill_compression(scenario, costs, summary);
  if (!is_compressed(scenario)) {
    if (const auto bound = period_lower_bound(scenario, problem)) {
      summary.lower_bound_s = bound_of(*bound, step.period_s);
    }
  }
  const bool hidden = plan.groups.empty() || step.exposed_s <= kHiddenShare * step.period_s;
  summary.bottleneck = hidden ? "compute" : largest_part(scenario, plan, costs);
  return summary;
}

} // namespace stepsim::study
