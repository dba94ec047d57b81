
#include "study/sweep/sweep_quick.hpp"

#include "collectives/algorithms.hpp"
#include "run/planned_messages.hpp"
#include "run/run_figures.hpp"

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

  step_.emplace(scenario_);
  sums_.emplace(scenario_);
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
  in_turn_ = planner.one_channel(communication.schedule_options);
  plans_.resize(is_static_ ? 1 : kLanes);
  if (!in_turn_) {
    sending_.options = communication.schedule_options;
    layer_end_.resize(workload.layers.size());
    layer_row_.resize(workload.layers.size());
    std::iota(layer_row_.begin(), layer_row_.end(), 0);
  }
  if (is_static_) {
    const buckets::Plan& plan = plans_.front() =
        buckets::make_plan(problem_, communication.schedule, communication.schedule_options);
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
  if (step_->barrier()) {
    std::ranges::fill(last_item_, -1);
    std::ranges::fill(last_group_, -1);
    std::ranges::fill(layer_row_, -1);
  }
  warnings_alone_ = warnings_;
  warnings_alone_.emplace_back("one worker: no communication");
  const collectives::Collective exchange = exchange_of(scenario_);
  if (auto idle = collectives::idle_interfaces(exchange)) {
    warnings_.push_back(*std::move(idle));
  }
  is_split_ = !exchange.links.two_level && exchange.reduction_s_per_byte == 0;
  group_end_.resize(group_ready_s_.size());
  item_end_.resize(items_.size());
  item_start_.resize(items_.size());
  best_.emplace(items_);
  const collectives::AlgorithmId collective = communication.collective;
  if (collective == collectives::AlgorithmId::automatic ||
      collectives::algorithm(collective).block_streams > 0) {
    curves_ = std::make_unique<QuickCurves>();
    takes_bounds_ = scenario_.method.has_value();
  }
  return true;
}

