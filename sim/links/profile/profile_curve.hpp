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
#include <span>
#include <vector>

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

// The smallest measured size / `bytes`, or `bytes` / the largest measured size, whichever is above
// 1; 1 within the measured sizes and for 0 bytes.
[[nodiscard]] double extrapolation_factor(std::span<const CurveSegment> segments, double bytes);

} // namespace stepsim::links
