#include "sweep/sweep_quick.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <utility>

#include "plan/bounds.hpp"
#include "plan/planners.hpp"
#include "run/run_parts.hpp"

namespace stepsim::study {

namespace {

constexpr double kHiddenShare = 0.01; // as in summary.cpp

} // namespace

// Reduce-scatter and all-gather: every part but one each.
double QuickRun::wire_of(double bytes, double ranks) const {
  const double sent = bytes - bytes / ranks;
  return ranks > 1 ? sent + sent : 0.0;
}

double QuickRun::static_wire(std::int64_t ranks) {
  const auto [place, is_new] = wire_by_ranks_.try_emplace(ranks);
  if (is_new) {
    for (const double bytes : group_bytes_) {
      place->second += wire_of(bytes, static_cast<double>(ranks));
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
    totals.wire[k] += wire_of(bytes, costs.ranks[k]);
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
