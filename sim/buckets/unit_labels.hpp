#pragma once
// An exact planner of sharding units, by labels with dominance (TRN 6).
#include <cstdint>

#include "buckets/unit_planner.hpp"

namespace stepsim::buckets {

// Returns the division with the shortest period; of equal periods (within 1e-12 relative) the one
// with the fewest units, then with the lexicographically smallest cuts. It is exact while no more
// than `label_limit` labels are kept. Beyond the limit, only the labels with the least lower bounds
// are kept per pair (first layer, last layer), and the plan is not certified. O(labels x layers)
// and the cost of dominance tests; the number of labels has no polynomial bound. With more than
// kMostLayersLabelled layers (unit_search.hpp) it searches locally instead: the plan is certified
// where its period is the lower bound.
[[nodiscard]] UnitPlan plan_units(const UnitProblem& problem, std::int64_t label_limit = 200'000);

} // namespace stepsim::buckets
