#pragma once
// The best merge (optimal.hpp) of one list of items for kBatchLanes costs that are any functions of
// bytes, side by side: the recurrence of plan_optimal()
//     F_i = min over j < i of max(F_j, r_i) + T(S_i - S_j)
// with the same choices, bit for bit. All lanes look at the same prefixes j at the same time, so
// that the cost of a size is asked for on all networks at once. A prefix is skipped where a lower
// bound says for every lane that it cannot be the best. Seconds and bytes are plain doubles.
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "buckets/batch.hpp"

namespace stepsim::buckets {

// T of every lane, and a lower bound of it, up to rounding.
struct LaneCurves {
  // Sets seconds[k] = T(bytes), and tag[k] to a number that goes with a message that is chosen.
  std::function<void(double bytes, BatchLanes& seconds, BatchLanes& tag)> seconds;
  // A line startup_s[k] + per_byte_s[k] n for low <= n <= high.
  std::function<void(double low, double high, BatchLanes& startup_s, BatchLanes& per_byte_s)>
      least_lines;
};

class CurveBlock {
public:
  // `items` must outlive the object and not be empty.
  explicit CurveBlock(const BatchItems& items);
  void run(const LaneCurves& cost);

  // Of the last run, as in OptimalBlock: [i] F_i; [item] end of the message that carries the item;
  // [i] the number of items before the last message of the best plan for the first i items, and
  // the tag of that message (from i = 1).
  [[nodiscard]] std::span<const BatchLanes> finish_s() const { return finish_s_; }
  [[nodiscard]] std::span<const BatchLanes> item_end_s() const { return item_end_s_; }
  [[nodiscard]] std::int64_t back(std::size_t i, std::size_t lane) const { return back_[i][lane]; }
  [[nodiscard]] double tag(std::size_t i, std::size_t lane) const { return tag_[i][lane]; }

private:
  void choose(std::size_t i, const LaneCurves& cost);
  [[nodiscard]] bool choose_below_limit(std::size_t i, const LaneCurves& cost);
  [[nodiscard]] std::size_t guess(std::size_t i) const;

  // A lower bound startup_s + per_byte_s n of the cost of a range of sizes.
  struct Line {
    BatchLanes startup_s{}, per_byte_s{};
  };
  [[nodiscard]] const Line& line_of(double bytes) const;

  const BatchItems& items_;
  std::vector<BatchLanes> finish_s_, item_end_s_, tag_;
  std::vector<std::array<std::int64_t, kBatchLanes>> back_;
  Line all_;                  // of all sizes
  std::uint64_t first_piece_; // SizePieces
  std::vector<Line> pieces_;
};

} // namespace stepsim::buckets
