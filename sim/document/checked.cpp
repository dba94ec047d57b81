// Numbers may be written with a unit, "25 Gbit/s", where the key says what is measured: the end of
// a key tells its unit (`_s`, `_bytes`, `_Bps`).

#include "document/checked.hpp"

#include <algorithm>
#include <cmath>

#include "base/collected.hpp"
#include "document/json_text.hpp"

namespace stepsim::io {

namespace {

std::string kind_of_number(Range range, std::string_view noun) {
  // "must be >= 1" -> "must be an integer >= 1"; "must be in (0, 1]" -> "must be an integer in
  // ...".
  const std::string text = range.text();
  constexpr std::string_view kMust = "must be";
  const std::string_view bounds = std::string_view(text).substr(kMust.size());
  return std::string(kMust).append(" ").append(noun).append(bounds);
}

// The text of a quantity where a number belongs; a bare number in quotes needs its unit.
base::QuantityResult quantity_in(std::string_view pointer, std::string_view text) {
  const auto kind = kind_of_place(pointer);
  if (!kind) {
    return "takes no unit";
  }
  if (!text.empty() && text.find_first_not_of("0123456789.eE+-") == std::string_view::npos) {
    return "a number stands without quotes, or carries a unit";
  }
  return base::parse_quantity(text, *kind);
}

// What is wrong with a value that is no number: "must be a number >= 0, got ..".
std::string not_a_number(const Json& value, const std::string& rule) {
  const std::string text = rule + ", got " + shown(value);
  if (!value.is_string()) {
    return text;
  }
  const std::string pointer = value.pointer();
  const auto parsed = quantity_in(pointer, value.as_string());
  const auto kind = kind_of_place(pointer);
  const bool starts_as_number = value.as_string().find_first_of("0123456789") == 0;
  return starts_as_number && kind && *kind != base::QuantityKind::ratio
             ? text + ": " + std::get<std::string>(parsed)
             : text;
}

} // namespace

const PairKinds* pair_kinds(std::string_view key) {
  constexpr auto kSize = base::QuantityKind::size;
  static constexpr std::array kPairs{PairKinds{"table", kSize, base::QuantityKind::time},
                                     PairKinds{"cdf", kSize, base::QuantityKind::ratio}};
  return base::found(kPairs, key, &PairKinds::key);
}

// The last key of a pointer decides; elements of a list are of the list's kind, and the elements
// /0 and /1 of an element of a list of pairs of their own.
std::optional<base::QuantityKind> kind_of_place(std::string_view pointer) {
  const auto is_index = [](std::string_view token) {
    return !token.empty() && token.find_first_not_of("0123456789-") == std::string_view::npos;
  };
  std::string_view key = pointer.substr(pointer.rfind('/') + 1);
  const std::string_view last = key;
  int depth = 0;
  for (; is_index(key) && key.size() < pointer.size(); ++depth) {
    pointer.remove_suffix(key.size() + 1);
    key = pointer.substr(pointer.rfind('/') + 1);
  }
  if (const PairKinds* pair = pair_kinds(key); pair != nullptr && depth == 2) {
    return last == "0" ? pair->first : pair->second;
  }
  if (key.ends_with("per_byte_s")) {
    return std::nullopt;
  }
  return base::kind_of_key(key).value_or(base::QuantityKind::ratio);
}

std::optional<std::string> checked_text(const Json& value, Problems& problems) {
  if (!value.is_string()) {
    problems.add(value, "must be a text, got " + shown(value));
    return std::nullopt;
  }
  return value.as_string();
}

std::vector<std::string> checked_texts(std::span<const Json> values, Problems& problems) {
  std::vector<std::string> texts;
  for (const Json& value : values) {
    if (auto text = checked_text(value, problems)) {
      texts.push_back(std::move(*text));
    }
  }
  return texts;
}

std::string shown(const Json& value) {
  if (value.is_array()) {
    return "a list";
  }
  if (value.is_object()) {
    return "an object";
  }
  return base::shown_value(compact(value));
}

// Sizes are whole bytes, all other quantities are real.
std::optional<Json> quantity_at(std::string_view pointer, std::string_view text) {
  const auto parsed = quantity_in(pointer, text);
  const double* number = std::get_if<double>(&parsed);
  if (number == nullptr) {
    return std::nullopt;
  }
  if (*kind_of_place(pointer) == base::QuantityKind::size) {
    return Json(static_cast<std::int64_t>(*number));
  }
  return Json(*number);
}

std::optional<double> number_of(const Json& value) {
  if (value.is_string()) {
    const auto number = quantity_at(value.pointer(), value.as_string());
    return number ? std::optional(number->as_double()) : std::nullopt;
  }
  return value.is_number() ? std::optional(value.as_double()) : std::nullopt;
}

// The tree with quantities as plain numbers in SI units, each with the origin of its text.
Json with_numbers(Json tree) {
  if (tree.is_array()) {
    for (Json& element : tree.as_array()) {
      element = with_numbers(std::move(element));
    }
  } else if (tree.is_object()) {
    for (auto& [key, member] : tree.as_object()) {
      member = with_numbers(std::move(member));
    }
  } else if (tree.is_string() && kind_of_place(tree.pointer()) != base::QuantityKind::ratio) {
    if (auto number = quantity_at(tree.pointer(), tree.as_string())) {
      number->set_origin(tree.file_pointer(), tree.pointer(), tree.line());
      return std::move(*number);
    }
  }
  return tree;
}

std::optional<double> checked_number(const Json& value, Range range, Problems& problems) {
  const auto number = number_of(value);
  if (!number) {
    problems.add(value, not_a_number(value, kind_of_number(range, "a number")));
    return std::nullopt;
  }
  if (!range.contains(*number)) {
    problems.add(value, range.text() + ", got " + shown(value));
    return std::nullopt;
  }
  return number;
}

// 16.0 and 1e6 are integers: tools that know doubles only write them so.
std::optional<std::int64_t> checked_integer(const Json& value, Range range, Problems& problems) {
  // A percentage is no integer, not even 200%.
  const bool percent =
      value.is_string() && kind_of_place(value.pointer()) == base::QuantityKind::ratio;
  const auto number = percent ? std::nullopt : number_of(value);
  const double real = number.value_or(0.0);
  const bool whole =
      value.is_integer() || (number && real == std::floor(real) && std::abs(real) <= 0x1p53);
  if (!number) {
    problems.add(value, not_a_number(value, kind_of_number(range, "an integer")));
    return std::nullopt;
  }
  // An integer that is above the range by less than doubles tell apart.
  const bool beyond = value.is_integer() && real < 0x1p63 &&
                      static_cast<std::int64_t>(real) < value.as_integer() &&
                      !range.contains(std::nextafter(real, HUGE_VAL));
  if (!whole || beyond || !range.contains(real)) {
    problems.add(value, kind_of_number(range, "an integer") + ", got " + shown(value));
    return std::nullopt;
  }
  return value.is_integer() ? value.as_integer() : static_cast<std::int64_t>(real);
}

// A file with thousands of bad values would print thousands of lines: the first 20 are kept, the
// rest counted. What several readers of one value find is one problem.

void Problems::keep(base::Problem problem) {
  constexpr std::size_t kMaxProblems = 20;
  const bool is_new = known_.insert({problem.file, problem.where, problem.message}).second;
  if (is_new && problems_.size() < kMaxProblems) {
    problems_.push_back(std::move(problem));
  }
}

void Problems::add(const Json& place, std::string message) {
  keep({std::string(place.file()), place.pointer(), std::move(message)});
}

void Problems::add(const Json& parent, std::string_view key, std::string message) {
  keep({std::string(parent.file()), parent.pointer().append("/").append(escape_token(key)),
        std::move(message)});
}

void Problems::throw_if_any() const {
  if (problems_.empty()) {
    return;
  }
  std::vector<base::Problem> all = problems_;
  if (const std::size_t more = known_.size() - problems_.size(); more > 0) {
    all.push_back({all.front().file, "", fmt::format("and {} more problems", more)});
  }
  throw InputError(std::move(all));
}

// A range says in one wording what values it has: files, flags and schemas share it.

bool Range::contains(double value) const {
  const bool above_low = open_low ? value > low : value >= low;
  const bool below_high = open_high ? value < high : value <= high;
  return above_low && below_high;
}

std::string Range::text() const {
  const bool has_low = std::isfinite(low);
  const bool has_high = std::isfinite(high);
  if (has_low && has_high) {
    return std::string("must be in ") + (open_low ? "(" : "[") + base::shortest(low) + ", " +
           base::shortest(high) + (open_high ? ")" : "]");
  }
  if (has_low) {
    return std::string("must be ") + (open_low ? "> " : ">= ") + base::shortest(low);
  }
  if (has_high) {
    return std::string("must be ") + (open_high ? "< " : "<= ") + base::shortest(high);
  }
  return "must be";
}

} // namespace stepsim::io
