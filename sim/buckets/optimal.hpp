#pragma once
// The best merge (MER 5.7) of one list of gradients for one channel:
//     F_i = min over j < i of max(F_j, r_i) + T(S_i - S_j)
// Items count from 1 in this formula: r_i is the ready time of item i, S_i the bytes of the first i
// items, F_i the earliest finish of the first i items, and F_0 is when the channel is free. Seconds
// and bytes are plain doubles here.
#include "buckets/problem.hpp"

namespace stepsim::buckets {

// The best plan of the first i items.
struct BestPrefix {
  double finish_s{};    // F_i
  double bytes{};       // S_i
  std::uint32_t back{}; // the number of items before its last group
};

// Returns the best plans of the first items of a problem, by a linear cost; all items must have
// bytes. Element i is the plan of the first i items, up to the first plan that ends after the last
// item is ready; the last element is the plan of all items.
[[nodiscard]] std::vector<BestPrefix> best_prefixes(const Problem& problem, const LinearCost& cost);

struct ScheduleOptions;

// Relative: what two sums of the same times may differ by. Ties go to the smallest j (MER 5.7).
inline constexpr double kOptimalTie = 1e-12;

// Returns a plan with the earliest finish over all groupings into contiguous runs, for any cost;
// another plan with the same finish may have fewer groups. O(items) for a linear cost, else
// O(items^2) calls of the cost.
[[nodiscard]] Plan plan_optimal(const Problem& problem, const ScheduleOptions& options);

} // namespace stepsim::buckets