collectives::Method QuickRun::method() const {
  return scenario_.method || in_turn_ ? collectives::Method::closed_form
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
bool QuickRun::make_plan(const LaneCosts& costs, std::size_t k, Summary& summary) {
  buckets::Plan& plan = plans_[k];
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

// One lane through messages that are not sent one at a time; times as those of time_buckets().
bool QuickRun::send_transfers(const LaneCosts& costs, std::size_t k, LaneTotals& totals,
                              Summary& summary) {
  const buckets::Planner& planner = buckets::planner(scenario_.communication.schedule);
  if (planner.needs_linear_cost()) {
    summary.merge_linear = true;
  }
  if (!is_static_ && !make_plan(costs, k, summary)) {
    return false;
  }
  const std::vector<buckets::Group>& groups = plans_[is_static_ ? 0 : k].groups;
  sending_.transfers.resize(groups.size());
  ready_s_.resize(groups.size());
  for (std::size_t g = 0; g < groups.size(); ++g) {
    buckets::Transfer& transfer = sending_.transfers[g];
    transfer.bytes = static_cast<double>(groups[g].bytes.value);
    const double seconds = costs.startup[k] + costs.per_byte[k] * transfer.bytes;
    transfer.startup_s = std::min(costs.startup[k], seconds);
    transfer.data_s = seconds - transfer.startup_s;
    ready_s_[g] = groups[g].ready.value;
  }
  for (std::size_t g = 0; !is_static_ && g < groups.size(); ++g) {
    totals.wire[k] += wire_.most(scenario_, scenario_.communication.collective,
                                 sending_.transfers[g].bytes, costs.ranks[k]);
  }
  planner.send(sending_, {.ready_s = ready_s_}, times_);
  for (Lanes& end : layer_end_) {
    end[k] = 0;
  }
  std::vector<Sent> sent;
  sent.reserve(groups.size());
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (const std::uint32_t item : groups[g].items) {
      double& end = layer_end_[problem_.items[item].layer][k];
      end = std::max(end, times_.end_s[g]);
    }
    sent.push_back({times_.start_s[g], times_.end_s[g]});
  }
  totals.channel_end[k] = times_.finish_s;
  totals.communication[k] = times_.busy_s;
  chained_[k] = study::chained_s(
      std::move(sent), step_->waits_until(k, totals.channel_end[k], layer_row_, layer_end_));
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
    if (!make_plan(costs, k, summary)) {
      return false;
    }
    for (const buckets::Group& group : plans_[k].groups) {
      const std::size_t end = group.last() + 1;
      if (group.items.size() != end - (runs_.empty() ? 0 : runs_.back().end)) {
        return false;
      }
      runs_.push_back({end, costs.ranks[k] > 1 ? group.ready.value : items_.ready_s[end - 1]});
    }
  }

  double channel_end = 0;
  std::size_t first = 0;
  plans_[k].groups.resize(runs_.size());
  auto group = plans_[k].groups.begin();
  for (const auto& [end, ready] : runs_) {
    const double bytes = items_.prefix_bytes[end] - items_.prefix_bytes[first];
    const double seconds =
        curves_ ? curves_->send(k, bytes).seconds : costs.startup[k] + costs.per_byte[k] * bytes;
    const double start = std::max(channel_end, ready);
    channel_end = start + seconds;
    totals.communication[k] += seconds;
    (group++)->bytes = Bytes{static_cast<std::int64_t>(bytes)};
    const collectives::AlgorithmId asked = scenario_.communication.collective;
    totals.wire[k] += wire_.most(
        scenario_,
        asked == collectives::AlgorithmId::automatic ? curves_->algorithm(k, bytes) : asked, bytes,
        costs.ranks[k]);
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
  (void)set_network(point);
  if (!step_->summarize(scenario_, step, totals, k, summary)) {
    return false;
  }
  const buckets::Schedule schedule = scenario_.communication.schedule;
  if (schedule == buckets::Schedule::optimal) {
    summary.merge_certified_optimal = merge_is_certified(scenario_);
  }
  summary.closed_form_s = step.period;
  summary.closed_form_is_bound = curves_ && curves_->has_bound(k);
  const auto seconds = [&](double bytes) {
    return bytes > 0 ? costs.startup[k] + costs.per_byte[k] * bytes * slowdown_ : 0;
  };
  const PeriodBounds bounds =
      curves_ ? PeriodBounds(scenario_, problem_, *sums_)
              : PeriodBounds(scenario_, problem_, *sums_,
                             MessageBounds{.first_layer_s = seconds(sums_->first_layer_bytes),
                                           .all_s = seconds(sums_->bytes)});
  if (const auto bound = bounds.with_slowest(1)) {
    summary.lower_bound_s = bound_of(*bound, step.period);
  }
  summary.bottleneck = verdict(
      summary, [&] { return in_turn_ ? chained_s(k, totals.channel_end[k]) : chained_[k]; },
      [&] {
        const buckets::Plan& plan = plans_[is_static_ ? 0 : k];
        if (!curves_ && is_split_) {
          const auto messages = static_cast<double>(plan.groups.size());
          return largest_of({.latency_s = costs.startup[k] * messages,
                             .bandwidth_s = costs.per_byte[k] * sums_->bytes});
        }
        if (const auto parts = curves_ && is_static_ && is_split_ ? curves_->parts(k, group_bytes_)
                                                                  : std::nullopt) {
          return largest_of({.latency_s = parts->latency_s, .bandwidth_s = parts->bandwidth_s});
        }
        return largest_part(scenario_, plan, {});
      });
  fill_memory(ranks(point.nodes) == 1 ? memory_alone_ : memory_, scenario_.cluster, summary);
  fill_step(scenario_, summary);
  find_input_bound(scenario_, summary);
  fill_compute_interval(scenario_, summary);
  return fill_job(scenario_.job, point.nodes, ranks(point.nodes), summary);
}

void QuickRun::run(std::span<const QuickPoint> points, std::span<Summary* const> summaries,
                   std::span<bool> done) {
  LaneCosts costs;
  LaneTotals totals;
  if (curves_) {
    curves_->clear();
  }
  for (std::size_t k = 0; k < points.size(); ++k) {
    *summaries[k] = Summary{};
    done[k] = fill_costs(points[k], k, costs);
  }
  if (curves_ && std::ranges::none_of(done, std::identity{})) {
    return;
  }
  const bool lockstep = is_static_ && in_turn_;
  for (std::size_t g = 0; lockstep && g < group_bytes_.size(); ++g) {
    if (curves_) {
      curves_->time(g, group_bytes_[g], costs.startup);
    }
    send_message(group_ready_s_[g], group_bytes_[g], costs, totals, group_end_[g]);
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
      done[k] = in_turn_ ? send_runs(costs, k, totals, *summaries[k])
                         : send_transfers(costs, k, totals, *summaries[k]);
    }
    done[k] = done[k] && (!curves_ || takes_bounds_ || !curves_->has_bound(k));
  }
  const Lanes ends = !in_turn_  ? step_->next_forward(totals.channel_end, layer_row_, layer_end_)
                     : lockstep ? step_->next_forward(totals.channel_end, last_group_, group_end_)
                                : step_->next_forward(totals.channel_end, last_item_, item_end_);
  for (std::size_t k = 0; k < points.size(); ++k) {
    done[k] = done[k] && summarize(points[k], k, costs, totals, ends, *summaries[k]);
  }
}

} // namespace stepsim::study
