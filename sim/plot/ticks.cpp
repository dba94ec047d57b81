// A step of a linear axis is the least of 1, 2, 5 times a power of ten that leaves room for every
// label. Powers of a logarithmic axis are exact: 10^-3 is the double nearest to 0.001.
#include "plot/ticks.hpp"

#include <cassert>
#include <cmath>

#include "base/quantity.hpp"

namespace stepsim::plot {

namespace {

constexpr std::array kSteps{1.0, 2.0, 5.0};
constexpr double kRoundedTicks = 6; // for the range alone; the room decides later

// mantissa * 10^exponent, correctly rounded.
double decimal(double mantissa, int exponent) {
  const std::string text = base::shortest(mantissa) + "e" + std::to_string(exponent);
  double value = 0;
  (void)std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

int decade(double value) { return static_cast<int>(std::floor(std::log10(value))); }

// The least 1-2-5 number that is >= value, which is > 0.
double nice_above(double value) {
  for (int exponent = decade(value) - 1;; ++exponent) {
    for (const double step : kSteps) {
      if (const double nice = decimal(step, exponent); nice >= value * (1 - 1e-12)) {
        return nice;
      }
    }
  }
}
double nice_below(double value) {
  double below = decimal(1, decade(value) - 1);
  for (double next = below; next <= value * (1 + 1e-12); next = nice_above(next * 1.5)) {
    below = next;
  }
  return below;
}

void enclose(AxisRange& range) {
  switch (range.scale) {
  case Scale::linear: {
    const double step = nice_above((range.high - range.low) / kRoundedTicks);
    range.low = step * std::floor(range.low / step + 1e-9);
    range.high = step * std::ceil(range.high / step - 1e-9);
    break;
  }
  case Scale::log2:
    range.low = std::exp2(std::floor(std::log2(range.low) + 1e-9));
    range.high = std::exp2(std::ceil(std::log2(range.high) - 1e-9));
    break;
  case Scale::log10:
    range.low = nice_below(range.low);
    range.high = nice_above(range.high);
    break;
  }
}

// One value alone, or nearly, gets some axis around it.
void widen(AxisRange& range) {
  const double size = std::max(std::abs(range.low), std::abs(range.high));
  if (range.high - range.low > 1e-6 * size) {
    return;
  }
  if (range.scale != Scale::linear) {
    range.low /= 2;
    range.high *= 2;
  } else if (range.low == 0) {
    range.high = 1;
  } else {
    (range.low > 0 ? range.low : range.high) = 0;
  }
}

std::vector<double> linear_ticks(const AxisRange& range, double most) {
  const double step = nice_above((range.high - range.low) / std::max(most, 1.0));
  std::vector<double> ticks;
  for (double i = std::ceil(range.low / step - 1e-9); i * step <= range.high + step * 1e-9; ++i) {
    ticks.push_back(base::rounded_to(i * step, 15) + 0.0); // no -0
  }
  return ticks;
}

std::vector<double> log2_ticks(const AxisRange& range, double most) {
  const double first = std::ceil(std::log2(range.low) - 1e-9);
  const double last = std::floor(std::log2(range.high) + 1e-9);
  const double stride = std::max(1.0, std::ceil((last - first) / std::max(most, 1.0)));
  std::vector<double> ticks;
  for (double i = first; i <= last; i += stride) {
    ticks.push_back(std::exp2(i));
  }
  return ticks;
}

std::vector<double> log10_ticks(const AxisRange& range, double most) {
  const double decades = std::log10(range.high / range.low);
  const bool all = 3 * decades <= std::max(most, 3.0);
  const int stride = std::max(1, static_cast<int>(std::ceil(decades / std::max(most, 1.0))));
  std::vector<double> ticks;
  for (int exponent = decade(range.low); exponent <= decade(range.high) + 1; ++exponent) {
    for (const double step : kSteps) {
      const double tick = decimal(step, exponent);
      const bool shown = all || (step == 1 && exponent % stride == 0);
      if (shown && tick >= range.low * (1 - 1e-12) && tick <= range.high * (1 + 1e-12)) {
        ticks.push_back(tick);
      }
    }
  }
  return ticks;
}

std::string with_commas(double value) {
  const bool whole = std::abs(value) < 1e15 && value == std::round(value);
  std::string text = whole ? std::to_string(std::llround(value)) : base::shortest(value);
  if (whole && std::abs(value) >= 10'000) {
    for (std::size_t end = text.size(); end > (value < 0 ? 4U : 3U); end -= 3) {
      text.insert(end - 3, ",");
    }
  }
  return text;
}

} // namespace

double AxisRange::share(double value) const {
  return scale == Scale::linear ? (value - low) / (high - low)
                                : std::log(value / low) / std::log(high / low);
}

AxisRange axis_range(const Axis& axis, double least, double greatest, bool rounded) {
  AxisRange range{axis.scale, std::min(least, axis.low.value_or(least)),
                  std::max(greatest, axis.high.value_or(greatest))};
  if (!axis.ticks.empty()) {
    range.low = std::min(range.low, axis.ticks.front());
    range.high = std::max(range.high, axis.ticks.back());
  }
  if (axis.scale == Scale::linear && range.low > 0 && range.low < range.high / 3) {
    range.low = 0;
  }
  widen(range);
  if ((rounded || axis.scale == Scale::log2) && axis.ticks.empty()) {
    enclose(range);
    widen(range);
  }
  assert(range.low < range.high && (range.scale == Scale::linear || range.low > 0));
  return range;
}

std::vector<double> axis_ticks(const Axis& axis, const AxisRange& range, double most) {
  if (!axis.ticks.empty()) {
    return axis.ticks;
  }
  switch (range.scale) {
  case Scale::linear:
    return linear_ticks(range, most);
  case Scale::log2:
    return log2_ticks(range, most);
  case Scale::log10:
    return log10_ticks(range, most);
  }
  return {};
}

std::string tick_text(const Axis& axis, double value, double greatest) {
  const auto scaled = [&](double step, std::span<const std::string_view> units) {
    std::size_t unit = 0;
    for (; unit + 1 < units.size() && std::abs(value) >= step; ++unit) {
      value /= step;
    }
    return base::shortest(base::rounded_to(value, 4)).append(units[unit]);
  };
  if (axis.unit == "bytes") {
    constexpr std::array<std::string_view, 5> kBinary{" B", " KiB", " MiB", " GiB", " TiB"};
    constexpr std::array<std::string_view, 5> kDecimal{" B", " kB", " MB", " GB", " TB"};
    const bool binary = value < 1024 || std::fmod(value, 1024) == 0;
    return binary ? scaled(1024, kBinary) : scaled(1000, kDecimal);
  }
  if (greatest >= 1e6) {
    constexpr std::array<std::string_view, 5> kLetters{"", "k", "M", "G", "T"};
    return scaled(1000, kLetters);
  }
  return with_commas(value);
}

} // namespace stepsim::plot
