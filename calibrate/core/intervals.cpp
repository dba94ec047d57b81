// Two ways to 95 % intervals: by the formula of least squares where every size was measured once,
// by resampling whole passes where there are several. Passes are resampled and not single samples,
// because the samples of one pass share the state of the machine.
#include "calibrate/core/intervals.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

#include "base/counter_hash.hpp"

namespace stepsim::calibrate {

namespace {

constexpr std::uint64_t kStream = 21; // base/counter_hash.hpp
constexpr std::size_t kResamples = 200;

// A resample of one size determines no line.
bool has_two_sizes(std::span<const Datum> data) {
  return std::ranges::any_of(data, [&](const Datum& d) { return d.bytes != data.front().bytes; });
}

// 2.5 % and 97.5 % of the values, widened to hold `value`.
base::Interval percentiles(std::vector<double> values, double value) {
  std::ranges::sort(values);
  const auto at = [&](double share) {
    const double rank = std::ceil(share * static_cast<double>(values.size()));
    return values[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
  };
  return {std::min(at(0.025), value), std::max(at(0.975), value)};
}

} // namespace

// With N - 2 degrees of freedom; a value that is held at its bound has no interval.
LineIntervals table_intervals(const LineFit& fit, std::span<const Datum> data) {
  const std::size_t N = data.size();
  if (N < 3) {
    return {};
  }
  double w = 0;
  double wn = 0;
  double squares = 0;
  for (std::size_t i = 0; i < N; ++i) {
    const double error = fit.line.seconds(data[i].bytes) - data[i].seconds;
    w += fit.weights[i];
    wn += fit.weights[i] * data[i].bytes;
    squares += fit.weights[i] * error * error;
  }
  const double mean = wn / w;
  double nn = 0; // D / w
  double wnn = 0;
  for (std::size_t i = 0; i < N; ++i) {
    nn += fit.weights[i] * (data[i].bytes - mean) * (data[i].bytes - mean);
    wnn += fit.weights[i] * data[i].bytes * data[i].bytes;
  }
  const double variance = squares / static_cast<double>(N - 2);
  const double t = base::student_t(0.975, N - 2);
  const auto around = [&](double value, double deviation) {
    return base::Interval{std::max(0.0, value - t * deviation), value + t * deviation};
  };
  LineIntervals intervals;
  if (!fit.line.startup_at_bound) {
    intervals.startup_s = around(fit.line.startup_s, std::sqrt(variance * wnn / (w * nn)));
  }
  if (!fit.line.per_byte_at_bound) {
    intervals.per_byte_s = around(fit.line.per_byte_s, std::sqrt(variance / nn));
  }
  return intervals;
}

// The random numbers depend on seed, resample and pass alone, so that the intervals are the same on
// every machine.
LineIntervals bootstrap_intervals(const Line& line, const Group& group, Robust robust,
                                  std::uint64_t seed) {
  std::vector<std::vector<Datum>> passes;
  for (const Repetition& repetition : group.repetitions) {
    passes.resize(std::max(passes.size(), repetition.pass + 1));
    passes[repetition.pass].push_back(repetition.datum);
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
    if (has_two_sizes(data)) {
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

} // namespace stepsim::calibrate
