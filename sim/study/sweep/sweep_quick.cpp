
#include "study/sweep/sweep_quick.hpp"

#include "buckets/problem.hpp"
#include "collectives/algorithms.hpp"
#include "run/planned_messages.hpp"
#include "run/run_figures.hpp"
#include "run/verdict.hpp"

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
  if (!quick->set_up()) {
    return nullptr;
  }
  quick->scenario_.cluster.nodes = first.cluster.nodes; // of points that do not say theirs
  return quick;
}

bool QuickRun::set_up() {
  const layers::Workload& workload = scenario_.workload;
  problem_ = merge_problem(scenario_);
  items_ = buckets::batch_items(problem_);
  memory_ = unsharded_memory(scenario_, scenario_.cluster.ranks(), {});
  memory_alone_ = unsharded_memory(scenario_, 1, {});

  step_.emplace(scenario_, items_.ready_s.front());
  last_item_.assign(workload.layers.size(), -1);
  for (std::size_t i = 0; i < workload.gradients.size(); ++i) {
    last_item_[workload.gradients[i].layer] = static_cast<std::int32_t>(i);
  }

  warnings_ = workload.warnings;
  warnings_.insert(warnings_.end(), scenario_.warnings.begin(), scenario_.warnings.end());
  const Communication& communication = scenario_.communication;
  const buckets::Planner& planner = buckets::planner(communication.schedule);
  is_static_ = !planner.reads_cost;
  slowdown_ = buckets::least_slowdown(communication.schedule_options);
  if (!planner.one_channel(communication.schedule_options)) {
    transfers_.emplace(planner, communication.schedule_options);
    layer_end_.resize(workload.layers.size());
    layer_row_.resize(workload.layers.size());
    std::iota(layer_row_.begin(), layer_row_.end(), 0);
  }
  if (is_static_) {
    const buckets::Plan plan =
        buckets::make_plan(problem_, communication.schedule, communication.schedule_options);
    warnings_.insert(warnings_.end(), plan.warnings.begin(), plan.warnings.end());
    if (transfers_) {
      transfers_->set_plan(plan, workload);
    }
    last_group_.assign(workload.layers.size(), -1);
    sizes_.assign(1, plan);
    for (std::size_t g = 0; g < plan.groups.size(); ++g) {
      group_ready_s_.push_back(plan.groups[g].ready.value);
      group_bytes_.push_back(static_cast<double>(plan.groups[g].bytes.value));
      for (const std::uint32_t item : plan.groups[g].items) {
        last_group_[workload.gradients[item].layer] = static_cast<std::int32_t>(g);
      }
    }
  }
  if (step_->barrier()) {
    std::ranges::fill(last_item_, -1);
    std::ranges::fill(last_group_, -1);
    std::ranges::fill(layer_row_, -1);
  }
  warnings_alone_ = warnings_;
  warnings_alone_.emplace_back("one worker: no communication");
  if (auto idle = collectives::idle_interfaces(exchange_of(scenario_))) {
    warnings_.push_back(*std::move(idle));
  }
  group_end_.resize(group_ready_s_.size());
  item_end_.resize(items_.size());
  item_start_.resize(items_.size());
  best_.emplace(items_);
  const collectives::AlgorithmId collective = communication.collective;
  if (collective == collectives::AlgorithmId::automatic ||
      collectives::algorithm(collective).block_streams > 0) {
    curves_ = std::make_unique<QuickCurves>();
    sizes_.resize(is_static_ ? 1 : kLanes);
    takes_bounds_ = scenario_.method.has_value();
  }
  return true;
}

collectives::Method QuickRun::method() const {
  return scenario_.method || !transfers_ ? collectives::Method::closed_form
                                         : collectives::Method::events;
}

double QuickRun::static_wire(std::size_t k, double ranks) {
  if (scenario_.communication.collective != collectives::AlgorithmId::automatic) {
    return wire_.total(scenario_, group_bytes_, ranks);
  }
  return wire_.total_by(
      scenario_, [&](std::size_t g) { return curves_->algorithm_of(k, g); }, group_bytes_, ranks);
}

// The plan of one lane by its cost. False where it warns of something.
bool QuickRun::make_plan(const LaneCosts& costs, std::size_t k, buckets::Plan& plan,
                         Summary& summary) {
  const Communication& communication = scenario_.communication;
  problem_.cost =
      curves_ ? merge_cost(scenario_)
              : buckets::Cost{.base = buckets::LinearCost{costs.startup[k], costs.per_byte[k]}};
  // make_plan() without the times of the groups: every gradient has bytes.
  plan = buckets::planner(communication.schedule).run(problem_, communication.schedule_options);
  buckets::count_bytes(problem_, plan);
  if (communication.schedule == buckets::Schedule::mg_wfbp) {
    summary.merge_waiting_merges = static_cast<double>(plan.waiting_merges);
    summary.merge_certified_optimal = buckets::certified_optimal(problem_, plan);
  }
  return plan.warnings.empty();
}

