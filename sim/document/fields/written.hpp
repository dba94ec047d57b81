#pragma once
// The keys of a file that a command writes: one row has the key, its unit and sentence, and the
// function that gets its value. Writer and JSON Schema use the same rows, so they always agree.
//
//     constexpr auto kPoint = std::to_array<Written<Point>>({
//         {number("time_s", "Time, s.").required(), value_of<&Point::time_s>},
//         {text("note", "A remark."), value_of<&Point::note>}});
//     object("point", kKeysOf<kPoint>, "A point.")
//
//     write(kPoint, Point{1.5, {}})      {"time_s": 1.5}

#include <type_traits>

#include "base/units.hpp"
#include "document/fields/key.hpp"

namespace stepsim::io {

// A key is always written if its row is `required`, as null without a value. Other keys are left
// out if they have no value.
template <class Source> struct Written {
  Key key;
  Json (*value)(const Source&);

  [[nodiscard]] constexpr Written in(Range values) const { return {key.in(values), value}; }
  [[nodiscard]] constexpr Written example(std::string_view json) const {
    return {key.example(json), value};
  }
};

// The value, or null if there is none.
template <class Value> [[nodiscard]] Json or_null(const std::optional<Value>& value) {
  if constexpr (requires { value->value; }) { // a quantity
    return value ? Json(value->value) : Json();
  } else {
    return value ? Json(*value) : Json();
  }
}

[[nodiscard]] inline Json text_or_null(const std::string& text) {
  return text.empty() ? Json() : Json(text);
}

// A list of texts, numbers or values.
template <class Value>
requires(std::is_constructible_v<Json, const Value&>) [[nodiscard]] Json
    list_of(const std::vector<Value>& values) {
  return Array(values.begin(), values.end());
}

// Sets a key that has a value: neither an empty member or text, nor an empty list, nor null, nor 0.
template <class Value> void set_given(Json& tree, std::string_view key, const Value& value) {
  if constexpr (requires { value.has_value(); }) {
    if (value) {
      tree.set(key, *value);
    }
  } else if constexpr (std::is_same_v<Value, Json>) {
    if (!value.is_null()) {
      tree.set(key, value);
    }
  } else if constexpr (std::is_arithmetic_v<Value>) {
    if (value != 0) {
      tree.set(key, value);
    }
  } else if (!value.empty()) {
    if constexpr (std::is_convertible_v<Value, std::string_view>) {
      tree.set(key, value);
    } else {
      tree.set(key, list_of(value));
    }
  }
}

// Sets a key only where it is to be written.
template <class Value>
void set_if(bool is_written, Json& tree, std::string_view key, Value&& value) {
  if (is_written) {
    tree.set(key, std::forward<Value>(value));
  }
}

template <class Enum, std::size_t N>
void set_given(Json& tree, std::string_view key, std::optional<Enum> value,
               const base::Words<Enum, N>& words) {
  if (value) {
    tree.set(key, words[*value]);
  }
}

// The value of a member for a row, null where the member is empty: value_of<&Point::time_s>.
template <auto Member, class Source> [[nodiscard]] Json value_of(const Source& source) {
  if constexpr (requires { (source.*Member).has_value(); }) {
    return or_null(source.*Member);
  } else if constexpr (requires { list_of(source.*Member); }) {
    return list_of(source.*Member);
  } else {
    return Json(source.*Member);
  }
}

template <class Member> struct MemberOf;
template <class Owner, class Value> struct MemberOf<Value Owner::*> {
  using Source = Owner;
  using Type = Value;
};

// The name of a member, without its struct.
template <auto Member> [[nodiscard]] constexpr std::string_view member_name() {
  const std::string_view text = __PRETTY_FUNCTION__;
  const std::string_view full = text.substr(0, text.find_first_of("];", text.find("Member = ")));
  return full.substr(full.rfind(':') + 1);
}

// A text as an argument of a template.
template <std::size_t N> struct Literal {
  std::array<char, N - 1> text{};
  consteval Literal(const char (&from)[N]) { std::copy_n(from, N - 1, text.begin()); }
};

template <auto Member, Literal Before, Literal After>
inline constexpr auto kNameBetween = [] {
  constexpr std::string_view name = member_name<Member>();
  std::array<char, Before.text.size() + name.size() + After.text.size()> all{};
  std::ranges::copy(After.text,
                    std::ranges::copy(name, std::ranges::copy(Before.text, all.begin()).out).out);
  return all;
}();

// The JSON pointer of the key that is named after a member. For a time the key ends in its unit:
// pointer_to<&Step::forward, "/step/">() of `Seconds forward` is /step/forward_s.
template <auto Member, Literal Object> [[nodiscard]] constexpr std::string_view pointer_to() {
  using Type = typename MemberOf<decltype(Member)>::Type;
  if constexpr (std::is_same_v<Type, Seconds> || std::is_same_v<Type, std::optional<Seconds>>) {
    constexpr const auto& name = kNameBetween<Member, Object, "_s">;
    return {name.data(), name.size()};
  } else {
    constexpr const auto& name = kNameBetween<Member, Object, "">;
    return {name.data(), name.size()};
  }
}
template <auto Member> [[nodiscard]] constexpr std::string_view key_of() {
  return pointer_to<Member, "">();
}

// A required key of the kind that the type of its value asks for.
template <class Type>
[[nodiscard]] constexpr Key key_for(std::string_view name, std::string_view sentence) {
  if constexpr (requires {
                  typename Type::value_type;
                  Type().has_value();
                }) {
    return key_for<typename Type::value_type>(name, sentence).nullable();
  } else if constexpr (std::is_same_v<Type, bool>) {
    return rows::boolean(name, sentence).required();
  } else if constexpr (std::is_integral_v<Type>) {
    return rows::integer(name, sentence).required();
  } else if constexpr (std::is_floating_point_v<Type>) {
    return rows::number(name, sentence).required();
  } else if constexpr (std::is_same_v<Type, Json>) {
    return rows::any(name, sentence).required();
  } else {
    return rows::text(name, sentence).required();
  }
}

// The row of a member, null where it is empty.
template <auto Member>
[[nodiscard]] constexpr auto row(std::string_view name, std::string_view sentence) {
  using Of = MemberOf<decltype(Member)>;
  return Written<typename Of::Source>{key_for<typename Of::Type>(name, sentence),
                                      value_of<Member, typename Of::Source>};
}

// The same, named as the member is.
template <auto Member> [[nodiscard]] constexpr auto row(std::string_view sentence) {
  return row<Member>(key_of<Member>(), sentence);
}

// The keys of a table of rows, as plain numbers: written numbers are never texts with units.
template <class Source, std::size_t N>
[[nodiscard]] constexpr std::array<Key, N>
written_keys(const std::array<Written<Source>, N>& rows) {
  std::array<Key, N> keys;
  for (std::size_t i = 0; i < N; ++i) {
    keys[i] = rows[i].key.plain();
  }
  return keys;
}

template <const auto& Rows> inline constexpr auto kKeysOf = written_keys(Rows);

// The object with the values of `source`, in the order of the rows.
template <class Source, std::size_t N>
[[nodiscard]] Json write(const std::array<Written<Source>, N>& rows, const Source& source) {
  Object tree;
  tree.reserve(N);
  for (const Written<Source>& row : rows) {
    if (Json value = row.value(source); row.key.is_required || !value.is_null()) {
      tree.emplace_back(row.key.name, std::move(value));
    }
  }
  return tree;
}

// The same, or null without a source.
template <class Source, std::size_t N>
[[nodiscard]] Json write(const std::array<Written<Source>, N>& rows,
                         const std::optional<Source>& source) {
  return source ? write(rows, *source) : Json();
}

// Adds the members of `further` to `tree`; a member of the same name is replaced.
inline void add(Json& tree, Json further) {
  for (auto& [key, value] : further.as_object()) {
    tree.set(key, std::move(value));
  }
}

// The list of write_one(element) for every element.
template <class Range, class WriteOne>
[[nodiscard]] Array write_each(const Range& elements, WriteOne write_one) {
  Array all;
  for (const auto& each : elements) {
    all.push_back(write_one(each));
  }
  return all;
}

template <class Value>
requires(std::is_constructible_v<Json, const Value&>) [[nodiscard]] Json
    list_of(const std::vector<std::vector<Value>>& lists) {
  return write_each(lists, [](const std::vector<Value>& list) { return list_of(list); });
}

// The list of the objects with the values of the elements.
template <class Source, std::size_t N, class Range>
[[nodiscard]] Json write_all(const std::array<Written<Source>, N>& rows, const Range& elements) {
  return write_each(elements, [&](const Source& element) { return write(rows, element); });
}

} // namespace stepsim::io
