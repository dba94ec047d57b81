#include "sweep/sweep_quick.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "coll/formula/closed_form.hpp"
#include "plan/bounds.hpp"
#include "plan/planners.hpp"
#include "run/best_merge.hpp"
#include "run/period_bound.hpp"
#include "run/planned_messages.hpp"
#include "run/run_figures.hpp"
#include "run/step_summary.hpp"
#include "sweep/quick_conditions.hpp"
#include "train/step/step.hpp"

namespace stepsim::study {
std::unique_ptr<QuickRun> QuickRun::make(const Scenario& first, bool latency_is_block_latency) {
  Scenario scenario = first;
  if (scenario.cluster.ranks() == 1) { // what is sent with every message is nothing for one worker
    scenario.cluster.nodes = 2;
  }
  if (!takes_quick_way(scenario)) {
    return nullptr;
  }
  std::unique_ptr<QuickRun> quick(std::make_unique<QuickRun>(QuickRun(scenario)));
  quick->block_follows_ = latency_is_block_latency;
  return quick->set_up() ? std::move(quick) : nullptr;
}

bool QuickRun::set_up() {
  const train::Workload& workload = scenario_.workload;
  problem_ = merge_problem(scenario_);
  items_ = plan::batch_items(problem_);

  const train::StepInput input = step_input(scenario_);
  const train::StepTimes alone = train::run_step(input);
  alone_period_s_ = alone.period_s;
  forward_total_s_ = alone.forward_s;
  backward_s_ = alone.backward_s;
  update_s_ = input.update_s;
  input_s_ = input.input_s;
  input_pipelined_ = input.input_pipelined;
  barrier_ = input.next_forward == train::NextForward::barrier;
  forward_work_s_ = workload.forward().value;
  backward_work_s_ = workload.backward().value;
  forward_s_ = input.forward_s;
  const double bytes =
      std::accumulate(input.gradient_bytes.begin(), input.gradient_bytes.end(), 0.0);
  update_first_ = bytes == 0;
  for (const double share : input.gradient_bytes) {
    update_share_s_.push_back(bytes > 0 ? update_s_ * (share / bytes) : 0.0);
  }
  last_item_.assign(workload.layers.size(), -1);
  for (std::size_t i = 0; i < workload.gradients.size(); ++i) {
    const train::Gradient& gradient = workload.gradients[i];
    last_item_[gradient.layer] = static_cast<std::int32_t>(i);
    total_bytes_ += static_cast<double>(gradient.bytes.value);
    first_layer_bytes_ += gradient.layer == 0 ? static_cast<double>(gradient.bytes.value) : 0;
  }

  warnings_ = workload.warnings;
  warnings_.insert(warnings_.end(), scenario_.warnings.begin(), scenario_.warnings.end());
  const Communication& communication = scenario_.communication;
  const plan::Planner& planner = plan::planner(communication.schedule);
  is_static_ = !planner.reads_cost;
  if (!planner.one_channel()) {
    transfers_.emplace(planner, communication.schedule_options);
    layer_end_.resize(workload.layers.size());
    layer_row_.resize(workload.layers.size());
    std::iota(layer_row_.begin(), layer_row_.end(), 0);
  }
  if (is_static_) {
    const plan::Plan plan =
        plan::make_plan(problem_, communication.schedule, communication.schedule_options);
    warnings_.insert(warnings_.end(), plan.warnings.begin(), plan.warnings.end());
    if (transfers_) {
      transfers_->set_plan(plan, workload);
    }
    last_group_.assign(workload.layers.size(), -1);
    for (std::size_t g = 0; g < plan.groups.size(); ++g) {
      group_ready_s_.push_back(plan.groups[g].ready.value);
      group_bytes_.push_back(static_cast<double>(plan.groups[g].bytes.value));
      for (const std::uint32_t item : plan.groups[g].items) {
        last_group_[workload.gradients[item].layer] = static_cast<std::int32_t>(g);
      }
    }
  }
  if (barrier_) {
    std::ranges::fill(update_share_s_, 0.0);
    std::ranges::fill(last_item_, -1);
    std::ranges::fill(last_group_, -1);
    std::ranges::fill(layer_row_, -1);
  }
  warnings_alone_ = warnings_;
  warnings_alone_.emplace_back("one worker: no communication");
  group_end_.resize(group_ready_s_.size());
  item_end_.resize(items_.size());
  best_.emplace(items_);
  return true;
}

// False where the exchange is not a + b bytes here.
bool QuickRun::fill_costs(const QuickPoint& point, std::size_t k, LaneCosts& costs) {
  constexpr std::int64_t kMaxRanks = 1 << 20;
  Cluster& cluster = scenario_.cluster;
  if (point.nodes * cluster.gpus_per_node > kMaxRanks || !cluster.equal_nodes()) {
    return false;
  }
  cluster.nodes = point.nodes;
  cluster.network.latency_s = point.latency_s;
  cluster.network.bandwidth_Bps = point.bandwidth_Bps;
  if (block_follows_) {
    cluster.network.block_latency_s = point.latency_s;
  } else if (cluster.network.block_latency_s > point.latency_s) {
    return false;
  }
  costs.ranks[k] = static_cast<double>(cluster.ranks());
  costs.startup[k] = costs.per_byte[k] = 0;
  costs.latency[k] = costs.bandwidth[k] = costs.reduction[k] = 0;
  if (cluster.ranks() == 1) {
    return true;
  }
  coll::Collective probe = exchange_of(scenario_);
  probe.bytes = 1;
  if (!probe.homogeneous()) {
    return false;
  }
  const auto whole = coll::closed_form(probe);
  if (!whole || !whole->startup_s || !whole->per_byte_s || whole->upper_bound) {
    return false;
  }
  costs.startup[k] = *whole->startup_s;
  costs.per_byte[k] = *whole->per_byte_s;
  const FormParts parts = parts_of_(probe, *whole);
  costs.latency[k] = parts.latency_s;
  costs.bandwidth[k] = parts.bandwidth_s_per_byte;
  costs.reduction[k] = parts.reduction_s_per_byte;
  return true;
}

double QuickRun::static_wire(std::int64_t ranks) {
  const auto [place, is_new] = wire_by_ranks_.try_emplace(ranks);
  if (is_new) {
    for (const double bytes : group_bytes_) {
      place->second += wire_.most(scenario_, bytes, static_cast<double>(ranks));
    }
  }
  return place->second;
}

// The plan of one lane by its cost. False where it warns of something.
bool QuickRun::make_plan(const LaneCosts& costs, std::size_t k, plan::Plan& plan,
                         Summary& summary) {
  const Communication& communication = scenario_.communication;
  problem_.cost = {.base = plan::LinearCost{costs.startup[k], costs.per_byte[k]}};
  plan = plan::make_plan(problem_, communication.schedule, communication.schedule_options);
  if (communication.schedule == plan::Schedule::mg_wfbp) {
    summary.merge_waiting_merges = static_cast<double>(plan.waiting_merges);
    summary.merge_certified_optimal = plan::certified_optimal(problem_, plan);
  }
  return plan.warnings.empty();
}

// One lane through messages that are not sent one at a time.
bool QuickRun::send_transfers(const LaneCosts& costs, std::size_t k, LaneTotals& totals,
                              Summary& summary) {
  summary.merge_linear = true;
  if (!is_static_) {
    plan::Plan plan;
    if (!make_plan(costs, k, plan, summary)) {
      return false;
    }
    transfers_->set_plan(plan, scenario_.workload);
  }
  transfers_->send(costs, k, backward_s_, layer_end_, totals);
  for (std::size_t g = 0; !is_static_ && g < transfers_->size(); ++g) {
    totals.wire[k] += wire_.most(scenario_, transfers_->bytes(g), costs.ranks[k]);
  }
  return true;
}

// One lane through the messages of a plan of its own. False where the plan is no list of runs. A
// single worker waits for no tick of its schedule (plan_of).
bool QuickRun::send_runs(const LaneCosts& costs, std::size_t k, LaneTotals& totals,
                         Summary& summary) {
  runs_.clear();
  if (scenario_.communication.schedule == plan::Schedule::optimal) {
    for (std::size_t end = items_.size(); end > 0;) {
      runs_.push_back({end, items_.ready_s[end - 1]});
      end = static_cast<std::size_t>(best_->back(end, k));
    }
    std::ranges::reverse(runs_);
  } else {
    plan::Plan plan;
    if (!make_plan(costs, k, plan, summary)) {
      return false;
    }
    for (const plan::Group& group : plan.groups) {
      const std::size_t end = group.last() + 1;
      if (group.items.size() != end - (runs_.empty() ? 0 : runs_.back().end)) {
        return false;
      }
      runs_.push_back({end, costs.ranks[k] > 1 ? group.ready.value : items_.ready_s[end - 1]});
    }
  }

  double channel_end = 0;
  std::size_t first = 0;
  for (const auto& [end, ready] : runs_) {
    const double bytes = items_.prefix_bytes[end] - items_.prefix_bytes[first];
    const double seconds = costs.startup[k] + costs.per_byte[k] * bytes;
    channel_end = std::max(channel_end, ready) + seconds;
    totals.communication[k] += seconds;
    totals.latency[k] += costs.latency[k];
    totals.bandwidth[k] += costs.bandwidth[k] * bytes;
    totals.reduction[k] += costs.reduction[k] * bytes;
    totals.wire[k] += wire_.most(scenario_, bytes, costs.ranks[k]);
    for (; first < end; ++first) {
      item_end_[first][k] = channel_end;
    }
  }
  totals.channel_end[k] = channel_end;
  return true;
}

// End of the next forward, from the start of backward, per lane. `done` has the rows that layers
// wait for; behind a barrier layers wait for nothing more.
Lanes QuickRun::next_forward(const Lanes& channel_end, std::span<const std::int32_t> row_of,
                             std::span<const Lanes> done) const {
  Lanes start;
  for (std::size_t k = 0; k < kLanes; ++k) {
    const double finish = channel_end[k] > backward_s_ ? channel_end[k] : backward_s_;
    start[k] =
        barrier_ ? finish + update_s_ : (update_first_ ? backward_s_ + update_s_ : backward_s_);
  }
  return forward_in_lockstep(start, update_share_s_, forward_s_, row_of, done);
}

QuickRun::Period QuickRun::period_of(double end) const {
  Period result;
  result.exposed = train::exposed_communication_s(end, forward_total_s_, backward_s_, update_s_);
  const double busy = forward_total_s_ + backward_s_ + result.exposed;
  const double with_input = input_pipelined_ ? std::max(input_s_, busy) : input_s_ + busy;
  result.period = with_input + update_s_;
  result.input_wait = with_input - busy;
  return result;
}

// As `summarize` of summary.cpp. False if the run would be refused.
bool QuickRun::summarize(const QuickPoint& point, std::size_t k, const LaneCosts& costs,
                         const LaneTotals& totals, double end, double best_end,
                         Summary& summary) const {
  const Period step = period_of(end);
  const double finish = std::max(totals.channel_end[k], backward_s_);
  const double makespan = forward_total_s_ +
                          static_cast<double>(scenario_.training.iterations - 1) * step.period +
                          (finish + update_s_);
  if (!std::isfinite(makespan) || makespan > scenario_.simulated_limit.value) {
    return false;
  }
  summary.iteration_time_s = step.period;
  summary.forward_s = forward_total_s_;
  summary.backward_s = backward_s_;
  summary.update_s = update_s_;
  summary.codec_compute_s = 0;
  summary.compute_s = forward_total_s_ + backward_s_ + update_s_;
  summary.communication_s = totals.communication[k];
  summary.exposed_communication_s = step.exposed;
  summary.overlap_fraction = totals.communication[k] > 0
                                 ? std::clamp(1 - step.exposed / totals.communication[k], 0.0, 1.0)
                                 : 1;
  summary.wire_bytes = totals.wire[k];
  summary.straggler_wait_s = 0;
  summary.makespan_s = makespan;
  if (step.period > 0) {
    const auto workers = static_cast<double>(ranks(point.nodes));
    summary.scaling_efficiency = alone_period_s_ / step.period;
    summary.speedup = workers * *summary.scaling_efficiency;
    if (scenario_.workload.batch_size) {
      summary.samples_per_s =
          workers * static_cast<double>(*scenario_.workload.batch_size) / step.period;
    }
  }
  const plan::Schedule schedule = scenario_.communication.schedule;
  const double slowdown = schedule == plan::Schedule::asc_wfbp
                              ? plan::least_slowdown(scenario_.communication.schedule_options)
                              : 1;
  double bound = forward_work_s_ + backward_work_s_;
  if (first_layer_bytes_ > 0) {
    const double first_layer = costs.startup[k] + costs.per_byte[k] * first_layer_bytes_ * slowdown;
    bound = std::max(bound, backward_work_s_ + first_layer + forward_work_s_);
  }
  const double all = costs.startup[k] + costs.per_byte[k] * total_bytes_ * slowdown;
  bound = std::max(bound, items_.ready_s.front() + all + forward_s_.back());
  summary.lower_bound_s = bound_of(bound, step.period);
  compare_with_optimum(
      schedule, schedule == plan::Schedule::optimal ? step.period : period_of(best_end).period,
      summary);
  summary.closed_form_s = step.period;
  summary.closed_form_is_bound = false;
  summary.input_wait_s = step.input_wait;
  const bool hidden = step.exposed <= kHiddenShare * step.period;
  const char* largest =
      totals.latency[k] >= totals.bandwidth[k] && totals.latency[k] >= totals.reduction[k]
          ? "latency"
      : totals.bandwidth[k] >= totals.reduction[k] ? "bandwidth"
                                                   : "reduction";
  summary.bottleneck = hidden ? "compute" : largest;
  find_input_bound(scenario_, summary);
  fill_compute_interval(scenario_, summary);
  return true;
}

void QuickRun::run(std::span<const QuickPoint> points, std::span<Summary* const> summaries,
                   std::span<bool> done) {
  static constexpr std::string_view kBaseline =
      "one worker: forward, backward and update without communication";
  LaneCosts costs;
  LaneTotals totals;
  for (std::size_t k = 0; k < points.size(); ++k) {
    Summary& summary = *summaries[k];
    std::string baseline = std::move(summary.baseline); // keeps its memory
    summary = Summary{};
    summary.baseline = std::move(baseline);
    done[k] = fill_costs(points[k], k, costs);
  }
  best_->run(costs.startup, costs.per_byte);
  const Lanes best_end =
      next_forward(best_->finish_s()[items_.size()], last_item_, best_->item_end_s());
  const bool lockstep = is_static_ && !transfers_;
  if (lockstep) {
    totals = send_in_lockstep(group_ready_s_, group_bytes_, costs, group_end_);
  }
  for (std::size_t k = 0; k < points.size(); ++k) {
    if (done[k] && is_static_) {
      totals.wire[k] = static_wire(ranks(points[k].nodes));
    }
    if (done[k] && !lockstep) {
      done[k] = transfers_ ? send_transfers(costs, k, totals, *summaries[k])
                           : send_runs(costs, k, totals, *summaries[k]);
    }
  }
  const Lanes end = transfers_ ? next_forward(totals.channel_end, layer_row_, layer_end_)
                    : lockstep ? next_forward(totals.channel_end, last_group_, group_end_)
                               : next_forward(totals.channel_end, last_item_, item_end_);
  for (std::size_t k = 0; k < points.size(); ++k) {
    Summary& summary = *summaries[k];
    if (done[k]) {
      done[k] = summarize(points[k], k, costs, totals, end[k], best_end[k], summary);
    }
    if (done[k] && summary.baseline != kBaseline) {
      summary.baseline = kBaseline;
    }
  }
}

} // namespace stepsim::study
