#pragma once
// Tries all 2^(n-1) merges of n gradients into contiguous runs (MER 5.6): the oracle of the tests,
// and a schedule that a scenario with few gradients may name.
#include "plan/problem.hpp"

namespace stepsim::plan {

struct ScheduleOptions;

inline constexpr std::int64_t kMaxExhaustiveItems = 20; // items with bytes

// The best of them; ties go to the fewest groups, then to the lexicographically smallest list of
// first items. Throws UsageError above kMaxExhaustiveItems. O(2^items).
[[nodiscard]] Plan plan_exhaustive(const Problem& problem, const ScheduleOptions& options);

} // namespace stepsim::plan
