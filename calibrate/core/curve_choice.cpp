#include "calibrate/core/group_fit.hpp"

#include <cassert>
#include <cmath>

#include "base/collected.hpp"
#include "links/profile/profile_curve.hpp"

namespace stepsim::calibrate {

// Dynamic programming over the points: the best k segments up to a point consist of the best k - 1
// up to some earlier one, and a line from there. The squares of every line come from a running sum,
// so that all of it takes O(k N^2).

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kStrongEvidence = 6;
constexpr double kLeastSquares = 1e-12; // per point: below it data are exact

// S of the line through the points so far, in constant time per point (means and sums of products
// around them, updated in turn). Loses to cancellation about 1e-15 per point, which is far below
// kLeastSquares.
class RunningLine {
public:
  void add(const Datum& datum) {
    const double n = datum.bytes;
    const double t = datum.seconds;
    const double w = 1 / (t * t);
    count_ += 1;
    w_ += w;
    const double dn = n - mean_n_;
    const double dt = t - mean_t_;
    mean_n_ += w / w_ * dn;
    mean_t_ += w / w_ * dt;
    nn_ += w * dn * (n - mean_n_);
    nt_ += w * dn * (t - mean_t_);
    tt_ += w * dt * (t - mean_t_);
    wt_ += w * t;
    wnn_ += w * n * n;
    wnt_ += w * n * t;
  }

  [[nodiscard]] double squares() const {
    const double per_byte = nt_ / nn_;
    const double startup = mean_t_ - per_byte * mean_n_;
    if (per_byte >= 0 && startup >= 0) {
      return std::max(0.0, tt_ - nt_ * nt_ / nn_);
    }
    const double through_zero = count_ - wnt_ * wnt_ / wnn_; // sum w t^2 = count
    const double flat = count_ - wt_ * wt_ / w_;
    return std::max(0.0, std::min(through_zero, flat));
  }

private:
  double count_{}, w_{}, mean_n_{}, mean_t_{}, nn_{}, nt_{}, tt_{}, wt_{}, wnn_{}, wnt_{};
};

// The cheapest way to cover the first `end` points with j + 1 segments.
struct Best {
  double squares = kInfinity;
  std::size_t begin{}; // of the last of them
};
using Table = std::vector<std::vector<Best>>; // [j][end]

// Segments have at least kLeastPoints points, unless there is one alone.
Table cheapest(std::span<const Datum> data, std::size_t k) {
  const std::size_t N = data.size();
  Table best(k, std::vector<Best>(N + 1));
  for (std::size_t begin = 0; begin < N; ++begin) { // ties stay with the smaller break
    RunningLine line;
    for (std::size_t end = begin + 1; end <= N; ++end) {
      line.add(data[end - 1]);
      if (end - begin < (k == 1 ? std::size_t{2} : kLeastPoints)) {
        continue;
      }
      const double squares = line.squares();
      if (begin == 0) {
        best[0][end] = {squares, 0};
        continue;
      }
      for (std::size_t j = 1; j < k; ++j) {
        const double total = best[j - 1][begin].squares + squares;
        if (total < best[j][end].squares) {
          best[j][end] = {total, begin};
        }
      }
    }
  }
  return best;
}

// Bayesian information criterion: k segments have 2 k numbers and k - 1 breaks. Squares below the
// noise of doubles count as that, else exact data would ask for ever more segments.
double bic(const Segmentation& segmentation, std::size_t points) {
  const auto N = static_cast<double>(points);
  const auto k = static_cast<double>(segmentation.lines.size());
  return N * std::log(std::max(segmentation.squares, N * kLeastSquares) / N) +
         (3 * k - 1) * std::log(N);
}

// The group without one of its sizes.
Group without(const Group& group, std::size_t place) {
  Group rest = group;
  const double bytes = group.points[place].bytes;
  rest.points.erase(rest.points.begin() + static_cast<std::ptrdiff_t>(place));
  std::erase_if(rest.samples, [&](const io::Sample& sample) { return sample.bytes == bytes; });
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
  const auto logarithms = base::collected<double>(
      group.points, [](const Point& point) { return std::log(point.time_s); });
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

// Sets the times of sizes that were left out, and their errors.
void leave_one_out(const Group& group, const CurveOf& curve_of, CurveChoice& choice) {
  std::vector<double> errors;
  choice.left_out_s.resize(group.points.size());
  for (std::size_t i = 1; i + 1 < group.points.size(); ++i) {
    const Point& point = group.points[i];
    const double seconds = links::curve_seconds(curve_of(without(group, i)), point.bytes);
    choice.left_out_s[i] = seconds;
    errors.push_back(std::abs(seconds / point.time_s - 1));
  }
  choice.left_out = spread_of(std::move(errors));
}

} // namespace

// Walks back through the table and fits each segment again, without the running sums.
Segmentation best_segments(std::span<const Datum> data, std::size_t k) {
  assert(k >= 1 && "at least one segment");
  assert(data.size() >= (k == 1 ? 2 : k * kLeastPoints) && "enough points");
  const Table best = cheapest(data, k);
  Segmentation result;
  std::size_t end = data.size();
  for (std::size_t j = k; j-- > 0;) {
    const std::size_t begin = best[j][end].begin;
    const Line line = fit_line(data.subspan(begin, end - begin)).line;
    result.ends.insert(result.ends.begin(), end);
    result.lines.insert(result.lines.begin(), line);
    result.squares += relative_squares(line, data.subspan(begin, end - begin));
    end = begin;
  }
  return result;
}

SegmentChoice choose_segments(std::span<const Datum> data, std::size_t most) {
  SegmentChoice choice;
  double accepted = 0;
  for (std::size_t k = 1; k <= most && (k == 1 || data.size() >= k * kLeastPoints); ++k) {
    Segmentation segmentation = best_segments(data, k);
    choice.bic.push_back(bic(segmentation, data.size()));
    if (k == 1 || choice.bic.back() < accepted - kStrongEvidence) {
      accepted = choice.bic.back();
      choice.chosen = std::move(segmentation);
    }
  }
  return choice;
}

std::vector<links::CurveSegment> curve_of(const Segmentation& segmentation,
                                          std::span<const Datum> data) {
  std::vector<links::CurveSegment> curve;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < segmentation.lines.size(); ++i) {
    const Line& line = segmentation.lines[i];
    curve.push_back({.from_bytes = data[begin].bytes,
                     .to_bytes = data[segmentation.ends[i] - 1].bytes,
                     .startup_s = line.startup_s,
                     .per_byte_s = line.per_byte_s});
    begin = segmentation.ends[i];
  }
  return curve;
}

std::vector<Datum> line_data(const Group& group, Robust robust) {
  if (robust == Robust::none || group.passes < kRobustPasses) {
    return group.data();
  }
  return base::collected<Datum>(group.samples, datum_of);
}

LineFit line_of(const Group& group, Robust robust) {
  return fit_line(line_data(group, robust), robust);
}

CurveChoice choose_curve(const Group& group, Robust robust, bool keep_points) {
  CurveChoice lines;
  lines.curve = lines_of(group, robust, &lines.bic);
  leave_one_out(
      group, [&](const Group& rest) { return lines_of(rest, robust); }, lines);
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
  leave_one_out(
      group, [](const Group& rest) { return links::curve_through(points_of(rest)); }, kept);
  return keep_points || missed || kept.left_out->p90 < lines.left_out->p90 ? kept : lines;
}

} // namespace stepsim::calibrate
