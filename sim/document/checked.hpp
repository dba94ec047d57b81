#pragma once
// The allowed values of a number in a file.
#include <fmt/core.h>

#include <array>
#include <limits>
#include <set>

#include "base/error.hpp"
#include "base/quantity.hpp"
#include "document/json.hpp"

namespace stepsim::io {

// An interval, closed unless a bound is marked as open. Contains no NaN.
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool open_low = false; // low itself is not allowed
  bool open_high = false;
  [[nodiscard]] bool contains(double value) const;
  // "must be >= 1", "must be in (0, 1]", "must be > 0"
  [[nodiscard]] std::string text() const;
};
[[nodiscard]] constexpr Range at_least(double low) { return {.low = low}; }
[[nodiscard]] constexpr Range above(double low) { return {.low = low, .open_low = true}; }
[[nodiscard]] constexpr Range between(double low, double high) {
  return {.low = low, .high = high};
}
// (low, high]
[[nodiscard]] constexpr Range above_to(double low, double high) {
  return {.low = low, .high = high, .open_low = true};
}
// [low, high)
[[nodiscard]] constexpr Range below_from(double low, double high) {
  return {.low = low, .high = high, .open_high = true};
}

// Collects the problems of files, so that a user sees all of them at once.

// Problems of one or several files. The first 20 are kept; the number of the others becomes a last
// line "and N more problems".
class Problems {
public:
  void add(const Json& place, std::string message); // at the value's own pointer
  void add(const Json& parent, std::string_view key,
           std::string message); // at parent's pointer/key
  // The same with values in the message, "must divide nodes ({}), got {}".
  template <class... Values>
  void refuse(const Json& place, fmt::format_string<const Values&...> message,
              const Values&... values) {
    add(place, fmt::format(message, values...));
  }
  template <class... Values>
  void add(const Json& parent, std::string_view key, fmt::format_string<const Values&...> message,
           const Values&... values) {
    add(parent, key, fmt::format(message, values...));
  }
  [[nodiscard]] bool empty() const { return problems_.empty(); }
  [[nodiscard]] const std::vector<base::Problem>& list() const { return problems_; }
  void throw_if_any() const; // throws InputError

private:
  void keep(base::Problem problem);

  std::vector<base::Problem> problems_;
  std::set<std::array<std::string, 3>> known_; // file, place and message of all
};

// Checks single values of a file: numbers, integers and texts with a unit.

// The kinds of the two numbers of each pair in the list with this key: `table` has [bytes,
// seconds], `cdf` [bytes, share]. Null for other keys.
struct PairKinds {
  std::string_view key;
  base::QuantityKind first, second;
};
[[nodiscard]] const PairKinds* pair_kinds(std::string_view key);

// The kind of quantity (time, size, rate, ..) of a number at this place. It follows from the last
// key of the pointer: the end of the key gives the unit, and a key without a unit is a ratio.
// Elements of a list have the kind of the list's key, those of pairs that of pair_kinds(). Empty
// for keys that end in per_byte_s, which do not take a text with a unit.
[[nodiscard]] std::optional<base::QuantityKind> kind_of_place(std::string_view pointer);

// The number that a text at this place means: in a unit of the key ("10ms" at
// /ready_s/3), or a percentage if the key has no unit.
// Empty for all other texts, such as the words that some keys allow besides numbers.
[[nodiscard]] std::optional<Json> quantity_at(std::string_view pointer, std::string_view text);
// The value of a number, or of a text with a unit, read by quantity_at() for the place of `value`
// in its file. Empty for everything else.
[[nodiscard]] std::optional<double> number_of(const Json& value);
// The tree in which every text with a unit of its key is a number in SI units; percentages stay
// texts.
[[nodiscard]] Json with_numbers(Json tree);

// Check one value, for example an element of a list; the problem names the place of the value. An
// integer may be written as 16.0 or 1e6. Numbers and integers may be texts with a unit, but an
// integer is never a percentage. Empty after a problem.
[[nodiscard]] std::optional<double> checked_number(const Json& value, Range range,
                                                   Problems& problems);
[[nodiscard]] std::optional<std::int64_t> checked_integer(const Json& value, Range range,
                                                          Problems& problems);
[[nodiscard]] std::optional<std::string> checked_text(const Json& value, Problems& problems);
// The texts of a list, without those that are none.
[[nodiscard]] std::vector<std::string> checked_texts(std::span<const Json> values,
                                                     Problems& problems);
// The value for error messages: compact JSON of at most 40 bytes, "an object" or "a list".
[[nodiscard]] std::string shown(const Json& value);

} // namespace stepsim::io
