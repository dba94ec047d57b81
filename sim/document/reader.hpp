#pragma once
// Reads a JSON object key by key and checks it: missing keys, wrong types, values out of range, and
// unknown keys with the nearest known one. Problems are collected; Problems::throw_if_any() throws
// all of them together.
//
//     Fields fields(json, problems, kCluster);            // the rows of the object's keys
//     const double latency = fields.number("latency_s");  // range and default of its row (key.hpp)
//     const auto nodes = fields.integer("nodes");
//     fields.no_more();                                   // unknown keys
#include <type_traits>

#include "document/fields/key.hpp"

namespace stepsim::io {

// The schema_version of the files that this program reads and writes.
inline constexpr std::int64_t kSchemaVersion = 1;

// Keys are string literals, or live at least as long as the Fields.
class Fields {
public:
  // `json` must be an object; if not, one problem is recorded and every key reads as absent.
  Fields(const Json& json, Problems& problems);
  // `object`: the row of the object, or a row of kind `either` with an object among its forms.
  Fields(const Json& json, Problems& problems, const Key& object);

  [[nodiscard]] bool has(std::string_view key) const; // present and not null
  // The raw value (null pointer if absent, a JSON null if given so); marks the key as known.
  const Json* any(std::string_view key);
  // The same, but a null pointer for null, too.
  const Json* given(std::string_view key) {
    const Json* value = any(key);
    return value == nullptr || value->is_null() ? nullptr : value;
  }
  // The members of an object whose keys have no rows; none if it is absent, null or, which is a
  // problem, no object. `form` is what the problem says of it, such as "{rank: seconds}".
  const Object& members(std::string_view key, std::string_view form = {});

  // The functions from here to row() take the range and the default from the row of the key. A key
  // without a default is required; for the others null means the default. The functions `_or`,
  // `required_` and `optional_` are for keys whose default, or lack of one, depends on the rest of
  // the file. If a row has several forms, the numeric functions use the form that is a number. A
  // wrong value adds a problem, and the default or another valid value is returned in its place;
  // optional_number() and optional_integer() then return nothing.
  double number(std::string_view key);
  double number_or(std::string_view key, double fallback);
  // `expected` says in the error of an absent key what may be given.
  double required_number(std::string_view key, std::string_view expected = "a number");
  std::optional<double> optional_number(std::string_view key);
  std::int64_t integer(std::string_view key);
  std::int64_t integer_or(std::string_view key, std::int64_t fallback);
  std::int64_t required_integer(std::string_view key);
  std::optional<std::int64_t> optional_integer(std::string_view key);
  bool boolean(std::string_view key);
  // Returns the given word, which must be one of the words of the row.
  std::string_view word(std::string_view key);
  std::string_view word_or(std::string_view key, std::string_view fallback);
  // The same, but the place of the word among the words of the row.
  std::size_t place(std::string_view key);
  std::size_t place_or(std::string_view key, std::string_view fallback);
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
  // "" if the key is absent, not required and without a default.
  std::string text(std::string_view key);
  std::optional<std::string> optional_text(std::string_view key);
  // The elements of a list; none if the list is absent. The overload with `element` is for rows
  // that require at least one element: an empty list is the problem "needs at least one `element`".
  std::span<const Json> list(std::string_view key);
  std::span<const Json> list(std::string_view key, std::string_view element);
  // The numbers of a list, each in the range of the row's element; 0 for one that is wrong.
  std::vector<double> numbers(std::string_view key);
  // Calls `read` with the fields of an object, of which no further key is known then. Nothing
  // happens if it is absent or null.
  template <class Read> void object(std::string_view key, Read read) {
    if (const Json* json = any(key); has(key)) {
      Fields fields(*json, problems_, row(key));
      read(fields);
      fields.no_more();
    }
  }
  // Applies `read` to every object of a list and rejects keys that it did not read. With `element`
  // the list needs one.
  template <class Read>
  [[nodiscard]] auto each(std::string_view key, Read read, std::string_view element = {}) {
    std::vector<std::invoke_result_t<Read, Fields&>> all;
    for (const Json& json : element.empty() ? list(key) : list(key, element)) {
      Fields fields(json, problems_, row(key).keys.front());
      all.push_back(read(fields));
      fields.no_more();
    }
    return all;
  }
  // Checks the objects of a list with check_all(), of which no further key is known then.
  void check_each(std::string_view key);
  // The row of a key, which must exist (asserted). All members of a map share one row.
  [[nodiscard]] const Key& row(std::string_view key) const;

