#pragma once
// Plans sharding units for programs that unit_search.hpp does not cover (other prefetch, several
// micro-batches, replicas, interference): it tries all divisions of a small model, and searches
// locally among the divisions of a large one (TRN 6).

#include "buckets/unit_tables.hpp"

namespace stepsim::buckets {

using PeriodOfCuts = std::function<double(const Cuts& cuts)>; // seconds; must be pure

inline constexpr std::size_t kMostLayersTried = 16; // 32,768 divisions
// More layers have too many pairs of them for the exact planner (unit_search.hpp).
inline constexpr std::size_t kMostLayersLabelled = 128;

// Up to how many layers a search tries all divisions, and up to how many it follows every start.
struct SearchLimits {
  std::size_t tried = kMostLayersTried;
  std::size_t followed = kMostLayersLabelled;
};
// For periods that take long, of programs whose operations slow each other down.
inline constexpr SearchLimits kSlowSearch{.tried = 12, .followed = 12};

// Returns the best of all allowed divisions, certified, for at most limits.tried layers; else the
// best that local search finds, not certified, with the lower bound of TRN 6. Of equally good
// divisions the one with fewer units wins, then the one with smaller cuts. The search moves to the
// best division with one cut more or less until none is better. It starts at one unit per layer,
// one unit, every division into units of equally many layers, and `starts`; divisions that are not
// allowed are skipped. With more than limits.followed layers it starts at the four best of these
// only.
[[nodiscard]] UnitPlan search_units(const UnitProblem& problem, const PeriodOfCuts& period,
                                    const std::vector<Cuts>& starts, std::int64_t micro_batches,
                                    const SearchLimits& limits = {});

// Searches locally with the period of the problem itself, whose tables are `tables`, for any size;
// leaves the lower bound at 0.
[[nodiscard]] UnitPlan search_units(const UnitProblem& problem, const UnitTables& tables);

// An exact planner of sharding units, by labels with dominance (TRN 6).

// Returns the division with the shortest period; of equal periods (within 1e-12 relative) the one
// with the fewest units, then with the lexicographically smallest cuts. It is exact while no more
// than `label_limit` labels are kept. Beyond the limit, only the labels with the least lower bounds
// are kept per pair (first layer, last layer), and the plan is not certified. O(labels x layers)
// and the cost of dominance tests; the number of labels has no polynomial bound. With more than
// kMostLayersLabelled layers (unit_search.hpp) it searches locally instead: the plan is certified
// where its period is the lower bound.
[[nodiscard]] UnitPlan plan_units(const UnitProblem& problem, std::int64_t label_limit = 200'000);

} // namespace stepsim::buckets
