#pragma once
// The exact planner of sharding units: labels with dominance (TRN 6).
#include <cstdint>

#include "plan/unit_planner.hpp"

namespace stepsim::plan {

// The division with the shortest period; of equal ones, to 1e-12 of it, that with the fewest units,
// then the lexicographically smallest cuts. Exact while no more than `label_limit` labels are kept.
// From then on each pair (first layer, last layer) keeps those with the least lower bounds, and the
// plan is not certified. O(labels x layers) and what dominance costs; the number of labels has no
// polynomial bound.
[[nodiscard]] UnitPlan plan_units(const UnitProblem& problem, std::int64_t label_limit = 200'000);

} // namespace stepsim::plan
