#pragma once
// T(m): seconds that one message of m bytes holds the channel; T(0) = 0. T does not decrease with m
// but for a curve: a library may change to a faster algorithm for larger messages. Planners take T
// as it is, since nobody sends more bytes than there are. Three kinds:
//   LinearCost   a + b m                                  planners use their O(L) forms
//   TableCost    piecewise linear through measured points (MER 4.2)
//   CurveCost    any function of bytes, e.g. a collective whose block size depends on m
// Optional copy bandwidth: a message of two or more items costs 4 m / copy_bandwidth more
// (MER 4.4).
#include <cstddef>
#include <functional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "base/units.hpp"

namespace stepsim::plan {

struct LinearCost {
  double startup_s{};  // a >= 0
  double per_byte_s{}; // b >= 0
};

// Bytes strictly ascending and > 0, seconds non-decreasing and > 0, at least two points. Between
// points linear; up to the first point its time; beyond the last the time grows by
// `slope_s_per_byte`.
struct TableCost {
  std::vector<double> bytes;
  std::vector<double> seconds;
  double slope_s_per_byte{}; // >= 0
};

// Called O(items^2) times per plan at most, by `exhaustive` O(2^items) times; must be pure, and > 0
// for bytes > 0.
struct CurveCost {
  std::function<double(double bytes)> seconds;
  // A line that `seconds` is never below for sizes from `low` to `high`, rounding aside. The nearer
  // it is, the fewer sizes the search for the best merge asks for. Empty: nothing is known.
  std::function<LinearCost(double low, double high)> least{};
};

struct Cost {
  std::variant<LinearCost, TableCost, CurveCost> base = LinearCost{};
  double copy_bandwidth_Bps{}; // 0 = no copies

  // Linear, and without copies (which are charged only from the second item on).
  [[nodiscard]] bool is_linear() const;
  // Seconds of one message of `bytes` made of `items` non-empty items; 0 for 0 bytes.
  [[nodiscard]] double seconds(double bytes, std::size_t items) const;
};

struct TableReport { // what making the table monotone changed (MER 4.2, step 1)
  std::size_t points_changed{};
  double largest_change{}; // relative
};

// Points as measured (bytes strictly ascending; checked by the reader) -> monotone table. Its slope
// is the least-squares slope of the points with at least half of the largest size (at least two),
// or 0 if that is negative. Source: MER 4.2 (derived).
[[nodiscard]] std::pair<TableCost, TableReport>
make_table_cost(std::span<const std::pair<double, double>> points);

// Whether T(x) + T(y) >= T(x + y) is known to hold, copies left out, for all x + y <=
// `up_to_bytes`. Linear: always. Table: checked at the corners of its pieces, where the difference
// of piecewise linear functions is least. Curve: never known.
[[nodiscard]] bool known_subadditive(const Cost& cost, double up_to_bytes);

} // namespace stepsim::plan
