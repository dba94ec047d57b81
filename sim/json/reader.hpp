#pragma once
// Reading an object key by key with all checks of the house: missing, wrong type, out of range,
// unknown key with the nearest known one. Problems are collected; `finish` throws them together.
//
//     Fields fields(json, problems);
//     const double latency = fields.number("latency_s", at_least(0));
//     const auto nodes = fields.integer("nodes", at_least(1));
//     fields.no_more();                       // unknown keys
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/error.hpp"
#include "base/words.hpp"
#include "json/json.hpp"

namespace stepsim::io {

// Collects problems of one or several files, at most 20; later ones are only counted and become
// one last line "and N more problems".
class Problems {
public:
  void add(const Json& place, std::string message); // at the value's own pointer
  void add(const Json& parent, std::string_view key,
           std::string message); // at parent's pointer/key
  [[nodiscard]] bool empty() const { return problems_.empty(); }
  [[nodiscard]] const std::vector<base::Problem>& list() const { return problems_; }
  void throw_if_any() const; // InputError

private:
  std::vector<base::Problem> problems_;
  std::size_t dropped_{};
};

struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool open_low = false; // low itself is not allowed
  bool open_high = false;
  [[nodiscard]] bool contains(double value) const;
  [[nodiscard]] std::string text() const; // "must be >= 1", "must be in (0, 1]", "must be > 0"
};
[[nodiscard]] Range at_least(double low);
[[nodiscard]] Range above(double low);
[[nodiscard]] Range between(double low, double high);
[[nodiscard]] Range above_to(double low, double high); // (low, high]

// Keys are string literals, or live at least as long as the Fields.
class Fields {
public:
  // `json` must be an object; if not, one problem is recorded and every key reads as absent.
  Fields(const Json& json, Problems& problems);

  [[nodiscard]] bool has(std::string_view key) const; // present and not null
  // The raw value (null pointer if absent); marks the key as known.
  const Json* any(std::string_view key);

  // Required forms: a problem "required" is recorded when absent, and a harmless value returned.
  // With a fallback the key is optional.
  double number(std::string_view key, Range range);
  double number(std::string_view key, Range range, double fallback);
  std::optional<double> optional_number(std::string_view key, Range range);
  std::int64_t integer(std::string_view key, Range range);
  std::int64_t integer(std::string_view key, Range range, std::int64_t fallback);
  std::optional<std::int64_t> optional_integer(std::string_view key, Range range);
  bool boolean(std::string_view key, bool fallback);
  std::string string(std::string_view key);
  std::string string(std::string_view key, std::string fallback);
  // One of `words`; index into them. Unknown words are problems with the nearest known one.
  std::size_t word(std::string_view key, std::span<const std::string_view> words,
                   std::optional<std::size_t> fallback);
  template <class Enum, std::size_t N>
  Enum word(std::string_view key, const base::Words<Enum, N>& words,
            std::type_identity_t<std::optional<Enum>> fallback) {
    const auto index = fallback ? std::optional(static_cast<std::size_t>(*fallback)) : std::nullopt;
    return static_cast<Enum>(word(key, words.all(), index));
  }
  // The array's elements, empty if absent or wrong.
  std::span<const Json> array(std::string_view key, bool required);

  // `schema_version` (1, also if absent; higher: "written by a newer stepsim"), `kind` (if present
  // must be `kind`), `name`, `$schema`. Throws what was found so far where the file is no object.
  void header(std::string_view kind, bool kind_required = false);
  // Every key not asked for is a problem "unknown key, did you mean ...?".
  void no_more();
  [[nodiscard]] const Json& json() const { return json_; }
  [[nodiscard]] Problems& problems() { return problems_; }

private:
  const Json* required(std::string_view key, std::string_view expected);

  const Json& json_;
  Problems& problems_;
  std::vector<std::string_view> known_;
};

// The number that a text stands for at this place: in a unit of the place's key ("25Gbps" at
// /cluster/network/bandwidth_Bps, "10ms" at /ready_s/3), or a percentage where the key has none.
// Empty for all other texts, such as the words that some keys take beside numbers.
[[nodiscard]] std::optional<Json> quantity_at(std::string_view pointer, std::string_view text);
// A number as it is, a text as `quantity_at` its own place; empty for everything else.
[[nodiscard]] std::optional<double> number_of(const Json& value);
// The tree with numbers in place of texts with a unit of their key.
[[nodiscard]] Json with_numbers(Json tree);

// Checks of single values, for lists: the element's own pointer is named. An integer may be written
// as 16.0 or 1e6, and both as a text with a unit (INP 4.2). Nothing is returned after a problem.
[[nodiscard]] std::optional<double> checked_number(const Json& value, Range range,
                                                   Problems& problems);
[[nodiscard]] std::optional<std::int64_t> checked_integer(const Json& value, Range range,
                                                          Problems& problems);
// A value as error messages show it: compact, cut, "an object" or "a list" for those.
[[nodiscard]] std::string shown(const Json& value);

} // namespace stepsim::io