// One lane through messages that are not sent one at a time.
bool QuickRun::send_transfers(const LaneCosts& costs, std::size_t k, LaneTotals& totals,
                              Summary& summary) {
  if (buckets::planner(scenario_.communication.schedule).needs_linear_cost()) {
    summary.merge_linear = true;
  }
  if (!is_static_) {
    buckets::Plan plan;
    if (!make_plan(costs, k, plan, summary)) {
      return false;
    }
    transfers_->set_plan(plan, scenario_.workload);
  }
  transfers_->send(costs, k, layer_end_, totals);
  chained_[k] = study::chained_s(
      transfers_->sent(), step_->waits_until(k, totals.channel_end[k], layer_row_, layer_end_));
  for (std::size_t g = 0; !is_static_ && g < transfers_->size(); ++g) {
    totals.wire[k] += wire_.most(scenario_, scenario_.communication.collective,
                                 transfers_->bytes(g), costs.ranks[k]);
  }
  return true;
}

// One lane through the messages of a plan of its own. False where the plan is no list of runs. A
// single worker waits for no tick of its schedule (plan_of).
bool QuickRun::send_runs(const LaneCosts& costs, std::size_t k, LaneTotals& totals,
                         Summary& summary) {
  runs_.clear();
  if (scenario_.communication.schedule == buckets::Schedule::optimal && !curves_) {
    for (std::size_t end = items_.size(); end > 0;) {
      runs_.push_back({end, items_.ready_s[end - 1]});
      end = static_cast<std::size_t>(best_->back(end, k));
    }
    std::ranges::reverse(runs_);
  } else {
    buckets::Plan plan;
    if (!make_plan(costs, k, plan, summary)) {
      return false;
    }
    for (const buckets::Group& group : plan.groups) {
      const std::size_t end = group.last() + 1;
      if (group.items.size() != end - (runs_.empty() ? 0 : runs_.back().end)) {
        return false;
      }
      runs_.push_back({end, costs.ranks[k] > 1 ? group.ready.value : items_.ready_s[end - 1]});
    }
  }

  double channel_end = 0;
  std::size_t first = 0;
  if (curves_) {
    sizes_[k].groups.clear();
  }
  for (const auto& [end, ready] : runs_) {
    const double bytes = items_.prefix_bytes[end] - items_.prefix_bytes[first];
    const double seconds = curves_ ? curves_->send(k, bytes).form.seconds
                                   : costs.startup[k] + costs.per_byte[k] * bytes;
    const double start = std::max(channel_end, ready);
    channel_end = start + seconds;
    totals.communication[k] += seconds;
    totals.latency[k] += costs.latency[k];
    totals.bandwidth[k] += costs.bandwidth[k] * bytes;
    totals.reduction[k] += costs.reduction[k] * bytes;
    const collectives::AlgorithmId asked = scenario_.communication.collective;
    totals.wire[k] += wire_.most(
        scenario_,
        asked == collectives::AlgorithmId::automatic ? curves_->algorithm(k, bytes) : asked, bytes,
        costs.ranks[k]);
    if (curves_) {
      sizes_[k].groups.emplace_back().bytes = Bytes{static_cast<std::int64_t>(bytes)};
    }
    for (; first < end; ++first) {
      item_start_[first][k] = start;
      item_end_[first][k] = channel_end;
    }
  }
  totals.channel_end[k] = channel_end;
  return true;
}

// Of messages that are sent one at a time.
double QuickRun::chained_s(std::size_t k, double channel_end) const {
  const bool lockstep = is_static_;
  std::vector<Sent> sent;
  double end = 0;
  for (std::size_t g = 0; lockstep && g < group_end_.size(); ++g) {
    sent.push_back({std::max(end, group_ready_s_[g]), group_end_[g][k]});
    end = group_end_[g][k];
  }
  for (std::size_t i = 0; !lockstep && i < item_end_.size(); ++i) {
    sent.push_back({item_start_[i][k], item_end_[i][k]});
  }
  return study::chained_s(std::move(sent),
                          step_->waits_until(k, channel_end, lockstep ? last_group_ : last_item_,
                                             lockstep ? group_end_ : item_end_));
}

