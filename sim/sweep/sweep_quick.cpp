#include "sweep/sweep_quick.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <tuple>
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
  is_static_ = is_static_schedule(communication.schedule);
  if (is_static_) {
    const plan::Plan plan =
        plan::make_plan(problem_, communication.schedule, communication.schedule_options);
    warnings_.insert(warnings_.end(), plan.warnings.begin(), plan.warnings.end());
    last_group_.assign(workload.layers.size(), -1);
    for (std::size_t g = 0; g < plan.groups.size(); ++g) {
      group_ready_s_.push_back(plan.groups[g].ready.value);
      group_bytes_.push_back(static_cast<double>(plan.groups[g].bytes.value));
      for (const std::uint32_t item : plan.groups[g].items) {
        last_group_[workload.gradients[item].layer] = static_cast<std::int32_t>(g);
      }
    }
  }
  warnings_alone_ = warnings_;
  warnings_alone_.emplace_back("one worker: no communication");
  group_end_.resize(group_ready_s_.size());
  layer_done_.resize(workload.layers.size());
  best_done_.resize(workload.layers.size());
  finish_.resize(items_.size() + 1);
  back_.resize(items_.size() + 1);
  return true;
}

// False where the exchange is not a + b bytes here.
bool QuickRun::fill_costs(const QuickPoint& point, std::size_t k, Costs& costs) {
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
  const auto form = [&] { return coll::closed_form(probe); };
  const auto whole = form();
  if (!whole || !whole->startup_s || !whole->per_byte_s || whole->upper_bound) {
    return false;
  }
  costs.startup[k] = *whole->startup_s;
  costs.per_byte[k] = *whole->per_byte_s;
  // The parts, as in run/largest_part.cpp: a ring's startup is all latency, and bandwidth
  // and reduction have no startup.
  const coll::Links links = probe.links;
  const double reduction = probe.reduction_s_per_byte;
  const auto without = [](coll::LinkCost& cost, bool latency) {
    (latency ? cost.latency_s : cost.per_byte_s) = 0;
    cost.block_latency_s *= latency ? 0 : 1;
    cost.delay_s *= latency ? 0 : 1;
  };
  const auto strip = [&](bool latency) {
    without(probe.links.all, latency);
    if (probe.links.two_level) {
      without(probe.links.two_level->intra, latency);
    }
  };
  strip(false);
  probe.reduction_s_per_byte = 0;
  costs.latency[k] = *form()->startup_s;
  probe.links = links;
  strip(true);
  costs.bandwidth[k] = *form()->per_byte_s;
  strip(false);
  probe.reduction_s_per_byte = reduction;
  costs.reduction[k] = *form()->per_byte_s;
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

// All lanes through the messages of a plan that is the same for all.
void QuickRun::send_static(const Costs& costs, Totals& totals) {
  Totals sums;
  for (std::size_t g = 0; g < group_ready_s_.size(); ++g) {
    const double ready = group_ready_s_[g];
    const double bytes = group_bytes_[g];
    for (std::size_t k = 0; k < kLanes; ++k) {
      const double end = sums.channel_end[k];
      const double start = end > ready ? end : ready;
      const double seconds = costs.startup[k] + costs.per_byte[k] * bytes;
      sums.channel_end[k] = start + seconds;
      sums.communication[k] += seconds;
      sums.latency[k] += costs.latency[k];
      sums.bandwidth[k] += costs.bandwidth[k] * bytes;
      sums.reduction[k] += costs.reduction[k] * bytes;
    }
    group_end_[g] = sums.channel_end;
  }
  totals = sums;
  for (std::size_t l = 0; l < last_group_.size(); ++l) {
    if (last_group_[l] < 0) {
      layer_done_[l].fill(0);
    } else {
      layer_done_[l] = group_end_[static_cast<std::size_t>(last_group_[l])];
    }
  }
}

// Ends of messages per layer under the best contiguous plan for a + b bytes, into best_done_; the
// plan's boundaries into ends_, last first.
void QuickRun::optimal_runs(double startup, double per_byte, std::size_t k) {
  std::ignore = plan::optimal_finish(items_, {startup, per_byte}, finish_, back_);
  best_channel_[k] = finish_[items_.size()];
  ends_.clear();
  for (std::size_t end = items_.size(); end > 0; end = back_[end]) {
    ends_.push_back(static_cast<std::uint32_t>(end));
  }
  std::size_t end = items_.size();
  for (std::size_t l = 0; l < last_item_.size(); ++l) {
    if (last_item_[l] < 0) {
      best_done_[l][k] = 0;
      continue;
    }
    const auto item = static_cast<std::size_t>(last_item_[l]);
    while (item < back_[end]) {
      end = back_[end];
    }
    best_done_[l][k] = finish_[end];
  }
}

// One lane through the messages of a plan of its own. False where the plan is no list of runs.
bool QuickRun::send_runs(const Costs& costs, std::size_t k, Totals& totals, Summary& summary) {
  const Communication& communication = scenario_.communication;
  if (communication.schedule == plan::Schedule::mg_wfbp) {
    problem_.cost = {.base = plan::LinearCost{costs.startup[k], costs.per_byte[k]}};
    const plan::Plan plan =
        plan::make_plan(problem_, communication.schedule, communication.schedule_options);
    summary.merge_waiting_merges = static_cast<double>(plan.waiting_merges);
    summary.merge_certified_optimal = plan::certified_optimal(problem_, plan);
    ends_.clear();
    for (std::size_t g = plan.groups.size(); g-- > 0;) {
      const plan::Group& group = plan.groups[g];
      if (group.items.size() != group.last() - group.first() + 1 || !plan.warnings.empty()) {
        return false;
      }
      ends_.push_back(group.last() + 1);
    }
  } // else ends_ is what optimal_runs has left

  double channel_end = 0;
  std::size_t first = 0;
  std::size_t next_layer = last_item_.size(); // layers from here on are done
  for (std::size_t g = ends_.size(); g-- > 0;) {
    const std::size_t last = ends_[g] - 1;
    const double bytes = items_.prefix_bytes[ends_[g]] - items_.prefix_bytes[first];
    const double seconds = costs.startup[k] + costs.per_byte[k] * bytes;
    channel_end = std::max(channel_end, items_.ready_s[last]) + seconds;
    totals.communication[k] += seconds;
    totals.latency[k] += costs.latency[k];
    totals.bandwidth[k] += costs.bandwidth[k] * bytes;
    totals.reduction[k] += costs.reduction[k] * bytes;
    totals.wire[k] += wire_.most(scenario_, bytes, costs.ranks[k]);
    // Backward order: this group finishes the layers whose last gradient is at or before `last`.
    while (next_layer > 0 && last_item_[next_layer - 1] <= static_cast<std::int32_t>(last)) {
      --next_layer;
      layer_done_[next_layer][k] = last_item_[next_layer] < 0 ? 0.0 : channel_end;
    }
    first = ends_[g];
  }
  while (next_layer > 0) {
    layer_done_[--next_layer][k] = 0.0;
  }
  totals.channel_end[k] = channel_end;
  return true;
}

// End of the next forward, from the start of backward, per lane (train/step/step.cpp).
void QuickRun::next_forward(const Lanes& channel_end, const std::vector<Lanes>& done,
                            Lanes& end) const {
  Lanes t;
  for (std::size_t k = 0; k < kLanes; ++k) {
    const double finish = channel_end[k] > backward_s_ ? channel_end[k] : backward_s_;
    t[k] = barrier_ ? finish + update_s_ : (update_first_ ? backward_s_ + update_s_ : backward_s_);
  }
  for (std::size_t l = 0; l < forward_s_.size(); ++l) {
    const double forward = forward_s_[l];
    if (barrier_) {
      for (std::size_t k = 0; k < kLanes; ++k) {
        t[k] += forward;
      }
      continue;
    }
    const double update = update_share_s_[l];
    const Lanes& layer = done[l];
    for (std::size_t k = 0; k < kLanes; ++k) {
      const double start = t[k] > layer[k] ? t[k] : layer[k];
      t[k] = (start + update) + forward;
    }
  }
  end = t;
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
bool QuickRun::summarize(const QuickPoint& point, std::size_t k, const Costs& costs,
                         const Totals& totals, double end, double best_end,
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
  double bound = forward_work_s_ + backward_work_s_;
  if (first_layer_bytes_ > 0) {
    const double first_layer = costs.startup[k] + costs.per_byte[k] * first_layer_bytes_;
    bound = std::max(bound, backward_work_s_ + first_layer + forward_work_s_);
  }
  const double all = costs.startup[k] + costs.per_byte[k] * total_bytes_;
  bound = std::max(bound, items_.ready_s.front() + all + forward_s_.back());
  summary.lower_bound_s = bound_of(bound, step.period);
  const plan::Schedule schedule = scenario_.communication.schedule;
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
  fill_compute_interval(scenario_, summary);
  return true;
}

void QuickRun::run(std::span<const QuickPoint> points, std::span<Summary* const> summaries,
                   std::span<bool> done) {
  static constexpr std::string_view kBaseline =
      "one worker: forward, backward and update without communication";
  Costs costs;
  Totals totals;
  for (std::size_t k = 0; k < points.size(); ++k) {
    Summary& summary = *summaries[k];
    std::string baseline = std::move(summary.baseline); // keeps its memory
    summary = Summary{};
    summary.baseline = std::move(baseline);
    done[k] = fill_costs(points[k], k, costs);
    if (done[k]) {
      optimal_runs(costs.startup[k], costs.per_byte[k], k);
      done[k] = is_static_ || send_runs(costs, k, totals, summary);
    }
  }
  Lanes end{};
  Lanes best_end{};
  next_forward(best_channel_, best_done_, best_end);
  if (is_static_) {
    send_static(costs, totals);
    for (std::size_t k = 0; k < points.size(); ++k) {
      totals.wire[k] = done[k] ? static_wire(ranks(points[k].nodes)) : 0.0;
    }
  }
  next_forward(totals.channel_end, layer_done_, end);
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
