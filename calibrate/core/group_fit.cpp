// A group gets two descriptions: one line with intervals, and a curve that a scenario uses. The
// grade follows from the errors of that curve on sizes that it was not fitted to, because a curve
// through every point would have none on the others.
#include "calibrate/core/group_fit.hpp"

#include <cassert>
#include <cmath>

#include "base/random.hpp"
#include "links/profile/profile_curve.hpp"

namespace stepsim::calibrate {

namespace {

constexpr std::uint64_t kStream = 21; // base/random.hpp
constexpr std::size_t kResamples = 200;

// 2.5 % and 97.5 % of the values, widened to hold `value`.
base::Interval percentiles(std::vector<double> values, double value) {
  std::ranges::sort(values);
  return {std::min(nearest_rank(values, 0.025), value),
          std::max(nearest_rank(values, 0.975), value)};
}

constexpr double kUsable = 0.25;
constexpr double kLatencyHidden = 10; // smallest message takes so many times A

std::string whole(double bytes) { return std::to_string(std::llround(bytes)); }

// Where the rate, bytes over time of one size, rises most from a size to the next, and where it
// falls most. A rise is a new regime; a fall of more than 5 % is noise or a change of protocol,
// which no line with a start-up has.
struct Rates {
  std::size_t jump = 1; // to data[jump]
  std::optional<std::size_t> drop;
};

Rates rates_of(const std::vector<Datum>& data) {
  constexpr double kDrop = 0.95;
  const auto rate = [&](std::size_t i) { return data[i].bytes / data[i].seconds; };
  Rates rates;
  for (std::size_t i = 1; i < data.size(); ++i) {
    const double ratio = rate(i) / rate(i - 1);
    if (ratio > rate(rates.jump) / rate(rates.jump - 1)) {
      rates.jump = i;
    }
    if (ratio < kDrop && (!rates.drop || ratio < rate(*rates.drop) / rate(*rates.drop - 1))) {
      rates.drop = i;
    }
  }
  return rates;
}

// "1.2 -> 4.8 GB/s"
std::string rate_text(const std::vector<Datum>& data, std::size_t i) {
  const auto gigabytes = [&](std::size_t j) {
    return base::significant(data[j].bytes / data[j].seconds / 1e9);
  };
  return gigabytes(i - 1) + " -> " + gigabytes(i) + " GB/s";
}

// What makes the curve hard to fit.
std::string likely_cause(const GroupFit& fit) {
  const std::vector<Datum> data = fit.group.data();
  const std::size_t segments = fit.curve.size();
  const Rates rates = rates_of(data);
  if (rates.drop) {
    return "rate not monotone in size (" + rate_text(data, *rates.drop) + " at " +
           whole(data[*rates.drop].bytes) + " B)";
  }
  if (!fit.points.empty()) {
    return "sizes too far apart for straight lines between them (rate jumps " +
           rate_text(data, rates.jump) + ")";
  }
  if (data.size() < kLeastPoints * (segments + 1) && segments < kMostSegments) {
    return "too few points for a further regime (rate jumps " + rate_text(data, rates.jump) + ")";
  }
  return "not a straight line (rate jumps " + rate_text(data, rates.jump) + ")";
}

// Whether the time grows with size. Equal times give a slope of rounding errors, which would read
// as an enormous bandwidth.
bool grows(const GroupFit& fit) {
  constexpr double kLeastGrowth = 1e-9;
  return fit.line.per_byte_s * fit.group.points.back().bytes > kLeastGrowth * fit.line.startup_s;
}

// The worst size and the next, so that one sees whether a single outlier is to blame.
std::string failure_text(const GroupFit& fit) {
  if (!grows(fit)) {
    return fit.group.text() + ": time does not grow with size; bandwidth not identifiable";
  }
  std::vector<Residual> worst = fit.residuals;
  std::erase_if(worst, [](const Residual& r) { return !r.left_out_s; });
  const auto error = [](const Residual& r) { return std::abs(*r.left_out_s / r.measured_s - 1); };
  std::ranges::stable_sort(worst, std::ranges::greater{}, error);
  std::string text = fit.group.text() + ": sizes left out of the fit are off by up to " +
                     base::percent(error(worst[0])) + " at " + whole(worst[0].bytes) + " B";
  if (worst.size() > 1) {
    text += " (next " + base::percent(error(worst[1])) + " at " + whole(worst[1].bytes) + " B)";
  }
  return text + "; " + likely_cause(fit);
}

// Warns where the smallest message takes more than kLatencyHidden times the latency to transfer, so
// that an error of ten percent there hides the latency, and where the interval of the latency
// reaches 0; where the latency hides the time of the bytes of the largest message as well.
void warn_about_ends(GroupFit& fit) {
  if (!grows(fit)) {
    return;
  }
  const double smallest = fit.group.points.front().bytes;
  const bool reaches_zero = fit.intervals.startup_s && fit.intervals.startup_s->low <= 0;
  if (fit.line.per_byte_s * smallest > kLatencyHidden * fit.line.startup_s) {
    fit.warnings.push_back(fit.group.text() + ": smallest size " + base::readable_bytes(smallest) +
                           ": latency is uncertain");
  } else if (reaches_zero) {
    fit.warnings.push_back(fit.group.text() +
                           ": the interval of the latency reaches 0: latency is uncertain");
  }
  const double largest = fit.group.points.back().bytes;
  if (fit.line.startup_s > kLatencyHidden * fit.line.per_byte_s * largest) {
    fit.warnings.push_back(fit.group.text() + ": largest size " + base::readable_bytes(largest) +
                           ": bandwidth is uncertain");
  }
}

} // namespace

// The random numbers depend on seed, resample and pass alone, so that the intervals are the same on
// every machine.
LineIntervals bootstrap_intervals(const Line& line, const Group& group, Robust robust,
                                  std::uint64_t seed) {
  std::vector<std::vector<Datum>> passes;
  for (const io::Sample& sample : group.samples) {
    const auto pass = static_cast<std::size_t>(*sample.pass);
    passes.resize(std::max(passes.size(), pass + 1));
    passes[pass].push_back(datum_of(sample));
  }
  assert(passes.size() >= 2 && "one pass cannot be resampled");
  std::vector<double> startups;
  std::vector<double> per_bytes;
  for (std::size_t i = 0; i < kResamples; ++i) {
    std::vector<Datum> data;
    for (std::size_t j = 0; j < passes.size(); ++j) {
      const auto& pass = passes[base::pick(base::hash(seed, kStream, i, j), passes.size())];
      data.insert(data.end(), pass.begin(), pass.end());
    }
    if (has_two_sizes(data)) { // a resample of one size determines no line
      const Line resampled = fit_line(data, robust).line;
      startups.push_back(resampled.startup_s);
      per_bytes.push_back(resampled.per_byte_s);
    }
  }
  LineIntervals intervals;
  if (startups.empty()) {
    return intervals;
  }
  if (!line.startup_at_bound) {
    intervals.startup_s = percentiles(std::move(startups), line.startup_s);
  }
  if (!line.per_byte_at_bound) {
    intervals.per_byte_s = percentiles(std::move(per_bytes), line.per_byte_s);
  }
  return intervals;
}

Grade grade_of(double error) {
  return error < kGoodError ? Grade::ok : error < kUsable ? Grade::warn : Grade::fail;
}

GroupFit fit_group(const Group& group, const FitOptions& options) {
  GroupFit fit;
  fit.group = group;
  const bool repeated = group.passes >= kRobustPasses;
  fit.robust = options.robust.value_or(repeated ? Robust::huber : Robust::none);
  const LineFit line = line_of(group, fit.robust);
  fit.line = line.line;
  fit.intervals = repeated ? bootstrap_intervals(fit.line, group, fit.robust, options.seed)
                           : table_intervals(line, line_data(group, fit.robust));

  static_cast<CurveChoice&>(fit) = choose_curve(group, fit.robust, options.keep_points);

  std::vector<double> errors;
  for (std::size_t i = 0; i < group.points.size(); ++i) {
    const Point& point = group.points[i];
    fit.residuals.push_back({point.bytes, point.time_s,
                             links::curve_seconds(fit.curve, point.bytes), fit.left_out_s[i]});
    errors.push_back(std::abs(fit.residuals.back().relative_error()));
  }
  fit.median_error = base::median(errors);
  fit.max_error = std::ranges::max(errors);
  if (!fit.left_out) {
    fit.warnings.push_back(group.text() + ": two sizes fit any line: measure more to test it");
  }
  fit.grade = !grows(fit) ? Grade::fail : fit.left_out ? grade_of(fit.left_out->p90) : Grade::warn;
  if (fit.grade == Grade::fail) {
    fit.failure = failure_text(fit);
  }
  warn_about_ends(fit);
  return fit;
}

} // namespace stepsim::calibrate
