// Every schedule that merges by a cost alone is tried by a run of its own: where the planner's cost
// is not the run's, none of them is the best by construction.
#include "run/run_program.hpp"

#include "run/planned_messages.hpp"
#include "run/run.hpp"
#include "scenario/scenario_training.hpp"

namespace stepsim::study {

namespace {

// Merges that depend on the gradients and their cost alone, not on keys of a schedule of their own.
constexpr std::array kTried = [] {
  using enum buckets::Schedule;
  return std::array{optimal, single,     wfbp, mg_wfbp, mg_wfbp_small_tensors,
                    eager,   exhaustive, ddp,  horovod};
}();
constexpr std::int64_t kMostTriedExhaustively = 12; // gradients: 2,048 merges

// The next forward pass begins after the last message.
bool waits_for_all(const Scenario& scenario) {
  const auto& gradients = scenario.workload.gradients;
  return scenario.communication.next_forward == programs::NextForward::barrier ||
         std::ranges::any_of(gradients, [](const layers::Gradient& gradient) {
           return gradient.layer == 0 && gradient.bytes.value > 0;
         });
}

// The fastest of `tried` by the period that `find` gives to each, if that is below the limit; empty
// where it gives none.
template <class Find>
std::optional<FastestMerge> fastest_of(std::span<const buckets::Schedule> tried, Find find) {
  constexpr double kEqual = 1 - 1e-12;
  FastestMerge best{.merge = tried.front(), .period_s = std::numeric_limits<double>::infinity()};
  for (const buckets::Schedule merge : tried) {
    const double limit = best.period_s * kEqual;
    const std::optional<double> period_s = find(merge, limit);
    if (!period_s) {
      return std::nullopt;
    }
    if (*period_s < limit) {
      best = {.merge = merge, .period_s = *period_s};
    }
  }
  return best;
}

// Estimates the period of a step with each merge; only those near the least estimate are evaluated
// exactly.
std::optional<FastestMerge> fastest_of(std::span<const buckets::Schedule> tried, StepPeriod& step) {
  constexpr double kNear = 1 + 1e-9;
  std::vector<double> estimates;
  estimates.reserve(tried.size());
  double least_s = std::numeric_limits<double>::infinity();
  for (const buckets::Schedule merge : tried) {
    const std::optional<double> period_s = step.estimate(merge, least_s);
    if (!period_s) {
      return std::nullopt;
    }
    estimates.push_back(*period_s);
    least_s = std::min(least_s, *period_s > 0 ? *period_s : least_s);
  }
  auto estimate = estimates.begin();
  return fastest_of(tried, [&](buckets::Schedule merge, double limit) {
    return *estimate++ < least_s * kNear ? step(merge, limit) : limit;
  });
}

// Every message is asked, as with `auto` the algorithm depends on its size, and a closed form may
// be an upper bound for some sizes only.
template <class Ask> bool any_form(const Scenario& scenario, const buckets::Plan& plan, Ask ask) {
  collectives::Collective collective = exchange_of(scenario);
  return exchanges(scenario) && std::ranges::any_of(plan.groups, [&](const buckets::Group& group) {
           collective.bytes = static_cast<double>(group.bytes.value);
           const collectives::Collective asked = collectives::with_chosen_algorithm(collective);
           return collective.bytes > 0 &&
                  ask(asked.homogeneous() ? collectives::closed_form(asked) : std::nullopt);
         });
}

bool has_formula(const Scenario& scenario, const buckets::Plan& plan) {
  return !any_form(scenario, plan, [](const auto& form) { return !form; });
}

bool formula_is_bound(const Scenario& scenario, const buckets::Plan& plan) {
  return any_form(scenario, plan, [](const auto& form) { return form && form->upper_bound; });
}

// Whether a run takes the times that planners see: messages are whole all-reduces, and nothing but
// they delays a worker.
bool runs_as_planned(const Scenario& scenario) {
  return !scenario.communication.reduce_broadcast && !scenario.variability.varies() &&
         !scenario.training.overlap.any();
}

} // namespace

bool merge_is_certified(const Scenario& scenario) {
  const Communication& communication = scenario.communication;
  const Training& training = scenario.training;
  return training.algorithm == TrainingAlgorithm::sync_sgd && !accumulates_or_shards(scenario) &&
         !simulates_messages(scenario) && !is_simulated(scenario) && !training.overlap.any() &&
         !scenario.variability.varies() && training.input.value == 0 && training.wait.value == 0 &&
         !is_compressed(scenario) && !communication.plan_cost && !communication.reduce_broadcast &&
         !scenario.cluster.network.planned_curve && waits_for_all(scenario);
}

bool searches_merge(const Scenario& scenario) {
  const Communication& communication = scenario.communication;
  return communication.schedule == buckets::Schedule::optimal && !communication.merge_of &&
         !communication.plan_cost && !is_simulated(scenario) && !simulates_messages(scenario) &&
         !merge_is_certified(scenario);
}

FastestMerge fastest_merge(const Scenario& scenario, ProgramMemory* memory) {
  std::int64_t sent = 0;
  for (const layers::Gradient& gradient : scenario.workload.gradients) {
    sent += gradient.bytes.value > 0 ? 1 : 0;
    if (sent > kMostTriedExhaustively) {
      break;
    }
  }
  std::vector<buckets::Schedule> merges(kTried.begin(), kTried.end());
  if (sent > kMostTriedExhaustively) {
    std::erase(merges, buckets::Schedule::exhaustive);
  }
  if (StepPeriod::is_for(scenario)) {
    StepMemory own;
    StepPeriod step(scenario, memory != nullptr ? memory->step() : own);
    if (const auto fastest = fastest_of(merges, step)) {
      return *fastest;
    }
  }
  Scenario tried = scenario;
  if (memory != nullptr) {
    memory->merges.resize(merges.size());
  }
  std::size_t m = 0;
  return *fastest_of(merges, [&](buckets::Schedule merge, double) {
    tried.communication.merge_of = merge;
    return std::optional(period_of(tried, memory != nullptr ? &memory->merges[m++] : nullptr));
  });
}

bool has_merge_figures(const Scenario& scenario) {
  const Training& training = scenario.training;
  const bool in_step =
      training.algorithm == TrainingAlgorithm::sync_sgd ||
      (training.algorithm == TrainingAlgorithm::parameter_server && !training.async());
  return in_step && !accumulates_or_shards(scenario) && !simulates_messages(scenario) &&
         !is_compressed(scenario);
}

void fill_greedy(const Scenario& scenario, const buckets::Problem& problem,
                 const buckets::Plan& plan, Summary& summary) {
  const buckets::Schedule schedule = scenario.communication.schedule;
  const bool linear = !scenario.communication.question; // else the tangent of the library's cost
  if (buckets::planner(schedule).needs_linear_cost()) {
    summary.merge_linear = linear;
  }
  if (schedule == buckets::Schedule::mg_wfbp) {
    summary.merge_waiting_merges = static_cast<double>(plan.waiting_merges);
    summary.merge_certified_optimal =
        linear && runs_as_planned(scenario) && buckets::certified_optimal(problem, plan);
  }
}

// The best merge is planned by the cost that planners see and run as the run's own: as whole
// all-reduces, one after the other.
void fill_optimum(const Scenario& scenario, Summary& summary) {
  const buckets::Schedule schedule = scenario.communication.schedule;
  if (!runs_as_planned(scenario)) {
    return;
  }
  Scenario best = scenario;
  best.communication.schedule = buckets::Schedule::optimal;
  best.communication.merge_of = buckets::Schedule::optimal;
  best.communication.plan_cost.reset();
  const double period = step_of(summary);
  const double best_s = schedule == buckets::Schedule::optimal ? period : period_of(best);
  // The gap is given only to schedules that plan with a cost alone: others send several messages at
  // once, halves of them, or buckets that somebody else has cut, so that they solve another
  // problem.
  const buckets::Planner& planner = buckets::planner(schedule);
  const bool one_channel = planner.needs == buckets::Needs::cost &&
                           planner.one_channel(scenario.communication.schedule_options);
  // Planners see equal parts and formulas where evaluators may know better.
  const double best_of_both = one_channel ? std::min(best_s, period) : best_s;
  summary.merge_optimal_iteration_time_s = best_of_both;
  if (one_channel) {
    summary.merge_gap_to_optimal = best_of_both > 0 ? period / best_of_both - 1 : 0;
  }
}

void fill_closed_form(const Scenario& scenario, const buckets::Plan& plan, Result& result) {
  const Training& training = scenario.training;
  const Network& network = scenario.cluster.network;
  Summary& summary = result.summary;
  if (summary.closed_form_s || scenario.variability.random() || simulates_messages(scenario) ||
      network.curve || scenario.cluster.fabric) {
    return;
  }
  const bool by_formula = *result.exchange_method == collectives::Method::closed_form;
  const bool exact = by_formula && (!scenario.method || is_compressed(scenario));
  const bool rounds = needs_server_rounds(scenario); // whose formula begins with the last worker
  if (exact && !rounds) {
    summary.closed_form_s = step_of(summary);
    return;
  }
  if (!exact && (is_compressed(scenario) || training.sharding.any() || trains_in_rounds(training) ||
                 !has_formula(scenario, plan))) {
    return;
  }
  Scenario formula = scenario;
  formula.method = collectives::Method::closed_form;
  summary.closed_form_s = by_formula && !rounds ? step_of(summary) : period_of(formula);
  summary.closed_form_is_bound = rounds || formula_is_bound(scenario, plan);
}

} // namespace stepsim::study
