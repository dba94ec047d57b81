#pragma once
// A given number of contiguous buckets of about equal bytes, however long the messages take. What a
// user does who sets the bucket size by hand, and the baseline for planners that know the cost.
#include <cstdint>

#include "plan/problem.hpp"

namespace stepsim::plan {

struct ScheduleOptions;
enum class Schedule : std::uint8_t;

inline constexpr Schedule kFixedCount{100};

inline constexpr std::int64_t kMostBuckets = 1000; // its table grows with them

// At most `options.buckets` groups; fewer where there are fewer items.
[[nodiscard]] Plan plan_fixed_count(const Problem& problem, const ScheduleOptions& options);

} // namespace stepsim::plan
