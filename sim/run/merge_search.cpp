// Every schedule that merges by a cost alone is tried by a run of its own: where the planner's cost
// is not the run's, none of them is the best by construction.
#include "run/merge_search.hpp"

#include <algorithm>
#include <array>

#include "run/run.hpp"
#include "scenario/scenario_exchange.hpp"
#include "scenario/scenario_sharding.hpp"

namespace stepsim::study {

namespace {

// Merges that depend on the gradients and their cost alone, not on keys of a schedule of their own.
constexpr std::array kTried{buckets::Schedule::single,  buckets::Schedule::wfbp,
                            buckets::Schedule::mg_wfbp, buckets::Schedule::mg_wfbp_small_tensors,
                            buckets::Schedule::eager,   buckets::Schedule::exhaustive,
                            buckets::Schedule::ddp,     buckets::Schedule::horovod};
constexpr std::int64_t kMostTriedExhaustively = 12; // gradients: 2,048 merges

// The next forward pass begins after the last message.
bool waits_for_all(const Scenario& scenario) {
  const auto& gradients = scenario.workload.gradients;
  return scenario.communication.next_forward == programs::NextForward::barrier ||
         std::ranges::any_of(gradients, [](const layers::Gradient& gradient) {
           return gradient.layer == 0 && gradient.bytes.value > 0;
         });
}

} // namespace

bool merge_is_certified(const Scenario& scenario) {
  const Communication& communication = scenario.communication;
  const Training& training = scenario.training;
  return training.algorithm == TrainingAlgorithm::sync_sgd && !accumulates_or_shards(scenario) &&
         !simulates_messages(scenario) && !is_simulated(scenario) && !training.overlap.any() &&
         !scenario.variability.varies() && training.input.value == 0 && !is_compressed(scenario) &&
         !communication.plan_cost && !communication.reduce_broadcast &&
         !scenario.cluster.network.planned_curve && waits_for_all(scenario);
}

bool searches_merge(const Scenario& scenario) {
  const Communication& communication = scenario.communication;
  return communication.schedule == buckets::Schedule::optimal && !communication.merge_of &&
         !communication.plan_cost && !is_simulated(scenario) && !simulates_messages(scenario) &&
         !merge_is_certified(scenario);
}

std::optional<buckets::Schedule> faster_merge(const Scenario& scenario) {
  const auto sent =
      std::ranges::count_if(scenario.workload.gradients, [](const layers::Gradient& gradient) {
        return gradient.bytes.value > 0;
      });
  Scenario tried = scenario;
  const auto period = [&](buckets::Schedule merge) {
    tried.communication.merge_of = merge;
    return period_of(tried);
  };
  constexpr double kEqual = 1 - 1e-12;
  std::optional<buckets::Schedule> best;
  double best_s = period(buckets::Schedule::optimal);
  for (const buckets::Schedule merge : kTried) {
    if (merge == buckets::Schedule::exhaustive && sent > kMostTriedExhaustively) {
      continue;
    }
    if (const double period_s = period(merge); period_s < best_s * kEqual) {
      best = merge;
      best_s = period_s;
    }
  }
  return best;
}

} // namespace stepsim::study
