#include "links/profile/profile_curve.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace stepsim::links {

namespace {

// Two points that are this many times apart give a slope that a small error of one hardly changes.
constexpr double kLongLine = 4;

// The line through two points as the segment from `from` to `to` bytes.
CurveSegment line_through(const CurvePoint& left, const CurvePoint& right, double from, double to) {
  const double per_byte = (right.seconds - left.seconds) / (right.bytes - left.bytes);
  return {.from_bytes = from,
          .to_bytes = to,
          .startup_s = right.seconds - per_byte * right.bytes,
          .per_byte_s = per_byte};
}

} // namespace

double curve_seconds(std::span<const CurveSegment> segments, double bytes) {
  assert(!segments.empty() && "a curve has a segment");
  if (bytes <= 0) {
    return 0;
  }
  double least = 0; // what the segments before reach at their cuts
  for (std::size_t i = 0;; ++i) {
    const CurveSegment& segment = segments[i];
    const auto value = [&](double at) {
      return std::max(least, segment.startup_s + segment.per_byte_s * at);
    };
    if (i + 1 == segments.size()) {
      return value(bytes);
    }
    const double cut = std::sqrt(segment.to_bytes) * std::sqrt(segments[i + 1].from_bytes);
    if (bytes < cut) {
      return value(bytes);
    }
    least = value(cut);
  }
}

// Two segments that share an end are cut there, since the cut is the geometric mean of equal sizes.
std::vector<CurveSegment> curve_through(std::span<const CurvePoint> points) {
  assert(points.size() >= 2 && "a curve has two points");
  std::vector<CurveSegment> segments;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const CurvePoint& left = points[i - 1];
    const CurvePoint& right = points[i];
    assert(left.bytes < right.bytes && left.seconds <= right.seconds && "the curve rises");
    segments.push_back(line_through(left, right, left.bytes, right.bytes));
  }
  const CurvePoint& first = points.front();
  if (segments.front().startup_s < 0) {
    const CurvePoint zero;
    segments.insert(segments.begin(), line_through(zero, first, first.bytes, first.bytes));
  }
  const CurvePoint& last = points.back();
  const CurvePoint* far = nullptr; // where the line beyond the last point comes from
  for (const CurvePoint& point : points) {
    const bool far_enough = far == nullptr || point.bytes <= last.bytes / kLongLine;
    if (point.seconds < last.seconds && far_enough) {
      far = &point;
    }
  }
  if (far != nullptr && far + 1 != &last) { // else the last segment is that line already
    segments.push_back(line_through(*far, last, last.bytes, last.bytes));
  }
  return segments;
}

double extrapolation_factor(std::span<const CurveSegment> segments, double bytes) {
  assert(!segments.empty() && "a curve has a segment");
  if (bytes <= 0) {
    return 1;
  }
  return std::max({1.0, segments.front().from_bytes / bytes, bytes / segments.back().to_bytes});
}

} // namespace stepsim::links
