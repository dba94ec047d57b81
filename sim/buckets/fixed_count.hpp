#pragma once
// A given number of contiguous buckets with bytes as equal as possible (least sum of squares),
// whatever the messages cost: the result of tuning a bucket size by hand, and a baseline for
// planners that use the cost.
#include <cstdint>

#include "buckets/problem.hpp"

namespace stepsim::buckets {

struct ScheduleOptions;
enum class Schedule : std::uint8_t;

// Its number in Schedule, after those in planners.hpp.
inline constexpr Schedule kFixedCount{100};

inline constexpr std::int64_t kMostBuckets = 1000; // memory grows as buckets x items

// Returns at most `options.buckets` groups; fewer if there are fewer items. O(buckets x items x log
// items).
[[nodiscard]] Plan plan_fixed_count(const Problem& problem, const ScheduleOptions& options);

} // namespace stepsim::buckets
