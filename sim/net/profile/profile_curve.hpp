#pragma once
// The time that a measured curve gives a message (CAL 4.3). Segments are ascending and disjoint;
// between two of them lies a gap, cut at the geometric mean of its ends:
//
//   t(m) = a_1 + b_1 m                      m < c_1 = sqrt(to_1 from_2)
//          max(a_2 + b_2 m, t_1(c_1))       from c_1 on: never below the segment before at the cut
//   t(0) = 0; the end segments go on below and above what was measured.
//
// a_i, b_i: startup_s and per_byte_s of segment i, which was measured from from_i to to_i bytes.
#include <span>
#include <vector>

#include "net/profile/profile.hpp"

namespace stepsim::net {

// Needs a segment (asserted). Non-decreasing in bytes.
[[nodiscard]] double curve_seconds(std::span<const CurveSegment> segments, double bytes);

// The segments whose curve runs straight from point to point. Below the first point the first line
// goes on, or the line through 0 where the first line would reach below it; above the last point
// the line from the largest point that took less time and has at most a quarter of its size, or
// else from the first one that took less time. A segment may have a negative start-up, because it
// holds between its two points only. Needs two points, bytes strictly ascending, seconds not
// falling (asserted).
[[nodiscard]] std::vector<CurveSegment> curve_through(std::span<const CurvePoint> points);

// How many times a size lies below the smallest or above the largest measured one; 1 within.
[[nodiscard]] double extrapolation_factor(std::span<const CurveSegment> segments, double bytes);

} // namespace stepsim::net
