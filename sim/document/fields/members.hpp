#pragma once
// Keys that have the names of the members that hold their values: one list of members, or a table
// of their rows, reads an object and writes it, and spells no key.
//
//     constexpr auto kPoint = members<&Point::bytes, nullable<&Point::device>,
//                                     unless_default<&Point::pass>>;
//     Point point = read_members(kPoint, fields);
//     Json json = write_members(kPoint, keys::kPoint, point);
//     set_members<&Record::bytes, &Record::startup_s>(record, tree);
//     constexpr std::array kRows{of<&Limits::seconds>(number("Longest time,
//     s.").by_default(1000))};

#include "document/fields/bound.hpp"
#include "document/fields/written.hpp"

namespace stepsim::io {

namespace binding {

template <auto Member> struct Nullable {
  static constexpr auto kNamed = member_or_null<Member>(key_of<Member>());
};

template <auto Member> struct UnlessDefault {
  static constexpr auto kNamed = given<Member>(key_of<Member>());
};

template <auto Member> [[nodiscard]] constexpr auto named_member() {
  if constexpr (std::is_member_pointer_v<decltype(Member)>) {
    return member<Member>(key_of<Member>());
  } else {
    return Member.kNamed;
  }
}

} // namespace binding

namespace rows {

// The row of a member, named as the member is.
template <auto Member> [[nodiscard]] constexpr auto of(Key key) {
  key.name = key_of<Member>();
  return bound<Member>(key);
}

} // namespace rows

// A member that is written as null where it is empty.
template <auto Member> inline constexpr binding::Nullable<Member> nullable{};
// A member that is left out where it is 0, false or the first word.
template <auto Member> inline constexpr binding::UnlessDefault<Member> unless_default{};
template <auto... Members> inline constexpr std::array members{binding::named_member<Members>()...};

// The beginning of a file of a kind.
[[nodiscard]] inline Json file_json(const Key& kind) {
  return Object{{"schema_version", kSchemaVersion}, {"kind", kind.name}};
}

// Sets the keys of members, which are numbers, texts or lists; null where a member is empty.
template <auto First, auto... Further>
void set_members(const typename MemberOf<decltype(First)>::Source& source, Json& tree) {
  tree.set(key_of<First>(), value_of<First>(source));
  (tree.set(key_of<Further>(), value_of<Further>(source)), ...);
}

// The object with the same keys.
template <auto First, auto... Further>
[[nodiscard]] Json tree_of(const typename MemberOf<decltype(First)>::Source& source) {
  Json tree;
  set_members<First, Further...>(source, tree);
  return tree;
}

} // namespace stepsim::io
