#pragma once
// Plans sharding units for programs that unit_labels.hpp does not cover (other prefetch, several
// micro-batches, replicas, interference): it tries all divisions of a small model, and searches
// locally among the divisions of a large one (TRN 6).
#include <cstddef>
#include <functional>
#include <vector>

#include "buckets/unit_planner.hpp"
#include "buckets/unit_tables.hpp"

namespace stepsim::buckets {

using PeriodOfCuts = std::function<double(const Cuts& cuts)>; // seconds; must be pure

inline constexpr std::size_t kMostLayersTried = 16; // 32,768 divisions
// More layers have too many pairs of them for the exact planner (unit_labels.hpp).
inline constexpr std::size_t kMostLayersLabelled = 128;

// Returns the best of all allowed divisions, certified, for at most kMostLayersTried layers; else
// the best that local search finds, not certified, with the lower bound of TRN 6. Of equally good
// divisions the one with fewer units wins, then the one with smaller cuts. The search moves to the
// best division with one cut more or less until none is better. It starts at one unit per layer,
// one unit, every division into units of equally many layers, and `starts`; divisions that are not
// allowed are skipped. With more than kMostLayersLabelled layers it starts at the four best of
// these equal divisions only.
[[nodiscard]] UnitPlan search_units(const UnitProblem& problem, const PeriodOfCuts& period,
                                    const std::vector<Cuts>& starts, std::int64_t micro_batches);

// Searches locally with the period of the problem itself, whose tables are `tables`, for any size;
// leaves the lower bound at 0.
[[nodiscard]] UnitPlan search_units(const UnitProblem& problem, const UnitTables& tables);

} // namespace stepsim::buckets
