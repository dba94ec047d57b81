#include "links/profile/profile_curve.hpp"

#include <cassert>
#include <cmath>

#include "base/quantity.hpp"

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

// "icdcs19: ranks=64 outside the calibrated 4..32"; empty inside.
std::optional<std::string> outside(const NetworkProfile& profile, const std::string& what,
                                   double value, std::pair<double, double> range) {
  if (value >= range.first && value <= range.second) {
    return std::nullopt;
  }
  std::string text =
      profile.name + ": " + what + "=" + base::shortest(value) + " outside the " +
      std::string(profile.label == ProfileLabel::measured ? "measured " : "calibrated ") +
      base::shortest(range.first);
  return range.first == range.second ? text : text + ".." + base::shortest(range.second);
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

double dense_inflation(const NetworkProfile& profile, std::int64_t ranks) {
  assert(ranks >= 1 && "dense inflation: at least one rank");
  const auto& [known, factor] = profile.dense_inflation;
  if (ranks == 1 || known.empty()) {
    return 1;
  }
  const auto above = std::ranges::lower_bound(known, ranks);
  if (above == known.begin()) {
    return factor.front();
  }
  if (above == known.end()) {
    return factor.back();
  }
  const auto i = static_cast<std::size_t>(above - known.begin());
  const auto log2_of = [](std::int64_t n) { return std::log2(static_cast<double>(n)); };
  const double share =
      (log2_of(ranks) - log2_of(known[i - 1])) / (log2_of(known[i]) - log2_of(known[i - 1]));
  return std::lerp(factor[i - 1], factor[i], share);
}

std::optional<std::string> dense_inflation_warning(const NetworkProfile& profile,
                                                   std::int64_t ranks) {
  const std::vector<std::int64_t>& known = profile.dense_inflation.ranks;
  if (ranks == 1 || known.empty()) {
    return std::nullopt;
  }
  auto text = outside(profile, "ranks", static_cast<double>(ranks),
                      {static_cast<double>(known.front()), static_cast<double>(known.back())});
  if (text) {
    *text += ", gamma held at " + base::shortest(dense_inflation(profile, ranks));
  }
  return text;
}

std::vector<std::string> outside_warnings(const NetworkProfile& profile, std::int64_t ranks,
                                          std::int64_t gpus_per_node,
                                          std::optional<double> density) {
  std::vector<std::string> all;
  const auto add = [&](const std::string& what, double value, std::pair<double, double> range) {
    if (auto text = outside(profile, what, value, range)) {
      all.push_back(std::move(*text));
    }
  };
  if (profile.valid_ranks && ranks > 1) {
    add("ranks", static_cast<double>(ranks),
        {static_cast<double>(profile.valid_ranks->first),
         static_cast<double>(profile.valid_ranks->second)});
  }
  if (profile.valid_gpus_per_node) {
    const auto only = static_cast<double>(*profile.valid_gpus_per_node);
    add("gpus_per_node", static_cast<double>(gpus_per_node), {only, only});
  }
  if (profile.valid_density && density) {
    add("density", *density, *profile.valid_density);
  }
  return all;
}

std::optional<std::string> grade_warning(const NetworkProfile& profile) {
  if (profile.grade != kGrades[Grade::fail]) {
    return std::nullopt;
  }
  return "CALIBRATION FAILED: " + profile.name +
         " is graded fail, its own predictions are off by 25 % or more; measure it again before "
         "you rely on these times";
}

} // namespace stepsim::links
