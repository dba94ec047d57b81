#pragma once
// Reading an object key by key with all checks of the house: missing, wrong type, out of range,
// unknown key with the nearest known one. Problems are collected; Problems::throw_if_any throws
// them together.
//
//     Fields fields(json, problems, kCluster);            // the rows of the object's keys
//     const double latency = fields.number("latency_s");  // range and default are those of its row
//     const auto nodes = fields.integer("nodes");
//     fields.no_more();                                   // unknown keys
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/words.hpp"
#include "json/checked.hpp"
#include "json/fields/key.hpp"
#include "json/json.hpp"
#include "json/problems.hpp"
#include "json/range.hpp"

namespace stepsim::io {

// Of the files that are read and written: their key schema_version.
inline constexpr std::int64_t kSchemaVersion = 1;

// Keys are string literals, or live at least as long as the Fields.
class Fields {
public:
  // `json` must be an object; if not, one problem is recorded and every key reads as absent.
  Fields(const Json& json, Problems& problems);
  // `object`: the row of the object, or of several forms of which one is an object.
  Fields(const Json& json, Problems& problems, const Key& object);

  [[nodiscard]] bool has(std::string_view key) const; // present and not null
  // The raw value (null pointer if absent, a JSON null if given so); marks the key as known.
  const Json* any(std::string_view key);

  // By the row of the key: required, or with the row's default, which null also stands for. `_or`,
  // `required_` and `optional_` are for keys whose default, or whether they have one, depends on
  // the rest of the file. Of several forms the number counts.
  double number(std::string_view key);
  double number_or(std::string_view key, double fallback);
  double required_number(std::string_view key);
  std::optional<double> optional_number(std::string_view key);
  std::int64_t integer(std::string_view key);
  std::int64_t integer_or(std::string_view key, std::int64_t fallback);
  std::int64_t required_integer(std::string_view key);
  std::optional<std::int64_t> optional_integer(std::string_view key);
  bool boolean(std::string_view key);
  // One of the words of the row.
  std::string_view word(std::string_view key);
  std::string_view word_or(std::string_view key, std::string_view fallback);
  template <class Enum, std::size_t N>
  Enum word(std::string_view key, const base::Words<Enum, N>& words) {
    return words.find(word(key)).value_or(Enum{});
  }
  std::optional<std::string_view> optional_word(std::string_view key);
  template <class Enum, std::size_t N>
  std::optional<Enum> optional_word(std::string_view key, const base::Words<Enum, N>& words) {
    const auto given = optional_word(key);
    return given ? words.find(*given) : std::nullopt;
  }
  // A key that is not required is empty without a default.
  std::string text(std::string_view key);
  std::optional<std::string> optional_text(std::string_view key);
  // The elements of a list; none where it is left out. A list whose row asks for an element is
  // refused without one: "needs at least one `element`".
  std::span<const Json> list(std::string_view key);
  std::span<const Json> list(std::string_view key, std::string_view element);
  // The row of a key, which must be there; all members of a map have the same.
  [[nodiscard]] const Key& row(std::string_view key) const;

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
  // must be `kind`; required also where its row says so), `name`, `$schema`. Throws what was found
  // so far where the file is no object or of another kind.
  void header(std::string_view kind, bool kind_required = false);
  // No key of the rows is unknown, whether it was asked for or not.
  void know_all();
  // Every key not asked for is a problem "unknown key, did you mean ...?".
  void no_more();
  [[nodiscard]] const Json& json() const { return json_; }
  [[nodiscard]] Problems& problems() { return problems_; }

private:
  // The value, or null and a problem that says what is expected.
  const Json* required(std::string_view key, std::string_view expected);

  const Json& json_;
  // The row of the key, or of its form that is a number.
  [[nodiscard]] const Key& number_row(std::string_view key) const;

  const Key* object_ = nullptr;
  // The row found last; keys are mostly asked for in the order of the rows.
  mutable std::size_t last_row_ = static_cast<std::size_t>(-1);
  Problems& problems_;
  std::vector<std::string_view> known_;
};

} // namespace stepsim::io
