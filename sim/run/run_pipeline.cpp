// pipe_sgd: the buckets of a plan become pieces of backward, the exchanges run on a thread of their
// own, and iteration t waits for the exchange of iteration t - K (PIP).
#include "run/run_pipeline.hpp"

#include <algorithm>
#include <cmath>

#include "base/number_text.hpp"
#include "programs/step/pipeline.hpp"
#include "run/bucket_cost.hpp"
#include "run/largest_part.hpp"
#include "run/period_bound.hpp"
#include "run/pipeline_figures.hpp"
#include "run/planned_messages.hpp"
#include "run/result_lists.hpp"
#include "run/run_figures.hpp"
#include "run/step_summary.hpp"
#include "run/summary_fields.hpp"
#include "run/verdict.hpp"
#include "scenario/scenario_overlap.hpp"

namespace stepsim::study {

namespace {

struct Pieces {
  programs::PipelineInput input;
  std::vector<BucketCost> costs;             // per bucket
  double select_s{}, encode_s{}, decode_s{}; // all buckets
  double wire_bytes{};
};

// Backward is cut where buckets become ready; what is left after the last one sends nothing.
Pieces cut_into_pieces(const Scenario& scenario, const buckets::Problem& problem,
                       const buckets::Plan& plan, BucketCosts& costs) {
  Pieces pieces;
  const Training& training = scenario.training;
  programs::PipelineInput& input = pieces.input;
  input.iterations = training.iterations;
  input.warmup_iterations = training.warmup_iterations;
  input.warmup_switch = training.warmup_switch;
  input.workers = static_cast<std::uint32_t>(scenario.cluster.ranks());
  input.forward_s = scenario.workload.forward().value;
  input.compute_slowdown = one_slowdown(training.overlap).value_or(1);
  input.variability = scenario.variability;
  double done = 0;
  for (const buckets::Group& group : plan.groups) {
    const BucketCost& cost = pieces.costs.emplace_back(costs(group));
    // A group may be ready later than its gradients, where the planner waits for a tick: the wait
    // delays the message and not computing.
    double gradients = 0; // ready; the group may wait for a tick
    for (const std::uint32_t item : group.items) {
      gradients = std::max(gradients, problem.items[item].ready.value);
    }
    const double ready = std::max(done, gradients);
    input.pieces.push_back({.compute_s = ready - done + cost.compress_s() + cost.encode_s,
                            .exchange_s = cost.exchange_s() + copy_seconds(scenario, group),
                            .delay_s = std::max(0.0, group.ready.value - ready)});
    done = ready;
    pieces.select_s += cost.compress_s();
    pieces.encode_s += cost.encode_s;
    pieces.decode_s += cost.decode_s;
    pieces.wire_bytes += cost.bytes_sent;
  }
  // A pipeline has at least one piece, also where nothing is sent.
  const double rest = scenario.workload.backward().value - done;
  if (rest > 0 || input.pieces.empty()) {
    input.pieces.push_back({.compute_s = std::max(0.0, rest), .exchange_s = 0});
  }
  input.application_s = training.update.value + pieces.decode_s;
  return pieces;
}

// Period by formula: constant times, and the exchange in one piece or a width of 2 or more, where
// only the sums count (PIP 4, 7, 12).
std::optional<double> closed_form(const programs::PipelineInput& input, double compute,
                                  double exchange) {
  const std::int64_t width = programs::effective_width(input);
  const bool delayed = std::ranges::any_of(
      input.pieces, [](const programs::PipelinePiece& piece) { return piece.delay_s > 0; });
  // With a width of 1 an exchange starts while backward still runs, so that its end depends on
  // every single piece and no formula of the sums holds.
  const bool by_formula = !delayed && (input.pieces.size() == 1 || width > 1);
  if (input.variability.varies() || !by_formula || width > input.iterations) {
    return std::nullopt;
  }
  return programs::pipeline_period(compute, exchange, width, input.compute_slowdown);
}

// Where the period is spent: what the slowest resource is busy with.
std::string bottleneck(const Scenario& scenario, const buckets::Plan& plan,
                       std::span<const BucketCost> costs, const Summary& summary) {
  const double period = *summary.iteration_time_s;
  if (*summary.straggler_wait_s > kStragglerShare * period) {
    return "straggler";
  }
  if (*summary.codec_compute_s > 0.5 * *summary.compute_s) {
    return "compression";
  }
  // The slower of computing and the channel sets the pace of a full pipeline.
  const Bound bound = bound_of(
      {.compute_s = *summary.compute_s, .exchange_s = *summary.communication_s, .delay_s = 0});
  return plan.groups.empty() || bound == Bound::compute ? "compute"
                                                        : largest_part(scenario, plan, costs);
}

// Buckets of the last iteration, from its start, by mean times.
// Buckets leave in their order, one at a time: each starts when it is ready and the channel is
// free.
void time_pieces(const programs::PipelineInput& input, const programs::PipelineTimes& times,
                 std::vector<Bucket>& buckets) {
  const programs::PipelineIteration& last = times.iterations.back();
  double ready = input.application_s + input.forward_s;
  double free = last.exchange_start_s - last.start_s;
  for (std::size_t g = 0; g < buckets.size(); ++g) {
    ready += input.pieces[g].compute_s;
    buckets[g].ready_s = ready + input.pieces[g].delay_s;
    buckets[g].start_s = std::max(free, buckets[g].ready_s);
    buckets[g].end_s = free = buckets[g].start_s + input.pieces[g].exchange_s;
  }
}

// The width of the scenario, or the best one.
// The wider the pipeline the staler its gradients, so that the smallest width within the tolerance
// is taken.
std::int64_t width_of(const Training& training, const programs::PipelineInput& input,
                      std::vector<std::string>& warnings) {
  if (training.pipeline_width) {
    return *training.pipeline_width;
  }
  programs::PipelineInput tried = input;
  tried.warmup_iterations = 0;
  const std::int64_t width =
      programs::best_width(training.max_width, training.width_tolerance, [&](std::int64_t each) {
        tried.width = each;
        return programs::run_pipeline(tried).period_s;
      });
  warnings.push_back(width_warning(width));
  return width;
}

Summary summary_of(const Scenario& scenario, const buckets::Plan& plan, const Pieces& pieces,
                   const programs::PipelineTimes& times) {
  const Training& training = scenario.training;
  const programs::PipelineInput& input = pieces.input;
  const double exchange = programs::exchange_seconds(input);
  Summary summary;
  const double compute = scenario.workload.forward().value + scenario.workload.backward().value +
                         training.update.value + pieces.select_s + pieces.encode_s +
                         pieces.decode_s;
  const double slowest = compute > 0 ? times.compute_s / compute : 1;
  fill_work(scenario, pieces.encode_s + pieces.decode_s,
            times.compute_s - slowest * pieces.select_s, summary);
  summary.iteration_time_s = times.period_s;
  fill_communication(times.exchange_s, times.exposed_s, summary);
  summary.straggler_wait_s = times.straggler_wait_s;
  summary.makespan_s = times.makespan_s;
  summary.makespan_drained_s = training.drain ? std::optional(times.drained_s) : std::nullopt;
  summary.closed_form_s = closed_form(input, compute, exchange);
  const auto width = static_cast<double>(programs::effective_width(input));
  // The published total, T / K (c + m), holds for a run of T iterations whose work is spread evenly
  // over K pipelines.
  summary.paper_form_s = static_cast<double>(training.iterations) / width * (compute + exchange);
  summary.pipeline_width = width;
  summary.wire_bytes = pieces.wire_bytes;
  fill_speedup(scenario,
               alone_seconds(scenario, jitter_of(scenario), training.iterations / 2,
                             training.iterations - 1, false),
               times.period_s, summary);
  fill_staleness(programs::pipeline_staleness(programs::pipeline_steps(input), training.drain),
                 summary);
  summary.in_flight_gradients = training.drain ? 0 : static_cast<double>(times.pending);
  fill_compression(scenario, pieces.costs, summary);
  for (const SummaryNumber part :
       {&Summary::select_s, &Summary::residual_s, &Summary::compress_s}) {
    if (summary.*part) {
      *(summary.*part) *= slowest;
    }
  }
  summary.bottleneck = bottleneck(scenario, plan, pieces.costs, summary);
  return summary;
}

// An iteration ends with the later of its computing and its exchange; its time goes from the end of
// the one before to its own, so that the times add up to the run.
std::vector<Iteration> iterations_of(const programs::PipelineTimes& times) {
  std::vector<Iteration> iterations;
  double end = 0;
  for (const programs::PipelineIteration& each : times.iterations) {
    const double before = end;
    end = std::max(each.exchange_end_s, each.compute_end_s);
    const auto& applied = each.applied_gradient; // numbered from 1
    iterations.push_back({.index = static_cast<std::int64_t>(iterations.size()),
                          .start_s = each.start_s,
                          .compute_end_s = each.compute_end_s,
                          .exchange_start_s = each.exchange_start_s,
                          .exchange_end_s = each.exchange_end_s,
                          .iteration_time_s = end - before,
                          .exposed_communication_s = std::max(0.0, end - before - times.compute_s),
                          .applied_gradient = applied ? std::optional(*applied - 1) : std::nullopt,
                          .density = {},
                          .k = {}});
  }
  return iterations;
}

} // namespace

Result run_pipeline(const Scenario& scenario) {
  const buckets::Problem problem = merge_problem(scenario);
  const buckets::Plan plan = plan_of(scenario, problem);
  BucketCosts costs(scenario, measured_curve(scenario));
  Pieces pieces = cut_into_pieces(scenario, problem, plan, costs);
  Result result;
  result.scenario = scenario;
  pieces.input.width = width_of(scenario.training, pieces.input, result.warnings);
  const programs::PipelineTimes times = programs::run_pipeline(pieces.input);

  result.summary = summary_of(scenario, plan, pieces, times);
  if (pieces.input.compute_slowdown > 1) {
    programs::PipelineInput free = pieces.input;
    free.compute_slowdown = 1;
    result.summary.interference_s =
        std::max(0.0, times.period_s - programs::run_pipeline(free).period_s);
  }
  result.method = collectives::name(costs.method());
  result.events = costs.events();
  add_common_warnings(scenario, plan, result);
  result.buckets = plain_buckets(scenario, plan, pieces.costs);
  time_pieces(pieces.input, times, result.buckets);
  result.iterations = iterations_of(times);
  fill_links(scenario, pieces.costs, result);
  if (scenario.variability.varies()) {
    for (std::size_t w = 0; w < times.workers.size(); ++w) {
      result.workers.push_back({.worker = static_cast<std::int64_t>(w),
                                .compute_s = times.workers[w].compute_s,
                                .straggler_wait_s = times.workers[w].straggler_wait_s,
                                .transfer_s = times.exchange_s});
    }
    fill_interval(scenario, result);
    // Computing and the channel with mean times, whichever takes longer.
    warn_below_bound(
        scenario,
        std::max(programs::compute_seconds(pieces.input), programs::exchange_seconds(pieces.input)),
        result);
  }
  return result;
}

} // namespace stepsim::study
