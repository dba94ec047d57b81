#include "base/quantity.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.hpp"

namespace stepsim::base {

namespace {

constexpr std::string_view kBlanks = " \t";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// NUMBER and UNIT of one entry, blanks removed. `number` keeps the text, so that the decimal
// exponent of the unit is applied before the one rounding to double.
struct Parts {
  std::string_view number;
  std::string_view unit;
};

std::variant<Parts, std::string> split(std::string_view text) {
  text = trimmed(text);
  if (text.empty()) {
    return "empty";
  }
  std::string_view rest = text;
  if (rest.front() == '-') {
    return "must be >= 0, got " + shown_value(text);
  }
  if (rest.front() == '+') {
    rest.remove_prefix(1);
  }
  double value{};
  const bool starts_a_number =
      !rest.empty() && (std::isdigit(static_cast<unsigned char>(rest[0])) || rest[0] == '.');
  const auto result = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (!starts_a_number || result.ec == std::errc::invalid_argument) {
    return "not a number: \"" + shown_value(text) + "\"";
  }
  const auto length = static_cast<std::size_t>(result.ptr - rest.data());
  return Parts{rest.substr(0, length), trimmed(rest.substr(length))};
}

// The number times 10^exponent, rounded once; infinite if it does not fit.
double scaled(std::string_view number, int exponent) {
  std::string text(number.substr(0, number.find_first_of("eE")));
  if (text.size() < number.size()) {
    std::string_view written = number.substr(text.size() + 1);
    if (written.front() == '+') {
      written.remove_prefix(1);
    }
    int own{};
    const auto parsed = std::from_chars(written.data(), written.data() + written.size(), own);
    if (parsed.ec != std::errc{} || std::abs(own) > 100'000) {
      own = written.front() == '-' ? -100'000 : 100'000;
    }
    exponent += own;
  }
  text += 'e';
  append_integer(text, exponent);
  double value{};
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec == std::errc::result_out_of_range) {
    // Zero with a huge exponent is zero; anything else is too large or too small for a double.
    const bool zero = text.find_first_of("123456789") >= text.find('e');
    return zero ? 0.0 : HUGE_VAL;
  }
  return value;
}

std::string unit_list(QuantityKind kind) { return joined(common_units(kind)); }

std::string unknown_unit(std::string_view unit, QuantityKind kind) {
  if (const std::string readings = two_readings(unit, kind); !readings.empty()) {
    return "unknown unit, did you mean " + readings + "?";
  }
  if (const std::string_view other = kind_name_of_unit(unit); !other.empty()) {
    return std::string(unit) + " is a unit of " + std::string(other) + ", needs one of " +
           unit_list(kind);
  }
  const std::string hint = did_you_mean(unit, units(kind));
  return "unknown unit" + (hint.empty() ? " (" + unit_list(kind) + ")" : hint);
}

QuantityResult whole(double value, QuantityKind kind) {
  if (!std::isfinite(value)) {
    return "number out of range";
  }
  if (kind == QuantityKind::size) {
    if (value != std::floor(value)) {
      return "not a whole number of bytes";
    }
    if (value >= 0x1p63) {
      return "must be below 2^63 bytes";
    }
  }
  if (kind == QuantityKind::count || kind == QuantityKind::amount) {
    if (value != std::floor(value)) {
      return "not a whole number";
    }
    if (value > 0x1p53) {
      return "must be at most 2^53";
    }
  }
  return value;
}

QuantityResult value_of(Parts parts, QuantityKind kind, BareNumber bare) {
  if (kind == QuantityKind::count) {
    if (!parts.unit.empty()) {
      return "a count takes no unit, got " + shown_value(parts.unit);
    }
    if (parts.number.find_first_not_of("0123456789") != std::string_view::npos) {
      return "not a whole number";
    }
    return whole(scaled(parts.number, 0), kind);
  }
  if (parts.unit.empty()) {
    const double value = scaled(parts.number, 0);
    const bool has_own_unit =
        kind == QuantityKind::ratio || kind == QuantityKind::size || kind == QuantityKind::amount;
    const bool allowed = has_own_unit || bare == BareNumber::si || value == 0.0;
    if (!allowed) {
      return "unit missing (" + unit_list(kind) + ")";
    }
    return whole(value, kind);
  }
  const Unit* unit = find_unit(parts.unit, kind);
  if (unit == nullptr) {
    return unknown_unit(parts.unit, kind);
  }
  return whole(scaled(parts.number, unit->exponent) * unit->factor, kind);
}

// One entry of a list: a value, or first:last:xF or first:last:+S.
struct Entry {
  std::vector<std::string_view> parts; // 1 or 3
  char step_kind{};                    // 'x' or '+'
};

std::variant<Entry, std::string> split_entry(std::string_view text) {
  Entry entry;
  std::size_t begin = 0;
  for (std::size_t colon = text.find(':'); colon != std::string_view::npos;
       colon = text.find(':', begin)) {
    entry.parts.push_back(text.substr(begin, colon - begin));
    begin = colon + 1;
  }
  entry.parts.push_back(trimmed(text.substr(begin)));
  if (entry.parts.size() == 1) {
    return entry;
  }
  const std::string_view step = entry.parts.back();
  if (entry.parts.size() != 3 || step.empty() || (step[0] != 'x' && step[0] != '+')) {
    return "a range is FIRST:LAST:+STEP or FIRST:LAST:xFACTOR, a list A,B,C";
  }
  entry.step_kind = step[0];
  entry.parts.back().remove_prefix(1);
  return entry;
}

struct Range {
  double first{}, last{}, step{};
  bool geometric{};
  [[nodiscard]] double value(std::size_t i) const {
    const auto n = static_cast<double>(i);
    return geometric ? first * std::pow(step, n) : first + step * n;
  }
};

std::optional<std::string> expand(const Range& range, QuantityKind kind,
                                  std::vector<double>& values) {
  if (range.last < range.first) {
    return "the range ends before it starts";
  }
  if (range.geometric && !(range.step > 1.0)) {
    return "the factor of a range must be > 1";
  }
  if (range.geometric && !(range.first > 0.0)) {
    return "a geometric range must start above 0";
  }
  if (!range.geometric && !(range.step > 0.0)) {
    return "the step of a range must be > 0";
  }
  const double steps = range.geometric ? std::log(range.last / range.first) / std::log(range.step)
                                       : (range.last - range.first) / range.step;
  if (!(steps + static_cast<double>(values.size()) < static_cast<double>(kMaxQuantityValues))) {
    return "more than " + std::to_string(kMaxQuantityValues) + " values";
  }
  const bool whole_steps = kind == QuantityKind::size || kind == QuantityKind::count;
  const double tolerance = 1e-9 * range.last;
  for (std::size_t i = 0;; ++i) {
    const double exact = range.value(i);
    const double value = whole_steps ? std::round(exact) : rounded_to(exact, 15);
    if (exact > range.last + tolerance) {
      return std::nullopt;
    }
    const bool hits_end = exact >= range.last - tolerance;
    const QuantityResult checked = whole(hits_end ? range.last : value, kind);
    if (const auto* error = std::get_if<std::string>(&checked)) {
      return shortest(value) + ": " + *error;
    }
    if (i == 0 || values.back() != value) {
      values.push_back(std::get<double>(checked));
    }
    if (hits_end) {
      return std::nullopt;
    }
  }
}

} // namespace

