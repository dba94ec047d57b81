#pragma once
// From times of collectives to the cost of a link (CAL 4.5). Every algorithm has its own counts,
//
//   t = a alpha + c beta + g gamma        ring all-reduce: 2(P-1), 2(P-1)/P n, (P-1)/P n
//
// so times of several operations and ranks give alpha (s per message), beta (s per byte), gamma (s
// per byte added) in one fit with equal relative errors, none below 0. What the data cannot tell
// apart shows in the singular values of the weighted design with columns of unit length:
// all-reduces have c = 2 g, so beta and gamma never separate, whatever P; a broadcast separates
// them.
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/statistics.hpp"

namespace stepsim::calibrate {

using Counts = std::array<double, 3>; // of alpha, beta, gamma

// Of the closed form (COL 5); of one message for `pingpong`, whatever the algorithm. Empty where
// the operation does not have the algorithm, or its cost is not linear in the three (blocks).
[[nodiscard]] std::optional<Counts> cost_counts(std::string_view op, std::string_view algorithm,
                                                std::int64_t ranks, double bytes);

struct JointRow {
  Counts counts;
  double seconds{}; // > 0
};

struct JointFit {
  Counts values{};                                        // alpha, beta, gamma
  std::array<bool, 3> identifiable{};                     // else the value is 0, within the others
  std::array<std::optional<base::Interval>, 3> intervals; // 95 %; empty at 0 or with too few rows
  double smallest_singular_value{}; // of all three columns, relative to the largest
  double max_error{};               // |relative|
};

// Needs a row (asserted). gamma is given up before beta, beta before alpha.
[[nodiscard]] JointFit fit_jointly(std::span<const JointRow> rows);

} // namespace stepsim::calibrate
