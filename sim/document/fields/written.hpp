#pragma once
// The keys of a file that a command writes: one row has the key, its unit and sentence, and the
// function that gets its value. Writer and JSON Schema use the same rows, so they always agree.
//
//     constexpr auto kPoint = std::to_array<Written<Point>>({
//         {number("time_s", "Time, s.").required(), value_of<&Point::time_s>},
//         {text("note", "A remark."), value_of<&Point::note>}});
//     constexpr std::array kPointKeys = written_keys(kPoint);
//
//     write(kPoint, Point{1.5, {}})      {"time_s": 1.5}

#include <type_traits>

#include "document/fields/key.hpp"

namespace stepsim::io {

// A key is always written if its row is `required`, as null without a value. Other keys are left
// out if they have no value.
template <class Source> struct Written {
  Key key;
  Json (*value)(const Source&);
};

// The value, or null if there is none.
template <class Value> [[nodiscard]] Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json();
}

// The value of a member for a row, null where the member is empty: value_of<&Point::time_s>.
template <auto Member, class Source> [[nodiscard]] Json value_of(const Source& source) {
  if constexpr (requires { (source.*Member).has_value(); }) {
    return or_null(source.*Member);
  } else {
    return Json(source.*Member);
  }
}

template <class Member> struct MemberOf;
template <class Owner, class Value> struct MemberOf<Value Owner::*> {
  using Source = Owner;
  using Type = Value;
};

// The row of a member that always has a value; the kind of the key follows from its type.
template <auto Member>
[[nodiscard]] constexpr auto row(std::string_view name, std::string_view sentence) {
  using Of = MemberOf<decltype(Member)>;
  using Type = typename Of::Type;
  constexpr auto key = [](std::string_view n, std::string_view s) {
    if constexpr (std::is_same_v<Type, bool>) {
      return rows::boolean(n, s);
    } else if constexpr (std::is_integral_v<Type>) {
      return rows::integer(n, s);
    } else if constexpr (std::is_floating_point_v<Type>) {
      return rows::number(n, s);
    } else {
      return rows::text(n, s);
    }
  };
  return Written<typename Of::Source>{key(name, sentence).required(),
                                      value_of<Member, typename Of::Source>};
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

} // namespace stepsim::io
