#include "calibrate/core/curve_choice.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/statistics.hpp"
#include "calibrate/core/segments.hpp"
#include "links/profile/profile_curve.hpp"

namespace stepsim::calibrate {

namespace {

// The group without one of its sizes.
Group without(const Group& group, std::size_t place) {
  Group rest = group;
  const double bytes = group.points[place].bytes;
  rest.points.erase(rest.points.begin() + static_cast<std::ptrdiff_t>(place));
  std::erase_if(rest.repetitions,
                [&](const Repetition& repetition) { return repetition.datum.bytes == bytes; });
  return rest;
}

// Segments are chosen on medians. Where one is enough, the line of the group takes its place, so
// that the file holds one answer.
std::vector<links::CurveSegment> lines_of(const Group& group, Robust robust,
                                          std::vector<double>* bic = nullptr) {
  const std::vector<Datum> data = group.data();
  SegmentChoice choice = choose_segments(data);
  if (choice.chosen.lines.size() == 1) {
    choice.chosen.lines.front() = line_of(group, robust).line;
  }
  if (bic != nullptr) {
    *bic = choice.bic;
  }
  return curve_of(choice.chosen, data);
}

std::vector<links::CurvePoint> points_of(const Group& group) {
  std::vector<double> logarithms;
  for (const Point& point : group.points) {
    logarithms.push_back(std::log(point.time_s));
  }
  const base::IsotonicFit rising = base::isotonic_fit(logarithms);
  std::vector<links::CurvePoint> points;
  for (std::size_t i = 0; i < logarithms.size(); ++i) {
    // A time that was not pooled stays as it was measured, to the last digit.
    const bool same = rising.values[i] == logarithms[i];
    const double seconds = same ? group.points[i].time_s : std::exp(rising.values[i]);
    const double before = points.empty() ? 0 : points.back().seconds;
    points.push_back({group.points[i].bytes, std::max(before, seconds)}); // exp rounds
  }
  return points;
}

using CurveOf = std::function<std::vector<links::CurveSegment>(const Group&)>;

std::vector<std::optional<double>> leave_one_out(const Group& group, const CurveOf& curve_of) {
  std::vector<std::optional<double>> seconds(group.points.size());
  for (std::size_t i = 1; i + 1 < seconds.size(); ++i) {
    seconds[i] = links::curve_seconds(curve_of(without(group, i)), group.points[i].bytes);
  }
  return seconds;
}

std::optional<LeftOutErrors> errors_of(const Group& group,
                                       const std::vector<std::optional<double>>& seconds) {
  std::vector<double> errors;
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    if (seconds[i]) {
      errors.push_back(std::abs(*seconds[i] / group.points[i].time_s - 1));
    }
  }
  if (errors.empty()) {
    return std::nullopt;
  }
  std::ranges::sort(errors);
  const double rank = std::ceil(0.9 * static_cast<double>(errors.size()));
  return LeftOutErrors{base::median(errors), errors[static_cast<std::size_t>(rank) - 1],
                       errors.back()};
}

} // namespace

std::vector<Datum> line_data(const Group& group, Robust robust) {
  if (robust == Robust::none || group.passes < kRobustPasses) {
    return group.data();
  }
  std::vector<Datum> all;
  for (const Repetition& repetition : group.repetitions) {
    all.push_back(repetition.datum);
  }
  return all;
}

LineFit line_of(const Group& group, Robust robust) {
  return fit_line(line_data(group, robust), robust);
}

CurveChoice choose_curve(const Group& group, Robust robust, bool keep_points) {
  CurveChoice lines;
  lines.curve = lines_of(group, robust, &lines.bic);
  lines.left_out_s =
      leave_one_out(group, [&](const Group& rest) { return lines_of(rest, robust); });
  lines.left_out = errors_of(group, lines.left_out_s);
  const bool missed = std::ranges::any_of(group.points, [&](const Point& point) {
    const double seconds = links::curve_seconds(lines.curve, point.bytes);
    return std::abs(seconds / point.time_s - 1) >= kGoodError;
  });
  if (!keep_points && (!lines.left_out || (!missed && lines.left_out->p90 < kGoodError))) {
    return lines;
  }
  CurveChoice kept;
  kept.bic = lines.bic;
  kept.points = points_of(group);
  kept.curve = links::curve_through(kept.points);
  kept.left_out_s =
      leave_one_out(group, [](const Group& rest) { return links::curve_through(points_of(rest)); });
  kept.left_out = errors_of(group, kept.left_out_s);
  return keep_points || missed || kept.left_out->p90 < lines.left_out->p90 ? kept : lines;
}

} // namespace stepsim::calibrate
