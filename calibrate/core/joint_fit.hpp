#pragma once
// From times of collectives to the cost of a link (CAL 4.5). Every algorithm has its own counts,
//
//   t = a alpha + c beta + g gamma        ring all-reduce: 2(P-1), 2(P-1)/P n, (P-1)/P n
//
// so times of several operations and ranks give alpha (s per message), beta (s per byte), gamma (s
// per byte added) in one fit with equal relative errors, none below 0. What the data cannot tell
// apart shows in the singular values of the weighted design with columns of unit length. Most
// all-reduces have c = 2 g, so that alone they never separate beta and gamma, whatever P; recursive
// doubling (c = g) or a broadcast (g = 0) next to them does.
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/mean_interval.hpp"

namespace stepsim::calibrate {

using Counts = std::array<double, 3>; // of alpha, beta, gamma

// How often alpha, beta and gamma count in the time of a collective of `bytes`: the a, c, g of its
// closed form (COL 5). A `pingpong` counts as one message, whatever the algorithm and the ranks.
// Other operations: empty for fewer than two ranks, for words that are not known, where the
// operation does not have the algorithm, for allgatherv, for algorithms that add in switches, and
// where the time is not linear in alpha, beta and gamma (blocks).
[[nodiscard]] std::optional<Counts> cost_counts(std::string_view op, std::string_view algorithm,
                                                std::int64_t ranks, double bytes);

struct JointRow {
  Counts counts;
  double seconds{}; // > 0
};

struct JointFit {
  Counts values{}; // alpha, beta, gamma
  // false: the data do not determine the value. It is then 0, and the other values carry its part
  // of the times.
  std::array<bool, 3> identifiable{};
  // 95 %; empty for a value held at 0, and where there are no more rows than values.
  std::array<std::optional<base::Interval>, 3> intervals;
  double smallest_singular_value{}; // of all three columns, relative to the largest
  double max_error{};               // |relative|
};

// Needs a row (asserted). Of values that the data cannot tell apart the last is left out first:
// gamma, then beta, then alpha.
[[nodiscard]] JointFit fit_jointly(std::span<const JointRow> rows);

} // namespace stepsim::calibrate