// The summary of run(). False if the run would be refused.
bool QuickRun::summarize(const QuickPoint& point, std::size_t k, const LaneCosts& costs,
                         const LaneTotals& totals, const Lanes& ends, Summary& summary) {
  const QuickStep::Period step = step_->period_of(ends[k]);
  if (!step_->summarize(scenario_, step, totals, k, ranks(point.nodes), summary)) {
    return false;
  }
  const buckets::Schedule schedule = scenario_.communication.schedule;
  if (schedule == buckets::Schedule::optimal) {
    summary.merge_certified_optimal = merge_is_certified(scenario_);
  }
  summary.closed_form_s = step.period;
  summary.closed_form_is_bound = curves_ && curves_->has_bound(k);
  if (curves_) {
    (void)set_network(point);
    if (const auto bound = PeriodBounds(scenario_, problem_, WorkSums(scenario_)).with_slowest(1)) {
      summary.lower_bound_s = bound_of(*bound, step.period);
    }
  } else {
    summary.lower_bound_s =
        bound_of(step_->lower_bound(costs.startup[k], costs.per_byte[k], slowdown_), step.period);
  }
  summary.bottleneck = verdict(
      summary, [&] { return transfers_ ? chained_[k] : chained_s(k, totals.channel_end[k]); },
      [&] {
        const bool free_additions = scenario_.cluster.network.reduction_Bps <= 0;
        if (const auto parts = curves_ && is_static_ && free_additions
                                   ? curves_->parts(k, group_bytes_)
                                   : std::nullopt) {
          return largest_of({.latency_s = parts->latency_s, .bandwidth_s = parts->bandwidth_s});
        }
        return curves_ ? largest_part(scenario_, sizes_[is_static_ ? 0 : k], {})
                       : largest_of({.latency_s = totals.latency[k],
                                     .bandwidth_s = totals.bandwidth[k],
                                     .reduction_s = totals.reduction[k]});
      });
  fill_memory(ranks(point.nodes) == 1 ? memory_alone_ : memory_, scenario_.cluster, summary);
  fill_step(scenario_, summary);
  find_input_bound(scenario_, summary);
  fill_compute_interval(scenario_, summary);
  return fill_job(scenario_.job, point.nodes, ranks(point.nodes), summary);
}

void QuickRun::run(std::span<const QuickPoint> points, std::span<Summary* const> summaries,
                   std::span<bool> done) {
  static constexpr std::string_view kBaseline =
      "one worker: forward, backward and update without communication";
  LaneCosts costs;
  LaneTotals totals;
  if (curves_) {
    curves_->clear();
  }
  for (std::size_t k = 0; k < points.size(); ++k) {
    Summary& summary = *summaries[k];
    std::string baseline = std::move(summary.baseline); // keeps its memory
    summary = Summary{};
    summary.baseline = std::move(baseline);
    done[k] = fill_costs(points[k], k, costs);
  }
  if (curves_ && std::ranges::none_of(done, std::identity{})) {
    return;
  }
  const bool lockstep = is_static_ && !transfers_;
  if (lockstep) {
    totals = curves_ ? curves_->send(group_ready_s_, group_bytes_, group_end_)
                     : send_in_lockstep(group_ready_s_, group_bytes_, costs, group_end_);
  }
  if (scenario_.communication.schedule == buckets::Schedule::optimal && !curves_) {
    best_->run(costs.startup, costs.per_byte);
  }
  for (std::size_t k = 0; k < points.size(); ++k) {
    if (done[k] && is_static_) {
      totals.wire[k] = static_wire(k, static_cast<double>(ranks(points[k].nodes)));
    }
    if (done[k] && !lockstep) {
      (void)set_network(points[k]);
      done[k] = transfers_ ? send_transfers(costs, k, totals, *summaries[k])
                           : send_runs(costs, k, totals, *summaries[k]);
    }
    done[k] = done[k] && (!curves_ || takes_bounds_ || !curves_->has_bound(k));
  }
  const Lanes ends = transfers_ ? step_->next_forward(totals.channel_end, layer_row_, layer_end_)
                     : lockstep ? step_->next_forward(totals.channel_end, last_group_, group_end_)
                                : step_->next_forward(totals.channel_end, last_item_, item_end_);
  for (std::size_t k = 0; k < points.size(); ++k) {
    Summary& summary = *summaries[k];
    if (done[k]) {
      done[k] = summarize(points[k], k, costs, totals, ends, summary);
    }
    if (done[k] && summary.baseline != kBaseline) {
      summary.baseline = kBaseline;
    }
  }
}

} // namespace stepsim::study
