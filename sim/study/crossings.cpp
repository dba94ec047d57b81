#include "study/crossings.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "base/quantity.hpp"

namespace stepsim::study {

namespace {

constexpr double kWidth = 1e-9;  // relative, of a refined bracket
constexpr double kEqual = 1e-12; // relative, of a value that is the target
constexpr double kJump = 1e-5;   // relative, of values at both ends of a refined bracket that jumps

// Of a sample with a value.
double difference(const CrossingSearch& search, const Sample& sample) {
  return *sample.value - search.target;
}

int side(const CrossingSearch& search, const Sample& sample) {
  const double by = difference(search, sample);
  if (std::abs(by) <= kEqual * std::abs(search.target)) {
    return 0;
  }
  return by < 0 ? -1 : 1;
}

// Two neighbouring integers, or a bracket of 1e-9.
bool is_closed(const CrossingSearch& search, const Sample& a, const Sample& b) {
  return search.integers ? b.at - a.at <= 1
                         : b.at - a.at <= kWidth * std::max(std::abs(a.at), std::abs(b.at));
}

// Inside the bracket: by the method of Oliveira and Takahashi (ACM TOMS 47, 2020), which
// interpolates and still never needs more than one step beyond bisection; halving where a value is
// the target. `allowed` is how far from the middle the point may lie.
double next_inside(const CrossingSearch& search, const Sample& a, const Sample& b,
                   double first_width, double allowed) {
  const double middle = a.at + (b.at - a.at) / 2;
  if (search.integers) {
    return std::floor(middle);
  }
  const double fa = difference(search, a);
  const double fb = difference(search, b);
  if (side(search, a) * side(search, b) >= 0) {
    return middle;
  }
  const double crossing = a.at - fa * (b.at - a.at) / (fb - fa);
  const double towards_middle = middle >= crossing ? 1.0 : -1.0;
  const double width = b.at - a.at;
  const double nudge = 0.2 / first_width * width * width;
  const double moved =
      nudge <= std::abs(middle - crossing) ? crossing + towards_middle * nudge : middle;
  const double kept =
      std::abs(moved - middle) <= allowed ? moved : middle - towards_middle * allowed;
  return kept > a.at && kept < b.at ? kept : middle;
}

// Narrows a..b, which lie on different sides, until closed; what is on the side of `a` moves `a`.
// Stops early where the function fails.
void refine(const CrossingSearch& search, const Evaluate& evaluate, Sample& a, Sample& b) {
  const double first_width = b.at - a.at;
  const double least = kWidth / 2 * std::max(std::abs(a.at), std::abs(b.at));
  double allowed = first_width; // halves with each step: at most one step beyond bisection
  for (int step = 0; step < 200 && !is_closed(search, a, b); ++step) {
    const double slack = std::max(0.0, std::max(allowed, least) - (b.at - a.at) / 2);
    const double at = next_inside(search, a, b, first_width, slack);
    const Sample sample{at, evaluate(at)};
    if (!sample.value || sample.at <= a.at || sample.at >= b.at) {
      return;
    }
    (side(search, sample) == side(search, a) ? a : b) = sample;
    allowed /= 2;
  }
}

// Values at both ends of a closed bracket that differ much belong to a jump: both sides of it are
// reported. The scale is that of the change, so that a small jump of a large number counts as
// smooth.
Crossing crossing_between(const CrossingSearch& search, const Evaluate& evaluate, Sample a,
                          Sample b, bool rising) {
  const double scale = std::max(std::abs(search.target), std::abs(*b.value - *a.value));
  refine(search, evaluate, a, b);
  const int side_a = side(search, a);
  const int side_b = side(search, b);
  const bool smooth =
      !search.integers && is_closed(search, a, b) && std::abs(*b.value - *a.value) <= kJump * scale;
  if (side_a == 0 || side_b == 0 || smooth) {
    const bool first = std::abs(difference(search, a)) < std::abs(difference(search, b));
    const Sample& nearest = first ? a : b;
    return {nearest.at, *nearest.value, rising, {}};
  }
  const bool first = (side_a > 0) == search.at_least;
  const Sample& met = first ? a : b;
  return {met.at, *met.value, rising, first ? b : a};
}

// A point between left and right, which are on the side of `near`, that is not; empty if the search
// for the turning point finds none.
std::optional<Sample> probe(const CrossingSearch& search, const Evaluate& evaluate, Sample left,
                            Sample near, Sample right) {
  constexpr double kGolden = 0.3819660112501051;
  constexpr int kMostSteps = 30;
  const int from = side(search, near);
  const auto away = [&](const Sample& sample) { return from * difference(search, sample); };
  for (int step = 0; step < kMostSteps; ++step) {
    const bool go_right = right.at - near.at > near.at - left.at;
    double at = near.at + kGolden * ((go_right ? right.at : left.at) - near.at);
    at = search.integers ? (go_right ? std::ceil(at) : std::floor(at)) : at;
    if (at <= left.at || at >= right.at || at == near.at) {
      return std::nullopt;
    }
    const Sample sample{at, evaluate(at)};
    if (!sample.value || side(search, sample) != from) {
      return sample.value ? std::optional(sample) : std::nullopt;
    }
    if (away(sample) < away(near)) {
      (go_right ? left : right) = near;
      near = sample;
    } else {
      (go_right ? right : left) = sample;
    }
    if (right.at - left.at <= 1e-6 * std::abs(near.at)) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

// The scan with a point in each dip through the target that no scanned point lies in.
std::vector<Sample> with_dips(const CrossingSearch& search, std::span<const Sample> scan,
                              const Evaluate& evaluate) {
  std::vector<Sample> samples;
  for (std::size_t i = 0; i < scan.size(); ++i) {
    samples.push_back(scan[i]);
    if (i == 0 || i + 1 == scan.size() || !scan[i - 1].value || !scan[i].value ||
        !scan[i + 1].value) {
      continue;
    }
    const int from = side(search, scan[i]);
    if (from == 0 || side(search, scan[i - 1]) != from || side(search, scan[i + 1]) != from) {
      continue;
    }
    const auto away = [&](std::size_t j) { return from * difference(search, scan[j]); };
    const double left = away(i - 1) - away(i);
    const double right = away(i + 1) - away(i);
    // A curve that turns once between its neighbours goes no deeper than the steeper of the two
    // slopes takes it.
    if (left <= 0 || right < 0 || away(i) > 2 * std::max(left, right)) {
      continue;
    }
    if (const auto dip = probe(search, evaluate, scan[i - 1], scan[i], scan[i + 1])) {
      samples.insert(dip->at < scan[i].at ? samples.end() - 1 : samples.end(), *dip);
    }
  }
  return samples;
}

} // namespace

// Rounding may make two values equal: the second is left out.
std::vector<double> scan_values(const CrossingSearch& search, std::optional<std::int64_t> points) {
  constexpr std::int64_t kPoints = 129;
  constexpr std::int64_t kAllIntegers = 1024;
  const std::int64_t count = points.value_or(kPoints);
  assert(search.low < search.high && count >= 2 && "an interval and its ends");
  std::vector<double> values;
  const double span = search.high - search.low;
  if (search.integers && span < static_cast<double>(points.value_or(kAllIntegers))) {
    for (double value = search.low; value <= search.high; ++value) {
      values.push_back(value);
    }
    return values;
  }
  values.push_back(search.low);
  for (std::int64_t i = 1; i + 1 < count; ++i) {
    const double part = static_cast<double>(i) / static_cast<double>(count - 1);
    double value = search.low > 0 ? search.low * std::pow(search.high / search.low, part)
                                  : search.low + span * part;
    value = search.integers ? std::round(value) : base::rounded_to(value, 6);
    if (value > values.back() && value < search.high) {
      values.push_back(value);
    }
  }
  values.push_back(search.high);
  return values;
}

// A stretch on the target counts once: where the curve reaches it, else where the curve leaves it.
std::vector<Crossing> find_crossings(const CrossingSearch& search, std::span<const Sample> scan,
                                     const Evaluate& evaluate) {
  const std::vector<Sample> samples = with_dips(search, scan, evaluate);
  std::vector<Crossing> crossings;
  bool counted = false; // the stretch of equal values that we are in
  for (std::size_t i = 1; i < samples.size(); ++i) {
    const Sample& a = samples[i - 1];
    const Sample& b = samples[i];
    if (!a.value || !b.value) {
      counted = false;
      continue;
    }
    const int from = side(search, a);
    const int to = side(search, b);
    if (from != 0 && to != from) {
      crossings.push_back(crossing_between(search, evaluate, a, b, from < 0));
      counted = to == 0;
    } else if (from == 0 && to != 0 && !counted) {
      crossings.push_back(crossing_between(search, evaluate, a, b, to > 0));
    }
    counted = counted && to == 0;
  }
  return crossings;
}

} // namespace stepsim::study