QuantityResult parse_quantity(std::string_view text, QuantityKind kind, BareNumber bare) {
  auto parts = split(text);
  if (auto* error = std::get_if<std::string>(&parts)) {
    return std::move(*error);
  }
  return value_of(std::get<Parts>(parts), kind, bare);
}

QuantityListResult parse_quantity_list(std::string_view text, QuantityKind kind, BareNumber bare) {
  std::vector<std::string_view> texts;
  std::size_t begin = 0;
  for (std::size_t comma = text.find(','); comma != std::string_view::npos;
       comma = text.find(',', begin)) {
    texts.push_back(text.substr(begin, comma - begin));
    begin = comma + 1;
  }
  texts.push_back(text.substr(begin));
  if (texts.size() > kMaxQuantityValues) {
    return "more than " + std::to_string(kMaxQuantityValues) + " values";
  }
  const auto error_at = [&](std::string_view entry, const std::string& message) {
    if (texts.size() > 1 && trimmed(entry).empty()) {
      return std::string("empty entry in the list");
    }
    return texts.size() == 1 ? message : shown_value(trimmed(entry)) + ": " + message;
  };

  // From the last entry to the first, so that a unit reaches the entries before it.
  struct Piece {
    std::array<double, 3> values{};
    char step_kind{};
  };
  std::vector<Piece> pieces(texts.size());
  std::string_view unit;
  for (std::size_t i = texts.size(); i-- > 0;) {
    auto entry_or_error = split_entry(texts[i]);
    if (const auto* error = std::get_if<std::string>(&entry_or_error)) {
      return error_at(texts[i], *error);
    }
    const Entry& entry = std::get<Entry>(entry_or_error);
    pieces[i].step_kind = entry.step_kind;
    // The step of a range takes the unit of the range's end, so it is read after it; an end
    // without a unit takes that of the step: "10:400:+10Gbps".
    static constexpr std::array<std::size_t, 3> kRangeOrder{1, 0, 2};
    if (entry.step_kind == '+') {
      const auto step = split(entry.parts[2]);
      const auto* parts = std::get_if<Parts>(&step);
      unit = parts != nullptr && !parts->unit.empty() ? parts->unit : unit;
    }
    std::string_view end_unit;
    for (std::size_t k = 0; k < entry.parts.size(); ++k) {
      const std::size_t part = entry.parts.size() == 1 ? 0 : kRangeOrder[k];
      auto parts_or_error = split(entry.parts[part]);
      if (const auto* error = std::get_if<std::string>(&parts_or_error)) {
        return error_at(texts[i], *error);
      }
      Parts parts = std::get<Parts>(parts_or_error);
      const bool factor = part == 2 && entry.step_kind == 'x';
      if (!factor && parts.unit.empty()) {
        parts.unit = part == 2 ? end_unit : unit;
      } else if (!factor && part != 2) {
        unit = parts.unit;
      }
      if (part == 1) {
        end_unit = parts.unit;
      }
      const QuantityResult value = value_of(parts, factor ? QuantityKind::ratio : kind, bare);
      if (const auto* error = std::get_if<std::string>(&value)) {
        return error_at(texts[i], *error);
      }
      pieces[i].values[part] = std::get<double>(value);
    }
  }
  std::vector<double> values;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const Piece& piece = pieces[i];
    if (piece.step_kind == 0) {
      values.push_back(piece.values[0]);
      continue;
    }
    const Range range{piece.values[0], piece.values[1], piece.values[2], piece.step_kind == 'x'};
    if (const auto error = expand(range, kind, values)) {
      return error_at(texts[i], *error);
    }
  }
  return values;
}

} // namespace stepsim::base
