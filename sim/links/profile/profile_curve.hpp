#pragma once
// The time of a message of m bytes by a measured, piecewise linear curve (CAL 4.3). Segments ascend
// and do not overlap. The next segment takes over at c_1, the geometric mean of the two ends of the
// gap between them, and never gives less than the value that was reached there:
//
//   t(m) = a_1 + b_1 m                      m < c_1 = sqrt(to_1 from_2)
//          max(a_2 + b_2 m, t(c_1))         m >= c_1
//
// t(0) = 0. The first and the last segment extrapolate below and above the measured sizes. a_i and
// b_i are startup_s and per_byte_s of segment i, which was measured from from_i to to_i bytes.

#include "links/profile/profile.hpp"

namespace stepsim::links {

// t(bytes) in seconds, non-decreasing in bytes. Needs at least one segment (asserted).
[[nodiscard]] double curve_seconds(std::span<const CurveSegment> segments, double bytes);

// The segments that interpolate linearly between neighbouring points. Below the first point, the
// first segment is extended, or replaced by the line to 0 s at 0 bytes if its start-up is negative.
// Above the last point, the curve follows the line through the last point and an earlier point that
// took less time: the largest one of at most a quarter of the last size, so that the slope depends
// little on noise, or else the first one. If there is none, the last segment is extended. A segment
// may have a negative start-up, because it holds between its two points only. Needs two points,
// bytes strictly ascending, seconds not falling (asserted).
[[nodiscard]] std::vector<CurveSegment> curve_through(std::span<const CurvePoint> points);

// The factor by which dense all-reduces took longer than the alpha-beta model of a profile's
// network, for a number of ranks; and warnings for runs outside the measured range.
//
//   gamma(P) = linear in log2 P between the points of the table, the value of the nearest point
//              outside the table, 1 for P = 1 or without a table                     (SPA 9)
//
// The factor multiplies the latency and divides the bandwidth of dense ring all-reduces only.

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
