#include "cli/unit_text.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <span>

#include "base/number_text.hpp"
#include "base/quantity.hpp"

namespace stepsim::cli {

namespace {

struct Scale {
  std::string_view unit;
  double factor; // from SI
};
constexpr std::array kTimes{Scale{"us", 1e6}, Scale{"ms", 1e3}, Scale{"s", 1}};
constexpr std::array kRates{Scale{"Mb/s", 8e-6}, Scale{"Gb/s", 8e-9}};
constexpr std::array kSizes{Scale{"B", 1}, Scale{"kB", 1e-3}, Scale{"MB", 1e-6}, Scale{"GB", 1e-9}};

std::optional<base::QuantityKind> kind_of(std::string_view key) {
  return key.ends_with("_per_s") ? std::nullopt : base::kind_of_key(key);
}

// "54.6649", "20": no zeros behind the last digit that counts.
std::string plain(double value) {
  const std::string text = base::significant(value, 6);
  double rounded = 0;
  (void)std::from_chars(text.data(), text.data() + text.size(), rounded);
  return base::shortest(rounded);
}

// In the first unit that makes it less than 1000.
std::string scaled(double value, std::span<const Scale> scales) {
  for (const Scale& scale : scales) {
    if (std::abs(value * scale.factor) < 999.9995 || &scale == &scales.back()) {
      return plain(value * scale.factor) + " " + std::string(scale.unit);
    }
  }
  return {};
}

} // namespace

ColumnUnit column_unit(std::string_view key) {
  const auto with = [&](std::string_view suffix, const Scale& scale) {
    const std::string name(key.substr(0, key.size() - suffix.size()));
    return ColumnUnit{name + " [" + std::string(scale.unit) + "]", scale.factor};
  };
  switch (kind_of(key).value_or(base::QuantityKind::ratio)) {
  case base::QuantityKind::time:
    return with("_s", kTimes[1]);
  case base::QuantityKind::rate:
    return with("_Bps", kRates[1]);
  case base::QuantityKind::size:
    return with(key == "bytes" ? "" : "_bytes", kSizes[2]);
  case base::QuantityKind::flops:
  case base::QuantityKind::ratio:
  case base::QuantityKind::count:
    break;
  }
  return {std::string(key), 1};
}

std::string value_text(std::string_view key, double value) {
  switch (kind_of(key).value_or(base::QuantityKind::ratio)) {
  case base::QuantityKind::time:
    return scaled(value, kTimes);
  case base::QuantityKind::rate:
    return scaled(value, kRates);
  case base::QuantityKind::size:
    return scaled(value, kSizes);
  case base::QuantityKind::flops:
  case base::QuantityKind::ratio:
  case base::QuantityKind::count:
    break;
  }
  return plain(value);
}

} // namespace stepsim::cli
