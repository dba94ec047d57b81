// One message per gradient (Poseidon, and the authors' baseline with a threshold of 0). MER 5.1.
#include "buckets/schedules.hpp"

#include "buckets/planner_options.hpp"

namespace stepsim::buckets {

Plan plan_wfbp(const Problem& problem, const ScheduleOptions& /*options*/) {
  Plan plan;
  plan.groups.reserve(problem.items.size());
  for (std::size_t item = 0; item < problem.items.size(); ++item) {
    add_run(plan, problem, item, item);
  }
  return plan;
}

} // namespace stepsim::buckets
