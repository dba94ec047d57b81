#pragma once
// A key of stepsim's files. One row says what the key means, which values it takes and which value
// holds if it is absent. Readers take ranges, words and defaults from the row; the JSON Schema and
// the pages about keys are written from it.
//
//     constexpr std::array kLimits{
//         number("simulated_s", "Longest simulated time, s.", above(0)).by_default(1000),
//         word("method", kMethods, "Evaluator.").by_default("auto"),
//         object("device", kDevice, "Speed of the device.", R"({"flops_Ps": 2e13})")};
//
// The last cell of a row is an example of its values, as JSON text. A row without a name gets it
// from the member that it is bound to.
// The unit of a number follows from the end of its name (base::kind_of_key): latency_s is a time in
// seconds and may be written as "5us".

#include "base/words.hpp"
#include "document/checked.hpp"

namespace stepsim::io {

enum class KeyKind { number, integer, boolean, text, word, object, list, either, map, any };

// Words of a key: those of an enum, or a list that is made at run time from a table of names.
class KeyWords {
public:
  using List = std::vector<std::string_view> (*)();

  constexpr KeyWords() = default;
  constexpr KeyWords(std::span<const std::string_view> words) : words_(words) {}
  constexpr KeyWords(List list) : list_(list) {}
  template <class Enum, std::size_t N>
  constexpr KeyWords(const base::Words<Enum, N>& words) : words_(words.all()) {}
  template <std::size_t N>
  constexpr KeyWords(const std::array<std::string_view, N>& words) : words_(words) {}
  template <std::size_t N> constexpr KeyWords(const std::string_view (&words)[N]) : words_(words) {}

