#pragma once
// T(m): seconds that one message of m bytes holds the channel; T(0) = 0. Only a CurveCost may
// decrease with m, because a library may change to a faster algorithm for larger messages. Planners
// then do not pad a message to make it faster. Three kinds:
//   LinearCost   a + b m                                  planners use their O(L) forms
//   TableCost    piecewise linear through measured points (MER 4.2)
//   CurveCost    any function of bytes, e.g. a collective whose block size depends on m
// Optional copy bandwidth: a message of two or more items costs 4 m / copy_bandwidth more
// (MER 4.4).
#include <cassert>
#include <cstddef>
#include <functional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "base/units.hpp"

namespace stepsim::buckets {

struct LinearCost {
  double startup_s{};  // a >= 0
  double per_byte_s{}; // b >= 0
};

// At least two points, with bytes > 0 strictly ascending and seconds > 0 non-decreasing. The time
// is linear between points, that of the first point below it, and grows by `slope_s_per_byte`
// beyond the last.
struct TableCost {
  std::vector<double> bytes;
  std::vector<double> seconds;
  double slope_s_per_byte{}; // >= 0
};

// `seconds` must be pure, and > 0 for bytes > 0. A planner calls it at most O(items^2) times per
// plan, `exhaustive` O(2^items) times.
struct CurveCost {
  std::function<double(double bytes)> seconds;
  // Returns a line that `seconds` is never below for sizes from `low` to `high`, rounding aside.
  // The closer the line is, the fewer sizes the search for the best merge evaluates. Empty: no line
  // is known.
  std::function<LinearCost(double low, double high)> least{};
};

struct Cost {
  std::variant<LinearCost, TableCost, CurveCost> base = LinearCost{};
  double copy_bandwidth_Bps{}; // 0 = no copies

  // Whether the cost is a + b m for every message: linear, and without copies.
  [[nodiscard]] bool is_linear() const {
    return std::holds_alternative<LinearCost>(base) && copy_bandwidth_Bps == 0;
  }
  // Returns the seconds of one message of `bytes` made of `items` non-empty items; 0 for 0 bytes.
  [[nodiscard]] double seconds(double bytes, std::size_t items) const {
    assert(bytes >= 0 && "a message has no negative size");
    if (bytes == 0) {
      return 0;
    }
    const auto* const line = copy_bandwidth_Bps == 0 ? std::get_if<LinearCost>(&base) : nullptr;
    return line != nullptr ? line->startup_s + line->per_byte_s * bytes : any_seconds(bytes, items);
  }

private:
  [[nodiscard]] double any_seconds(double bytes, std::size_t items) const;
};

struct TableReport { // what making the table monotone changed (MER 4.2, step 1)
  std::size_t points_changed{};
  double largest_change{}; // of the seconds of a point, relative to the measured value
};

// Returns a monotone table for measured points {bytes, seconds}. There must be at least two, with
// bytes > 0 that ascend strictly (asserted), and seconds > 0 (not checked). Its slope is the
// least-squares slope of the points with at least half of the largest size (at least two points),
// or 0 if that is negative. Source: MER 4.2 (derived).
[[nodiscard]] std::pair<TableCost, TableReport>
make_table_cost(std::span<const std::pair<double, double>> points);

// Whether T(x) + T(y) >= T(x + y), without copies, is known to hold for all x + y <= `up_to_bytes`.
// It always holds for a linear cost. For a table it is checked at the corners of the pieces, where
// the difference of piecewise linear functions is least. For a curve it is never known.
[[nodiscard]] bool known_subadditive(const Cost& cost, double up_to_bytes);

} // namespace stepsim::buckets
