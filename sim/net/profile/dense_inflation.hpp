#pragma once
// What a profile says of a number of ranks: how much longer dense all-reduces took than the
// network's alpha-beta model says, and whether a run lies outside what was measured.
//
//   gamma(P) = linear in log2 P between the points of the table, the nearest point outside,
//              1 for P = 1 or without a table                                        (SPA 9)
//
// Latency times gamma and bandwidth over gamma, for dense ring all-reduces only.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "net/profile/profile.hpp"

namespace stepsim::net {

// ranks >= 1 (asserted).
[[nodiscard]] double dense_inflation(const NetworkProfile& profile, std::int64_t ranks);

// `icdcs19: ranks=64 outside the calibrated 4..32, gamma held at 10.635`; empty inside the table,
// without one, and for one rank.
[[nodiscard]] std::optional<std::string> dense_inflation_warning(const NetworkProfile& profile,
                                                                 std::int64_t ranks);

// `icdcs19: density=0.01 outside the calibrated 0.001`, likewise ranks (more than one) and GPUs per
// node: one text for each of the profile's valid_* ranges that the run lies outside of. No density:
// a dense run.
[[nodiscard]] std::vector<std::string> outside_warnings(const NetworkProfile& profile,
                                                        std::int64_t ranks,
                                                        std::int64_t gpus_per_node,
                                                        std::optional<double> density);

// What every result that rests on the profile must say: it was graded `fail`. Empty for any other.
[[nodiscard]] std::optional<std::string> grade_warning(const NetworkProfile& profile);

} // namespace stepsim::net