  // The functions from here to array() read keys without a row. A wrong value adds a problem.
  // Without a fallback the key is required, and an absent key adds the problem "required". After a
  // problem the fallback is returned; without one the lowest allowed number, "" or the first word.
  double number(std::string_view key, Range range, std::string_view expected = "a number");
  double number(std::string_view key, Range range, double fallback);
  std::optional<double> optional_number(std::string_view key, Range range);
  std::int64_t integer(std::string_view key, Range range);
  std::int64_t integer(std::string_view key, Range range, std::int64_t fallback);
  std::optional<std::int64_t> optional_integer(std::string_view key, Range range);
  bool boolean(std::string_view key, bool fallback);
  std::string string(std::string_view key);
  std::string string(std::string_view key, std::string fallback);
  // Returns the index in `words` of the given word. An unknown word adds a problem that names the
  // nearest known one.
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

  // Checks the keys of the header: schema_version (at most kSchemaVersion, 1 if absent), kind (must
  // be `kind`; may be absent unless `kind_required` or its row says otherwise), name and $schema.
  // Throws InputError with the problems so far if the file is not an object or has another kind.
  void header(std::string_view kind, bool kind_required = false);
  // Checks numbers, truth values, texts, and lists and maps of numbers, of which nothing is kept.
  void check_all();
  // Marks all keys of the rows as known, read or not.
  void know_all();
  // Adds a problem "unknown key, did you mean ...?" for every key that is not known. A second call
  // does nothing.
  void no_more();
  [[nodiscard]] const Json& json() const { return json_; }
  [[nodiscard]] Problems& problems() { return problems_; }
  // Adds a problem of the key.
  void refuse(std::string_view key, std::string message) {
    problems_.add(json_, key, std::move(message));
  }
  template <class... Values>
  void refuse(std::string_view key, fmt::format_string<const Values&...> message,
              const Values&... values) {
    problems_.add(json_, key, fmt::format(message, values...));
  }

  // The same, where the key is wrong.
  void refuse_if(bool is_wrong, std::string_view key, std::string message) {
    if (is_wrong) {
      refuse(key, std::move(message));
    }
  }
  template <class... Values>
  void refuse_if(bool is_wrong, std::string_view key, fmt::format_string<const Values&...> message,
                 const Values&... values) {
    if (is_wrong) {
      refuse(key, message, values...);
    }
  }

private:
  // The value of the key. If it is absent, adds a problem with what is `expected` and returns null.
  const Json* required(std::string_view key, std::string_view expected);

  const Json& json_;
  // The row of the key; if the row has several forms, the form that is a number.
  [[nodiscard]] const Key& number_row(std::string_view key) const;

  const Key* object_ = nullptr;
  // The row found last. The next search starts after it: most keys are read in the order of rows.
  mutable std::size_t last_row_ = static_cast<std::size_t>(-1);
  Problems& problems_;
  std::vector<std::string_view> known_;
  bool complete_ = false; // no_more() was called
};

struct OwnProblems {
  Problems own;
};

// The fields of a file of a kind, whose row is `kind`, with the problems of the file. The header is
// read; throws as header() does.
class FileFields : private OwnProblems, public Fields {
public:
  FileFields(const Json& json, const Key& kind) : Fields(json, own, kind) { header(kind.name); }
  // Throws InputError with all problems, unknown keys among them.
  void finish() {
    no_more();
    own.throw_if_any();
  }
};

} // namespace stepsim::io
