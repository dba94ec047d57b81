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

#include "base/collected.hpp"
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

// What a command adds to an answer.
inline constexpr std::array kMeta{
    rows::object("meta", {},
                 "Tool, version, git, command and wall time, which may differ between equal runs.",
                 R"({"tool": "stepsim"})")
        .open()};

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

// The JSON of a value of a row, null where it is empty.
template <class Value> [[nodiscard]] Json json_of(const Value& value) {
  if constexpr (requires { value.has_value(); }) {
    return or_null(value);
  } else if constexpr (requires { list_of(value); }) {
    return list_of(value);
  } else if constexpr (std::is_same_v<Value, Seconds> || std::is_same_v<Value, Bytes>) {
    return Json(value.value);
  } else {
    return Json(value);
  }
}

template <class Member> struct MemberOf;
template <class Owner, class Value> struct MemberOf<Value Owner::*> {
  using Source = Owner;
  using Type = Value;
};

// The value of a member for a row: value_of<&Point::time_s>.
template <auto Member, class Source> [[nodiscard]] Json value_of(const Source& source) {
  return json_of(source.*Member);
}

// The name of a member, without its struct.
template <auto Member> [[nodiscard]] constexpr auto member_name() {
  return base::last_name(__PRETTY_FUNCTION__, sizeof(__PRETTY_FUNCTION__) - 2);
}

// A text as an argument of a template.
template <std::size_t N> struct Literal {
  std::array<char, N - 1> text{};
  consteval Literal(const char (&from)[N]) { std::copy_n(from, N - 1, text.begin()); }
  [[nodiscard]] constexpr std::string_view view() const { return {text.data(), text.size()}; }
};

template <auto Member, Literal Before, Literal After>
inline constexpr auto kNameBetween = [] {
  constexpr std::string_view name = member_name<Member>();
  std::array<char, Before.text.size() + name.size() + After.text.size()> all{};
  char* at = all.data();
  for (const std::string_view part : {Before.view(), name, After.view()}) {
    at = std::copy(part.begin(), part.end(), at);
  }
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
  } else if constexpr (std::is_integral_v<Type> || std::is_same_v<Type, Bytes>) {
    return rows::integer(name, sentence).required();
  } else if constexpr (std::is_floating_point_v<Type> || std::is_same_v<Type, Seconds>) {
    return rows::number(name, sentence).required();
  } else if constexpr (std::is_same_v<Type, Json>) {
    return rows::any(name, sentence).required();
  } else {
    return rows::text(name, sentence).required();
  }
}

// A function of a source.
template <class Function> struct FunctionOf;
template <class Get, class Value, class From> struct FunctionOf<Value (Get::*)(const From&) const> {
  using Source = From;
  using Type = std::remove_cvref_t<Value>;
};
template <class Get> using SourceOf = typename FunctionOf<decltype(&Get::operator())>::Source;
template <class Get> using TypeOf = typename FunctionOf<decltype(&Get::operator())>::Type;

// The function that gives a member, or a member of it and so on; nothing where one of them is
// empty.
template <auto First, auto... Further> struct Getter {
  using Source = typename MemberOf<decltype(First)>::Source;
  decltype(auto) operator()(const Source& source) const {
    if constexpr (sizeof...(Further) == 0) {
      return (source.*First);
    } else if constexpr (requires { (source.*First).has_value(); }) {
      return source.*First ? std::optional(Getter<Further...>()(*(source.*First))) : std::nullopt;
    } else {
      return Getter<Further...>()(source.*First);
    }
  }
};

template <auto First, auto... Further> struct LastOf : LastOf<Further...> {};
template <auto Only> struct LastOf<Only> { static constexpr auto kMember = Only; };

// The row of what a function, which holds nothing, gives of the source; null where that is empty.
template <class Get>
[[nodiscard]] constexpr auto row(std::string_view name, std::string_view sentence, Get) {
  return Written<SourceOf<Get>>{key_for<TypeOf<Get>>(name, sentence),
                                [](const SourceOf<Get>& from) { return json_of(Get()(from)); }};
}

// The row of a member, or of a member of it, named as the last one is unless said otherwise.
template <auto... Members>
[[nodiscard]] constexpr auto row(std::string_view name, std::string_view sentence) {
  return row(name, sentence, Getter<Members...>());
}
template <auto... Members> [[nodiscard]] constexpr auto row(std::string_view sentence) {
  return row<Members...>(key_of<LastOf<Members...>::kMember>(), sentence);
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
  return base::collected<Json>(elements, [&](const auto& each) { return write_one(each); });
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

template <const auto& Table, Literal Sentence>
inline constexpr std::array kElement{rows::object({}, kKeysOf<Table>, Sentence.view())};
template <Literal Sentence>
inline constexpr std::array kTextElement{rows::text({}, Sentence.view())};

// The row of a list of texts, or of objects with the keys of a table; `Each` says what one is.
template <Literal Each, class Get>
[[nodiscard]] constexpr auto texts_row(std::string_view name, std::string_view sentence, Get) {
  return Written<SourceOf<Get>>{rows::list(name, kTextElement<Each>, sentence).required(),
                                [](const SourceOf<Get>& from) { return list_of(Get()(from)); }};
}
template <auto Member, Literal Each>
[[nodiscard]] constexpr auto texts_row(std::string_view sentence) {
  return texts_row<Each>(key_of<Member>(), sentence, Getter<Member>());
}
template <const auto& Table, Literal Each, class Get>
[[nodiscard]] constexpr auto list_row(std::string_view name, std::string_view sentence, Get) {
  return Written<SourceOf<Get>>{
      rows::list(name, kElement<Table, Each>, sentence).required(),
      [](const SourceOf<Get>& from) { return write_all(Table, Get()(from)); }};
}
template <auto Member, const auto& Table, Literal Each>
[[nodiscard]] constexpr auto list_row(std::string_view sentence) {
  return list_row<Table, Each>(key_of<Member>(), sentence, Getter<Member>());
}

// The row of an object with the keys of a table; of an optional one it may be null.
template <const auto& Table, class Get>
[[nodiscard]] constexpr auto object_row(std::string_view name, std::string_view sentence, Get) {
  Key key = rows::object(name, kKeysOf<Table>, sentence).required();
  key.is_nullable = requires { TypeOf<Get>().has_value(); };
  return Written<SourceOf<Get>>{
      key, [](const SourceOf<Get>& from) { return write(Table, Get()(from)); }};
}
template <auto Member, const auto& Table>
[[nodiscard]] constexpr auto object_row(std::string_view sentence) {
  return object_row<Table>(key_of<Member>(), sentence, Getter<Member>());
}

} // namespace stepsim::io
