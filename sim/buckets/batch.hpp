#pragma once
// The best merge (MER 5.7) of one list of gradients for many linear costs (a, b): the inner loop of
// sweeps, without groups, strings or allocation:
//     F_i = min over j of max(F_j, r_i) + a + b (S_i - S_j)
// Items count from 1 in this formula: r_i is the ready time of item i, S_i the bytes of the first i
// items, and F_i is when the best plan for them ends. 32 costs are computed in lockstep, one vector
// lane each. Seconds and bytes are plain doubles here; the choices are those of best_prefixes().
#include <array>

#include "buckets/problem.hpp"

namespace stepsim::buckets {

inline constexpr std::size_t kBatchLanes = 32;
using BatchLanes = std::array<double, kBatchLanes>;

// The items with bytes, in backward order.
struct BatchItems {
  std::vector<double> ready_s;
  std::vector<double> bytes;
  std::vector<double> prefix_bytes; // size() + 1 sums, from 0
  double channel_free_s{};          // the channel is busy until then
  [[nodiscard]] std::size_t size() const { return ready_s.size(); }
};

[[nodiscard]] BatchItems batch_items(const Problem& problem);

// The best plans of one list of items for kBatchLanes costs, one lane each.
class OptimalBlock {
public:
  // `items` must outlive the object.
  explicit OptimalBlock(const BatchItems& items);
  void run(const BatchLanes& startup_s, const BatchLanes& per_byte_s);

  // Number of items before the last message of the best plan for the first i >= 1 items, after
  // run().
  [[nodiscard]] std::int64_t back(std::size_t i, std::size_t lane) const { return back_[i][lane]; }

private:
  const BatchItems& items_;
  std::vector<BatchLanes> finish_s_, sums_; // [i] F_i, S_i
  std::vector<std::array<std::int64_t, kBatchLanes>> back_;
};

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

// The best merge for one channel, by dynamic programming over the last group (MER 5.7):
//     F_i = min over j < i of max(F_j, r_i) + T(S_i - S_j)
// F_i is the earliest finish of the first i items, r_i the ready time of item i, S_i the bytes of
// the first i items; F_0 is when the channel is free.

struct ScheduleOptions;

// Relative: what two sums of the same times may differ by. Ties go to the smallest j (MER 5.7).
inline constexpr double kOptimalTie = 1e-12;

// Returns a plan with the earliest finish over all groupings into contiguous runs, for any cost;
// another plan with the same finish may have fewer groups. O(items) for a linear cost, else
// O(items^2) calls of the cost.
[[nodiscard]] Plan plan_optimal(const Problem& problem, const ScheduleOptions& options);

} // namespace stepsim::buckets
