// Weighted least squares with weights 1 / t^2, so that errors are relative: a microsecond of 10 us
// counts as much as a millisecond of 10 ms. Huber weights are found by repeating the fit
// (iteratively reweighted least squares).
#include "calibrate/core/line_fit.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "base/statistics.hpp"

namespace stepsim::calibrate {

namespace {

constexpr double kHuber = 1.345;   // 95 % efficiency for normal errors
constexpr double kSpread = 1.4826; // median |r| of normal errors -> their standard deviation
constexpr double kExact = 1e-12;   // spread of data on a line
constexpr double kSettled = 1e-10; // relative change of A and B
constexpr int kRounds = 200;

struct Sums { // of weighted data
  double w{}, wn{}, wt{}, wnn{}, wnt{};
};

// The weighted normal equations, centred at the means.
Line unbounded(std::span<const Datum> data, std::span<const double> weights) {
  Sums s;
  for (std::size_t i = 0; i < data.size(); ++i) {
    s.w += weights[i];
    s.wn += weights[i] * data[i].bytes;
    s.wt += weights[i] * data[i].seconds;
  }
  const double mean_n = s.wn / s.w;
  const double mean_t = s.wt / s.w;
  double nn = 0; // centred at the means: differences of large sums lose digits
  double nt = 0;
  for (std::size_t i = 0; i < data.size(); ++i) {
    const double n = data[i].bytes - mean_n;
    nn += weights[i] * n * n;
    nt += weights[i] * n * (data[i].seconds - mean_t);
  }
  assert(nn > 0 && "a line needs two different sizes");
  Line line;
  line.per_byte_s = nt / nn;
  line.startup_s = mean_t - line.per_byte_s * mean_n;
  return line;
}

// Weighted sum of squared errors of a line; of two candidates `bounded` takes the one with less.
double objective(const Line& line, std::span<const Datum> data, std::span<const double> weights) {
  double sum = 0;
  for (std::size_t i = 0; i < data.size(); ++i) {
    const double error = line.seconds(data[i].bytes) - data[i].seconds;
    sum += weights[i] * error * error;
  }
  return sum;
}

// A convex function: where its free minimum is not allowed, the best allowed one lies on a bound.
Line bounded(std::span<const Datum> data, std::span<const double> weights) {
  const Line line = unbounded(data, weights);
  if (line.startup_s >= 0 && line.per_byte_s >= 0) {
    return line;
  }
  Sums s;
  for (std::size_t i = 0; i < data.size(); ++i) {
    const auto [n, t] = data[i];
    s.w += weights[i];
    s.wt += weights[i] * t;
    s.wnn += weights[i] * n * n;
    s.wnt += weights[i] * n * t;
  }
  const Line through_zero{.per_byte_s = s.wnt / s.wnn, .startup_at_bound = true};
  const Line flat{.startup_s = s.wt / s.w, .per_byte_at_bound = true};
  return objective(through_zero, data, weights) <= objective(flat, data, weights) ? through_zero
                                                                                  : flat;
}

// The line no longer moves.
bool settled(double before, double after) {
  return std::abs(after - before) <= kSettled * std::abs(before);
}

} // namespace

// Positive where the line is above the measurement.
double relative_error(const Line& line, const Datum& datum) {
  return (line.seconds(datum.bytes) - datum.seconds) / datum.seconds;
}

double relative_squares(const Line& line, std::span<const Datum> data) {
  double sum = 0;
  for (const Datum& datum : data) {
    const double error = relative_error(line, datum);
    sum += error * error;
  }
  return sum;
}

// Points further from the line than 1.345 robust standard deviations count less, in proportion; the
// spread is estimated from the median, which a few bad points do not move.
LineFit fit_line(std::span<const Datum> data, Robust robust) {
  std::vector<double> relative(data.size());
  static constexpr double kShortest = 1e-100; // s, whose square is a number
  std::ranges::transform(data, relative.begin(), [](const Datum& datum) {
    const double seconds = std::max(datum.seconds, kShortest);
    return 1 / (seconds * seconds);
  });
  LineFit fit{bounded(data, relative), relative};
  if (robust == Robust::none) {
    return fit;
  }
  std::vector<double> errors(data.size());
  for (int round = 0; round < kRounds; ++round) {
    std::ranges::transform(data, errors.begin(), [&](const Datum& datum) {
      return std::abs(relative_error(fit.line, datum));
    });
    const double spread = kSpread * base::median(errors);
    if (spread < kExact) {
      return fit;
    }
    for (std::size_t i = 0; i < data.size(); ++i) {
      const double most = kHuber * spread;
      fit.weights[i] = relative[i] * (errors[i] <= most ? 1 : most / errors[i]);
    }
    const Line before = fit.line;
    fit.line = bounded(data, fit.weights);
    if (settled(before.startup_s, fit.line.startup_s) &&
        settled(before.per_byte_s, fit.line.per_byte_s)) {
      return fit;
    }
  }
  return fit;
}

// Absolute errors: large messages decide alone. For comparison only.
Line fit_ordinary(std::span<const Datum> data) {
  return unbounded(data, std::vector<double>(data.size(), 1.0));
}

} // namespace stepsim::calibrate
