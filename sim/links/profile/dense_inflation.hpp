#pragma once
// The factor by which dense all-reduces took longer than the alpha-beta model of a profile's
// network, for a number of ranks; and warnings for runs outside the measured range.
//
//   gamma(P) = linear in log2 P between the points of the table, the value of the nearest point
//              outside the table, 1 for P = 1 or without a table                     (SPA 9)
//
// The factor multiplies the latency and divides the bandwidth of dense ring all-reduces only.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "links/profile/profile.hpp"

namespace stepsim::links {

// Returns gamma(ranks). Needs ranks >= 1 (asserted).
[[nodiscard]] double dense_inflation(const NetworkProfile& profile, std::int64_t ranks);

// Returns `icdcs19: ranks=64 outside the calibrated 4..32, gamma held at 10.635`; empty inside the
// table, without a table, and for one rank.
[[nodiscard]] std::optional<std::string> dense_inflation_warning(const NetworkProfile& profile,
                                                                 std::int64_t ranks);

// Returns one text per range of the profile that does not include the run, such as
// `icdcs19: density=0.01 outside the calibrated 0.001`. The ranges are valid_ranks (if the run has
// more than one rank), valid_gpus_per_node and valid_density (if `density` is given; a dense run
// has none).
[[nodiscard]] std::vector<std::string> outside_warnings(const NetworkProfile& profile,
                                                        std::int64_t ranks,
                                                        std::int64_t gpus_per_node,
                                                        std::optional<double> density);

// Returns the warning that a profile graded `fail` adds to every result; empty for other grades.
[[nodiscard]] std::optional<std::string> grade_warning(const NetworkProfile& profile);

} // namespace stepsim::links
