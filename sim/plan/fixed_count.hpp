#pragma once
// A given number of contiguous buckets whose bytes are as equal as they can be (least sum of
// squares), however long the messages take: what a user gets who tunes a bucket size by hand, and a
// baseline for planners that know the cost.
#include <cstdint>

#include "plan/problem.hpp"

namespace stepsim::plan {

struct ScheduleOptions;
enum class Schedule : std::uint8_t;

// Its number in Schedule, beyond those that planners.hpp lists.
inline constexpr Schedule kFixedCount{100};

inline constexpr std::int64_t kMostBuckets = 1000; // memory grows as buckets x items

// At most `options.buckets` groups; fewer where there are fewer items. O(buckets x items x log
// items).
[[nodiscard]] Plan plan_fixed_count(const Problem& problem, const ScheduleOptions& options);

} // namespace stepsim::plan
