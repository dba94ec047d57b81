// One message of everything, after backward (SyncEASGD). MER 5.1.
#include "plan/single.hpp"

#include "plan/groups.hpp"
#include "plan/planner_options.hpp"

namespace stepsim::plan {

Plan plan_single(const Problem& problem, const ScheduleOptions& /*options*/) {
  Plan plan;
  add_run(plan, problem, 0, problem.items.size() - 1);
  return plan;
}

} // namespace stepsim::plan