  [[nodiscard]] std::vector<std::string_view> all() const;
  // The words as all() gives them, without a copy if they are in a table; if a function makes them,
  // `made` holds them.
  [[nodiscard]] std::span<const std::string_view> all(std::vector<std::string_view>& made) const;
  [[nodiscard]] std::string_view at(std::size_t place) const;

private:
  std::span<const std::string_view> words_;
  List list_ = nullptr;
};

// Integers up to here are exact in every program that reads JSON.
inline constexpr double kMostExact = 0x1p53;

// The value of a key that is absent from the file. A string_view is the value itself or, for the
// kinds object and list, its JSON text. monostate: the key then has no value, or a value that
// depends on the rest of the file and is described in the sentence of the key.
using KeyDefault = std::variant<std::monostate, bool, double, std::string_view>;

struct Key {
  std::string_view name;
  KeyKind kind = KeyKind::any;
  std::string_view sentence;
  Range range;
  KeyWords words;                        // word: its values; map: names of members, none = any
  std::string_view name_pattern;         // map: a regular expression that names of members match
  std::span<const std::int64_t> choices; // integer: the only values allowed; none = by `range`
  std::span<const Key> keys; // object: its keys; list, map: the element; either: the forms
  std::span<const Key> more; // further keys of an object, listed after `keys`
  KeyDefault fallback;
  std::string_view reason;       // what the default takes for granted: "workers are equal"
  std::string_view example_json; // a value as JSON text
  bool is_required = false;
  bool is_nullable = false; // null is written for "none"
  bool is_open = false;     // an object whose further keys are described elsewhere
  // No key or group of keys below is required, and every value, this one too, may be null.
  bool is_partial = false;
  bool has_unit = true;  // texts such as "5us" or "10%" are allowed
  std::size_t least = 0; // least number of elements of a list, or of members of a map
  std::size_t most = 0;  // greatest number of them; 0 = no limit
  // Groups of keys of an object, as "a,b|c": exactly one group is given, or at least one.
  std::string_view exactly_one_of;
  std::string_view at_least_one_of;

private:
  // Stands before its callers, or Clang 14 does not evaluate them at compile time.
  template <class Value, class Given>
  [[nodiscard]] constexpr Key with(Value Key::*member, Given value) const {
    Key changed = *this;
    changed.*member = value;
    return changed;
  }

public:
  [[nodiscard]] constexpr Key says(std::string_view other) const {
    return with(&Key::sentence, other);
  }
  [[nodiscard]] constexpr Key in(Range values) const { return with(&Key::range, values); }
  [[nodiscard]] constexpr Key only(std::span<const std::int64_t> values) const {
    return with(&Key::choices, values);
  }
  [[nodiscard]] constexpr Key because(std::string_view takes_for_granted) const {
    return with(&Key::reason, takes_for_granted);
  }
  // A default, and what it takes for granted.
  template <class Value>
  [[nodiscard]] constexpr Key by_default(Value value,
                                         std::string_view takes_for_granted = {}) const {
    Key changed = takes_for_granted.empty() ? *this : because(takes_for_granted);
    if constexpr (std::integral<Value> && !std::same_as<Value, bool>) {
      changed.fallback = KeyDefault(static_cast<double>(value));
    } else if constexpr (std::same_as<Value, const char*>) {
      changed.fallback = KeyDefault(std::string_view(value));
    } else {
      changed.fallback = KeyDefault(value); // as a whole: Clang 14 assigns no alternative
    }
    return changed;
  }
  [[nodiscard]] constexpr Key example(std::string_view json) const {
    return with(&Key::example_json, json);
  }
  // Sets the only names that the members of a map may have, or the words of a key.
  [[nodiscard]] constexpr Key named(KeyWords names) const { return with(&Key::words, names); }
  [[nodiscard]] constexpr Key named_like(std::string_view pattern) const {
    return with(&Key::name_pattern, pattern);
  }
  [[nodiscard]] constexpr Key required() const { return with(&Key::is_required, true); }
  [[nodiscard]] constexpr Key nullable() const { return with(&Key::is_nullable, true); }
  [[nodiscard]] constexpr Key open() const { return with(&Key::is_open, true); }
  [[nodiscard]] constexpr Key partial() const { return with(&Key::is_partial, true); }
  [[nodiscard]] constexpr Key plain() const { return with(&Key::has_unit, false); }
  [[nodiscard]] constexpr Key sizes(std::size_t from, std::size_t to = 0) const {
    return with(&Key::least, from).with(&Key::most, to);
  }
  [[nodiscard]] constexpr Key and_also(std::span<const Key> further) const {
    return with(&Key::more, further);
  }
  [[nodiscard]] constexpr Key exactly_one(std::string_view groups) const {
    return with(&Key::exactly_one_of, groups);
  }
  [[nodiscard]] constexpr Key at_least_one(std::string_view groups) const {
    return with(&Key::at_least_one_of, groups);
  }
};

// Rows of each kind. A form of `either` and the element of a list repeat the name of that `either`
// or list, since the unit of a number follows from the name.
namespace rows {

[[nodiscard]] constexpr Key row(KeyKind kind, std::string_view name, std::string_view sentence,
                                std::string_view example, std::span<const Key> keys = {}) {
  Key key;
  key.name = name;
  key.kind = kind;
  key.sentence = sentence;
  key.example_json = example;
  key.keys = keys;
  return key;
}
[[nodiscard]] constexpr Key number(std::string_view name, std::string_view sentence,
                                   Range values = {}, std::string_view example = {}) {
  return row(KeyKind::number, name, sentence, example).in(values);
}
[[nodiscard]] constexpr Key integer(std::string_view name, std::string_view sentence,
                                    Range values = {}, std::string_view example = {}) {
  return row(KeyKind::integer, name, sentence, example).in(values);
}
[[nodiscard]] constexpr Key boolean(std::string_view name, std::string_view sentence,
                                    std::string_view example = {}) {
  return row(KeyKind::boolean, name, sentence, example);
}
[[nodiscard]] constexpr Key text(std::string_view name, std::string_view sentence,
                                 std::string_view example = {}) {
  return row(KeyKind::text, name, sentence, example);
}
[[nodiscard]] constexpr Key any(std::string_view name, std::string_view sentence,
                                std::string_view example = {}) {
  return row(KeyKind::any, name, sentence, example);
}
[[nodiscard]] constexpr Key word(std::string_view name, KeyWords words, std::string_view sentence,
                                 std::string_view example = {}) {
  return row(KeyKind::word, name, sentence, example).named(words);
}
[[nodiscard]] constexpr Key object(std::string_view name, std::span<const Key> keys,
                                   std::string_view sentence, std::string_view example = {}) {
  return row(KeyKind::object, name, sentence, example, keys);
}
// `element` is one row, which describes every element.
[[nodiscard]] constexpr Key list(std::string_view name, std::span<const Key, 1> element,
                                 std::string_view sentence, std::string_view example = {}) {
  return row(KeyKind::list, name, sentence, example, element);
}
[[nodiscard]] constexpr Key map(std::string_view name, std::span<const Key, 1> element,
                                std::string_view sentence, std::string_view example = {}) {
  return row(KeyKind::map, name, sentence, example, element);
}
[[nodiscard]] constexpr Key either(std::string_view name, std::span<const Key> forms,
                                   std::string_view sentence, std::string_view example = {}) {
  return row(KeyKind::either, name, sentence, example, forms);
}

// The same for rows that get the name of a member (members.hpp, written.hpp).
[[nodiscard]] constexpr Key number(std::string_view sentence, Range values = {},
                                   std::string_view example = {}) {
  return number({}, sentence, values, example);
}
[[nodiscard]] constexpr Key integer(std::string_view sentence, Range values = {},
                                    std::string_view example = {}) {
  return integer({}, sentence, values, example);
}
[[nodiscard]] constexpr Key boolean(std::string_view sentence) { return boolean({}, sentence); }
[[nodiscard]] constexpr Key text(std::string_view sentence) { return text({}, sentence); }
[[nodiscard]] constexpr Key word(KeyWords words, std::string_view sentence) {
  return word({}, words, sentence);
}
[[nodiscard]] constexpr Key list(std::span<const Key, 1> element, std::string_view sentence) {
  return list({}, element, sentence);
}
[[nodiscard]] constexpr Key map(std::span<const Key, 1> element, std::string_view sentence) {
  return map({}, element, sentence);
}

} // namespace rows

// The row of `name` among the keys of an object, its further keys included; null if there is none.
[[nodiscard]] const Key* find_key(const Key& object, std::string_view name);

// The keys of an object in one list, in the order in which files and pages have them.
[[nodiscard]] std::vector<const Key*> keys_of(const Key& object);

// The row that a JSON pointer names, below the root of a file: indexes of lists and names of maps
// stand for any element, and of several forms the first that has the key counts. Null if no row is
// there. `pointer` is empty or starts with "/" (not checked); its tokens are compared with names as
// they are, without unescaping.
[[nodiscard]] const Key* key_at(const Key& root, std::string_view pointer);

} // namespace stepsim::io
