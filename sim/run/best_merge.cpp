// The best merge is planned by the linear cost that planners see, and then evaluated as the run's
// own messages are, so that both periods hold the same effects and their ratio says something about
// the merge alone.

#include "run/best_merge.hpp"

#include <algorithm>

#include "buckets/bounds.hpp"
#include "collectives/choose.hpp"
#include "collectives/formula/blocks.hpp"
#include "collectives/formula/closed_form.hpp"
#include "collectives/formula/prepared_form.hpp"
#include "run/planned_messages.hpp"
#include "scenario/scenario_exchange.hpp"

namespace stepsim::study {

namespace {

// The best merge with every message evaluated as the run evaluates its own.
double optimal_period(const Scenario& scenario, const buckets::Problem& problem,
                      const programs::StepInput& bare, BucketCosts& costs) {
  constexpr buckets::Schedule kOptimal = buckets::Schedule::optimal;
  const buckets::Plan best = buckets::make_plan(problem, kOptimal);
  const auto period = [&](BucketCosts& evaluate) {
    std::vector<MessageSeconds> seconds;
    for (const buckets::Group& group : best.groups) {
      seconds.push_back(message_seconds(problem, evaluate.times(group), kOptimal));
    }
    programs::StepInput step = with_messages(bare, scenario, best, kOptimal);
    set_times(scenario, best, seconds, step);
    return programs::run_step(step).period_s;
  };
  if (!has_all_gathers(scenario)) {
    return period(costs);
  }
  // A schedule with all-gathers sends each message in two halves. The optimum it is compared with
  // sends whole all-reduces, which need costs of their own.
  BucketCosts whole(scenario, measured_curve(scenario), BucketCosts::Parts::whole);
  return period(whole);
}

// Whether every message of the run takes what planners see by formula (formula_cost), bit for bit:
// the prepared closed form with parts of n / k bytes. Planners may see a measured curve where the
// run does not, and what comes on top of an exchange is added in another order there.
bool runs_by_formula(const Scenario& scenario, const BucketCosts& costs) {
  const Network& network = scenario.cluster.network;
  const buckets::LinearCost extra = extra_cost(scenario);
  return costs.method() == collectives::Method::closed_form && !network.curve &&
         !network.planned_curve && !is_compressed(scenario) && !has_all_gathers(scenario) &&
         scenario.communication.options.chunking == collectives::Chunking::real &&
         extra.startup_s == 0 && extra.per_byte_s == 0 &&
         collectives::prepare(exchange_of(scenario)).has_value();
}

} // namespace

// A closed form may be an upper bound for some sizes only, so that every message is asked.
bool formula_is_bound(const Scenario& scenario, const buckets::Plan& plan) {
  collectives::Collective collective = exchange_of(scenario);
  if (const auto prepared = collectives::prepare(collective)) {
    return std::ranges::any_of(plan.groups, [&](const buckets::Group& group) {
      const auto bytes = static_cast<double>(group.bytes.value);
      return bytes > 0 && prepared->at(bytes).form.upper_bound;
    });
  }
  return exchanges(scenario) && std::ranges::any_of(plan.groups, [&](const buckets::Group& group) {
           collective.bytes = static_cast<double>(group.bytes.value);
           const collectives::Collective asked = collectives::with_chosen_algorithm(collective);
           const auto form = asked.homogeneous() ? collectives::closed_form(asked) : std::nullopt;
           return form && form->upper_bound;
         });
}

void compare_with_optimum(buckets::Schedule schedule, double best_s, Summary& summary) {
  // The gap is given only to schedules that plan with a cost alone: others send several messages at
  // once, halves of them, or buckets that somebody else has cut, so that they solve another
  // problem.
  const bool one_channel = buckets::planner(schedule).needs == buckets::Needs::cost;
  const double period = *summary.iteration_time_s;
  // Planners see equal parts and formulas where evaluators may know better.
  const double best = one_channel ? std::min(best_s, period) : best_s;
  summary.merge_optimal_iteration_time_s = best;
  if (one_channel) {
    summary.merge_gap_to_optimal = best > 0 ? period / best - 1 : 0;
  }
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
    summary.merge_certified_optimal = linear && buckets::certified_optimal(problem, plan);
  }
}

void fill_optimum(const Scenario& scenario, const buckets::Problem& problem,
                  const buckets::Plan& plan, const programs::StepInput& bare,
                  programs::StepInput& step, BucketCosts& costs, Summary& summary) {
  if (scenario.communication.reduce_broadcast) {
    return; // the planner's cost is the reduce alone: no optimum of the whole exchange
  }
  const buckets::Schedule schedule = scenario.communication.schedule;
  const bool by_formula = runs_by_formula(scenario, costs); // before other messages are asked
  compare_with_optimum(schedule,
                       schedule == buckets::Schedule::optimal
                           ? *summary.iteration_time_s
                           : optimal_period(scenario, problem, bare, costs),
                       summary);
  // A measured curve has no formula beside itself, and a fabric has no closed form. No evaluator is
  // asked for the period by formula, whatever the run used.
  if (by_formula) {
    summary.closed_form_s = *summary.iteration_time_s;
    summary.closed_form_is_bound = formula_is_bound(scenario, plan);
  } else if (!scenario.cluster.network.curve && !scenario.cluster.fabric) {
    buckets::Problem formula;
    formula.cost = formula_cost(scenario, problem.cost);
    set_times(scenario, plan, planned_seconds(scenario, formula, plan, schedule), step);
    summary.closed_form_s = programs::run_step(step).period_s;
    summary.closed_form_is_bound = formula_is_bound(scenario, plan);
  }
}

} // namespace stepsim::study
