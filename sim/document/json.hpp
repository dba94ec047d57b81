#pragma once
// Our own JSON tree. Every value read from a file remembers the file, its JSON pointer and its
// line, so that an error can name them. Values made in memory have no file. Numbers keep whether
// they were written as integers. Object members keep file order when read and are sorted when
// written. json_parse.hpp reads, json_text.hpp writes and walks.
#include <concepts>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace stepsim::io {

class Json;
using Array = std::vector<Json>;
using Member = std::pair<std::string, Json>;
using Object = std::vector<Member>; // small; keys unique

class Json {
public:
  using Value =
      std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, Array, Object>;

  Json() = default; // null
  Json(const Json&);
  Json(Json&&) noexcept;
  Json& operator=(const Json&);
  Json& operator=(Json&&) noexcept;
  ~Json();
  Json(std::nullptr_t) {}
  Json(bool value) : value_(value) {}
  Json(int value) : value_(std::int64_t{value}) {}
  // Any other integer type, such as std::size_t. The value must be below 2^63.
  template <class Integer>
  requires std::integral<Integer> &&(!std::same_as<Integer, bool>)Json(Integer value)
      : value_(static_cast<std::int64_t>(value)) {}
  Json(double value) : value_(value) {} // must be finite when written (asserted)
  Json(const char* value) : value_(std::string(value)) {}
  Json(std::string_view value) : value_(std::string(value)) {}
  Json(std::string value) : value_(std::move(value)) {}
  Json(Array value) : value_(std::move(value)) {}
  Json(Object value) : value_(std::move(value)) {}

  // Which of the seven kinds a value is.
  [[nodiscard]] const Value& value() const { return value_; }
  [[nodiscard]] bool is_null() const { return std::holds_alternative<std::nullptr_t>(value_); }
  [[nodiscard]] bool is_bool() const { return std::holds_alternative<bool>(value_); }
  [[nodiscard]] bool is_integer() const { return std::holds_alternative<std::int64_t>(value_); }
  [[nodiscard]] bool is_number() const;
  [[nodiscard]] bool is_string() const { return std::holds_alternative<std::string>(value_); }
  [[nodiscard]] bool is_array() const { return std::holds_alternative<Array>(value_); }
  [[nodiscard]] bool is_object() const { return std::holds_alternative<Object>(value_); }

  // Unchecked access for values known to have the type (asserted).
  [[nodiscard]] bool as_bool() const;
  [[nodiscard]] std::int64_t as_integer() const;
  [[nodiscard]] double as_double() const; // integer or double
  [[nodiscard]] const std::string& as_string() const;
  [[nodiscard]] const Array& as_array() const;
  [[nodiscard]] const Object& as_object() const;
  [[nodiscard]] Array& as_array();
  [[nodiscard]] Object& as_object();

  // Member of an object; null pointer if it is absent or this value is not an object.
  [[nodiscard]] const Json* find(std::string_view key) const;
  [[nodiscard]] Json* find(std::string_view key);
  // The text of a member; "" if there is none.
  [[nodiscard]] std::string text(std::string_view key) const;
  // Sets a member, appended if new, and returns the value of this member. If this is null, it
  // becomes an object first; else it must be an object (asserted).
  Json& set(std::string_view key, Json value);

  // Same type and value; 1 and 1.0 differ, the order of members counts, the origin does not.
  bool operator==(const Json& other) const { return value_ == other.value_; }

  // Where the value was read: file name as given ("" if none), pointer ("" = root), line (0 =
  // none).
  [[nodiscard]] std::string_view file() const;
  [[nodiscard]] std::string pointer() const;
  [[nodiscard]] std::int64_t line() const;
  void set_origin(std::shared_ptr<const std::string> file, std::string pointer, std::int64_t line);
  // The member `key`, or the element `index`, of the value `parent`, whose origin is set already.
  void set_origin_below(const Json& parent, std::string_view key, std::int64_t line);
  void set_origin_below(const Json& parent, std::size_t index, std::int64_t line);
  // The file name, shared, for set_origin.
  [[nodiscard]] std::shared_ptr<const std::string> file_pointer() const;

private:
  // One step of a pointer and the origin of the parent, not the whole pointer: a tree takes memory
  // in proportion to its file however long a key is and however many values stand below it.
  struct Origin;
  Value value_;
  std::shared_ptr<const Origin> origin_; // null for values made in memory, shared by copies
};

} // namespace stepsim::io
