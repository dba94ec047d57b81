#include "net/profile/profile_curve.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace stepsim::net {

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

double extrapolation_factor(std::span<const CurveSegment> segments, double bytes) {
  assert(!segments.empty() && "a curve has a segment");
  if (bytes <= 0) {
    return 1;
  }
  return std::max({1.0, segments.front().from_bytes / bytes, bytes / segments.back().to_bytes});
}

} // namespace stepsim::net
