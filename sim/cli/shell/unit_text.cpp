// The unit follows from the end of a key (_s, _Bps, _bytes); a column has one unit for all its
// cells.
#include "cli/shell/unit_text.hpp"

#include <cmath>

#include "document/json_text.hpp"

namespace stepsim::cli {

namespace {

struct Scale {
  std::string_view unit;
  double factor; // from SI
};
constexpr std::array kTimes{Scale{"us", 1e6}, Scale{"ms", 1e3}, Scale{"s", 1},
                            Scale{"h", 1.0 / 3600}, Scale{"days", 1.0 / 86400}};
constexpr std::array kRates{Scale{"Mb/s", 8e-6}, Scale{"Gb/s", 8e-9}};
constexpr std::array kSizes{Scale{"B", 1}, Scale{"kB", 1e-3}, Scale{"MB", 1e-6}, Scale{"GB", 1e-9}};

// A kind of quantity: the end of its keys, its units, and which of them a column has.
struct Unit {
  base::QuantityKind kind;
  std::string_view suffix;
  std::span<const Scale> scales;
  std::size_t of_column;
};
constexpr std::array kUnits{Unit{base::QuantityKind::time, "_s", kTimes, 1},
                            Unit{base::QuantityKind::rate, "_Bps", kRates, 1},
                            Unit{base::QuantityKind::size, "_bytes", kSizes, 2}};

// Null for keys without a unit.
const Unit* unit_of(std::string_view key) {
  return base::found_if(kUnits,
                        [kind = quantity_of(key)](const Unit& each) { return each.kind == kind; });
}

ColumnUnit in_unit(std::string_view key, std::string_view suffix, const Scale& scale) {
  key.remove_suffix(key.ends_with(suffix) ? suffix.size() : 0);
  return {std::string(key) + " [" + std::string(scale.unit) + "]", scale.factor};
}

// "54.6649", "20": no zeros behind the last digit that counts.
std::string plain(double value, int digits) {
  return base::shortest(base::rounded_to(value, digits));
}

// In the first unit that makes it less than 1000.
std::string scaled(double value, std::span<const Scale> scales, int digits) {
  for (const Scale& scale : scales) {
    if (std::abs(value * scale.factor) < 999.9995 || &scale == &scales.back()) {
      return plain(value * scale.factor, digits) + " " + std::string(scale.unit);
    }
  }
  return {};
}

} // namespace

std::optional<base::QuantityKind> quantity_of(std::string_view key) {
  return key.ends_with("_per_s") ? std::nullopt : base::kind_of_key(key.substr(key.rfind('/') + 1));
}

ColumnUnit column_unit(std::string_view key) {
  const Unit* unit = unit_of(key);
  return unit == nullptr ? ColumnUnit{std::string(key), 1}
                         : in_unit(key, unit->suffix, unit->scales[unit->of_column]);
}

ColumnUnit field_unit(std::string_view field, double largest) {
  const auto kind = quantity_of(field);
  const ColumnUnit unit = kind == base::QuantityKind::time ? in_unit(field, "_s", kTimes[0])
                          : kind == base::QuantityKind::flops
                              ? in_unit(field, "_Ps", {"TFlop/s", 1e-12})
                              : column_unit(field);
  constexpr double kLeast = 1e-3; // such as bytes of a value, of which no megabytes are shown
  return largest > 0 && largest * unit.factor < kLeast ? ColumnUnit{std::string(field), 1} : unit;
}

std::string value_text(std::string_view key, double value, int digits) {
  const Unit* unit = unit_of(key);
  return unit == nullptr ? plain(value, digits) : scaled(value, unit->scales, digits);
}

std::pair<std::string, std::string> distinct_texts(std::string_view key, double a, double b) {
  constexpr int kMostDigits = 17; // doubles that differ do so with 17 digits
  for (int digits = 6;; ++digits) {
    std::string first = value_text(key, a, digits);
    std::string second = value_text(key, b, digits);
    if (first != second || digits == kMostDigits) {
      return {std::move(first), std::move(second)};
    }
  }
}

void add_value_column(Table& table, std::string_view key, std::span<const io::Json> values) {
  ColumnUnit unit = column_unit(key);
  const bool readable = std::ranges::all_of(values, [&](const io::Json& value) {
    constexpr double kLeast = 1e-3;
    constexpr double kMost = 1e6;
    const double shown = value.is_number() ? std::abs(value.as_double() * unit.factor) : 0;
    return shown == 0 || (shown >= kLeast && shown < kMost);
  });
  const bool each_its_own = !readable && unit.heading.ends_with(']');
  if (each_its_own) {
    unit.heading.erase(unit.heading.find(" ["));
  }
  add_column(table, unit.heading, values, [&](const io::Json& value) {
    return value.is_integer() && unit.factor == 1 ? io::compact(value)
           : !value.is_number()                   ? (value.is_string() ? value.as_string() : "-")
           : each_its_own                         ? value_text(key, value.as_double(), 4)
                                                  : cell(value.as_double(), unit.factor);
  });
}

} // namespace stepsim::cli
