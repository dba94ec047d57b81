#pragma once
// Tries all 2^(n-1) merges of n gradients into contiguous runs (MER 5.6): a reference for tests,
// and a schedule for scenarios with few gradients.
#include "buckets/problem.hpp"

namespace stepsim::buckets {

struct ScheduleOptions;

inline constexpr std::int64_t kMaxExhaustiveItems = 20; // items with bytes

// Returns the best plan; at equal finish the one with the fewest groups, then with the
// lexicographically smallest list of first items. Throws UsageError for more than
// kMaxExhaustiveItems. O(2^items).
[[nodiscard]] Plan plan_exhaustive(const Problem& problem, const ScheduleOptions& options);

} // namespace stepsim::buckets
