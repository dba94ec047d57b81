#pragma once
// Binds keys to the members of a struct: one row says what a key means and which member holds its
// value, and the reader and the writer of an object follow from its rows.
//
//     constexpr std::array kLimits{
//         bound<&Limits::seconds>(number("simulated_s", "Longest time, s.").by_default(1000)),
//         bound<&Limits::method>(word("method", kMethods, "Evaluator.").by_default("auto"))};
//
// Members are double, bool, integers, Seconds, Bytes, optional ones of these, texts, enums, lists
// of numbers (each within the range of the list's element) and of texts, Json, and maps and lists
// of pairs of a name and such a member. part() and parts() bind structs with rows of their own. A
// word is the enumerator of its place in the row's table; of two words, the second means true.

#include "base/collected.hpp"
#include "base/units.hpp"
#include "document/reader.hpp"

namespace stepsim::io {

// A key without `read` and `written` is read and written by hand.
template <class Owner> struct Bound {
  Key key;
  void (*read)(Fields&, const Key&, Owner&) = nullptr;
  Json (*written)(const Key&, const Owner&) = nullptr; // null: the key is left out
};

namespace binding {

template <class Value> struct Number { // of a quantity, or the number itself
  using type = Value;
};
template <> struct Number<Seconds> { using type = double; };
template <> struct Number<Bytes> { using type = std::int64_t; };

template <class Value> struct Optional : std::false_type {};
template <class Value> struct Optional<std::optional<Value>> : std::true_type {
  using inner = Value;
};

// Calls read(members, row, value) for every member of a map. The row has the name of the member,
// which is required, so that null is a value like others.
template <class Read> void each_member(Fields& fields, const Key& key, Read read) {
  const Json* json = fields.any(key.name);
  if (!fields.has(key.name)) {
    fields.refuse_if(key.is_required, key.name, "must be an object");
    return;
  }
  Key row = key.keys.front().required();
  Key map = key;
  map.keys = {&row, 1};
  Fields members(*json, fields.problems(), map);
  if (json->is_object()) {
    for (const auto& [name, value] : json->as_object()) {
      row.name = name;
      read(members, row, value);
    }
  }
}

// Members by their names: a map, or a list of pairs.
template <class Value>
concept Named = requires {
  typename Value::value_type::second_type;
};

// A key without a default keeps the value that the member has.
template <class Value> void read_member(Fields& fields, const Key& key, Value& value) {
  const bool kept = std::holds_alternative<std::monostate>(key.fallback) && !key.is_required;
  if constexpr (Optional<Value>()) {
    using Inner = typename Optional<Value>::inner;
    if constexpr (std::is_enum_v<Inner>) {
      if (fields.any(key.name) != nullptr && fields.has(key.name)) {
        value = static_cast<Inner>(fields.place(key.name));
      }
    } else if constexpr (std::is_same_v<typename Number<Inner>::type, double>) {
      if (const auto given = fields.optional_number(key.name)) {
        value = Inner{*given};
      }
    } else if constexpr (std::is_same_v<Inner, std::string>) {
      value = key.kind == KeyKind::word ? std::optional<Inner>(fields.optional_word(key.name))
                                        : fields.optional_text(key.name);
    } else if (const auto given = fields.optional_integer(key.name)) {
      value = Inner{*given};
    }
  } else if constexpr (std::is_same_v<Value, std::string>) {
    value = key.kind != KeyKind::word ? fields.text(key.name)
            : key.is_required         ? std::string(fields.word(key.name))
                                      : std::string(fields.optional_word(key.name).value_or(""));
  } else if constexpr (std::is_same_v<Value, Json>) {
    const Json* given = fields.any(key.name);
    value = given != nullptr ? *given : Json();
  } else if constexpr (std::is_same_v<Value, std::vector<std::string>>) {
    value = checked_texts(fields.list(key.name), fields.problems());
  } else if constexpr (Named<Value>) {
    each_member(fields, key, [&](Fields& members, const Key& row, const Json&) {
      typename Value::value_type::second_type member{};
      read_member(members, row, member);
      value.insert(value.end(), {std::string(row.name), std::move(member)});
    });
  } else if constexpr (std::is_same_v<Value, std::vector<double>>) {
    if (key.least == 0) {
      value = fields.numbers(key.name);
    } else if (const auto given = fields.list(key.name, "number"); !given.empty()) {
      value.clear();
      for (const Json& each : given) {
        value.push_back(
            checked_number(each, key.keys.front().range, fields.problems()).value_or(0));
      }
    }
  } else if constexpr (std::is_same_v<Value, bool>) {
    value = key.kind == KeyKind::word ? fields.place(key.name) == 1 : fields.boolean(key.name);
  } else if constexpr (std::is_enum_v<Value>) {
    value = static_cast<Value>(
        kept ? fields.place_or(key.name, key.words.at(static_cast<std::size_t>(value)))
             : fields.place(key.name));
  } else if constexpr (std::is_same_v<Value, Seconds>) {
    value = {kept ? fields.number_or(key.name, value.value) : fields.number(key.name)};
  } else if constexpr (std::is_same_v<Value, Bytes>) {
    value = {kept ? fields.integer_or(key.name, value.value) : fields.integer(key.name)};
  } else if constexpr (std::is_integral_v<Value>) {
    value = static_cast<Value>(kept ? fields.integer_or(key.name, static_cast<std::int64_t>(value))
                                    : fields.integer(key.name)); // the row's range fits
  } else {
    static_assert(std::is_same_v<Value, double>);
    if (key.kind == KeyKind::integer) {
      value = static_cast<double>(fields.integer(key.name));
      return;
    }
    value = kept ? fields.number_or(key.name, value) : fields.number(key.name);
  }
}

template <class Value> Json member_json(const Key& key, const Value& value) {
  if constexpr (Optional<Value>()) {
    return value ? member_json(key, *value) : Json();
  } else if constexpr (std::is_same_v<Value, Seconds> || std::is_same_v<Value, Bytes>) {
    return value.value;
  } else if constexpr (std::is_enum_v<Value>) {
    return key.words.at(static_cast<std::size_t>(value));
  } else if constexpr (std::is_same_v<Value, std::string>) {
    return value.empty() && !key.is_required ? Json() : Json(value);
  } else if constexpr (std::is_same_v<Value, Json>) {
    return value;
  } else if constexpr (Named<Value>) {
    Object members;
    for (const auto& [name, member] : value) {
      members.emplace_back(name, member_json(key.keys.front(), member));
    }
    return value.empty() ? Json() : Json(std::move(members));
  } else if constexpr (requires { value.begin(); }) {
    return value.empty() ? Json() : Json(Array(value.begin(), value.end()));
  } else if constexpr (std::is_same_v<Value, bool>) {
    return key.kind == KeyKind::word ? Json(key.words.at(value ? 1 : 0)) : Json(value);
  } else if constexpr (std::is_same_v<Value, double>) {
    return key.kind == KeyKind::integer ? Json(static_cast<std::int64_t>(value)) : Json(value);
  } else {
    return static_cast<std::int64_t>(value);
  }
}

template <class Member> struct MemberOf;
template <class Class, class Value> struct MemberOf<Value Class::*> { using owner = Class; };

} // namespace binding

namespace rows {

template <auto Member> [[nodiscard]] constexpr auto bound(const Key& key) {
  using Owner = typename binding::MemberOf<decltype(Member)>::owner;
  return Bound<Owner>{
      key,
      [](Fields& fields, const Key& row, Owner& owner) {
        binding::read_member(fields, row, owner.*Member);
      },
      [](const Key& row, const Owner& owner) { return binding::member_json(row, owner.*Member); }};
}

template <class Owner> [[nodiscard]] constexpr Bound<Owner> by_hand(const Key& key) {
  return {.key = key};
}

} // namespace rows

// The keys of rows, in their order.
template <class Owner, std::size_t N>
[[nodiscard]] constexpr std::array<Key, N> keys_of(const std::array<Bound<Owner>, N>& rows) {
  std::array<Key, N> keys{};
  for (std::size_t i = 0; i < N; ++i) {
    keys[i] = rows[i].key;
  }
  return keys;
}

// The keys of several tables, one after the other.
template <std::size_t... N>
[[nodiscard]] constexpr auto joined_keys(const std::array<Key, N>&... tables) {
  std::array<Key, (N + ...)> all{};
  std::size_t next = 0;
  const auto add = [&](const auto& keys) {
    for (const Key& key : keys) {
      all[next++] = key;
    }
  };
  (add(tables), ...);
  return all;
}

// Reads every key of the rows that has a member into it.
template <class Rows, class Owner> void read_bound(const Rows& rows, Fields& fields, Owner& owner) {
  for (const Bound<Owner>& row : rows) {
    if (row.read != nullptr) {
      row.read(fields, row.key, owner);
    }
  }
}

namespace binding {

template <class Part> Part& filled(Part& part) { return part; }
template <class Part> Part& filled(std::optional<Part>& part) { return part.emplace(); }

template <const auto& Rows, class All> void read_parts(Fields& fields, const Key& key, All& all) {
  if constexpr (requires { typename All::mapped_type; }) {
    each_member(fields, key, [&](Fields& members, const Key& row, const Json& value) {
      Fields object(value, members.problems(), row);
      read_bound(Rows, object, all[std::string(row.name)]);
      object.no_more();
    });
  } else {
    all = fields.each(key.name, [](Fields& object) {
      typename All::value_type part{};
      read_bound(Rows, object, part);
      return part;
    });
  }
}

} // namespace binding

// Members that are structs with rows of their own; they are only read.
namespace rows {

// An object, or an optional one.
template <auto Member, const auto& Rows> [[nodiscard]] constexpr auto part(const Key& key) {
  using Owner = typename binding::MemberOf<decltype(Member)>::owner;
  return Bound<Owner>{key, [](Fields& fields, const Key& row, Owner& owner) {
                        fields.object(row.name, [&](Fields& object) {
                          read_bound(Rows, object, binding::filled(owner.*Member));
                        });
                      }};
}

// A list of objects, or a map of them.
template <auto Member, const auto& Rows> [[nodiscard]] constexpr auto parts(const Key& key) {
  using Owner = typename binding::MemberOf<decltype(Member)>::owner;
  return Bound<Owner>{key, [](Fields& fields, const Key& row, Owner& owner) {
                        binding::read_parts<Rows>(fields, row, owner.*Member);
                      }};
}

} // namespace rows

// Sets the keys of the rows to the values of their members.
template <class Rows, class Owner>
void write_bound(const Rows& rows, const Owner& owner, Json& tree) {
  for (const Bound<Owner>& row : rows) {
    if (Json value = row.written != nullptr ? row.written(row.key, owner) : Json();
        !value.is_null()) {
      tree.set(row.key.name, std::move(value));
    }
  }
}

// Members by the names of keys whose rows stand in the table of an object: for tables of keys that
// know nothing of the struct.
//
//     constexpr std::array kPoint{member<&Point::time>("time_s"), given<&Point::pass>("pass")};
//     Point point = read_members(kPoint, fields);
//     Json json = write_members(kPoint, keys::kPoint, point);
template <class Owner> struct NamedMember {
  std::string_view key;
  void (*read)(Fields&, const Key&, Owner&);
  Json (*written)(const Key&, const Owner&);
  bool as_null = false; // null is written without a value; else the key is left out
};

template <auto Member> [[nodiscard]] constexpr auto member(std::string_view key) {
  constexpr auto row = rows::bound<Member>(Key{});
  using Owner = typename binding::MemberOf<decltype(Member)>::owner;
  return NamedMember<Owner>{key, row.read, row.written};
}
template <auto Member> [[nodiscard]] constexpr auto member_or_null(std::string_view key) {
  auto named = member<Member>(key);
  named.as_null = true;
  return named;
}
// A member that is left out where it is 0, false or the first word.
template <auto Member> [[nodiscard]] constexpr auto given(std::string_view key) {
  auto named = member<Member>(key);
  using Owner = typename binding::MemberOf<decltype(Member)>::owner;
  named.written = [](const Key& row, const Owner& owner) {
    const auto& value = owner.*Member;
    return value == std::decay_t<decltype(value)>{} ? Json() : binding::member_json(row, value);
  };
  return named;
}

template <class Owner, std::size_t N>
void read_members(const std::array<NamedMember<Owner>, N>& members, Fields& fields, Owner& owner) {
  for (const NamedMember<Owner>& each : members) {
    each.read(fields, fields.row(each.key), owner);
  }
}
template <class Owner, std::size_t N>
[[nodiscard]] Owner read_members(const std::array<NamedMember<Owner>, N>& members, Fields& fields) {
  Owner owner{};
  read_members(members, fields, owner);
  return owner;
}

// The elements of a list of objects.
template <class Owner, std::size_t N>
[[nodiscard]] std::vector<Owner> read_members(const std::array<NamedMember<Owner>, N>& members,
                                              Fields& parent, std::string_view key) {
  return parent.each(key, [&](Fields& fields) { return read_members(members, fields); });
}

template <class Owner, std::size_t N>
[[nodiscard]] Json write_members(const std::array<NamedMember<Owner>, N>& members,
                                 const Key& object, const Owner& owner) {
  Json tree{Object{}};
  for (const NamedMember<Owner>& each : members) {
    if (Json value = each.written(*find_key(object, each.key), owner);
        each.as_null || !value.is_null()) {
      tree.set(each.key, std::move(value));
    }
  }
  return tree;
}

template <class Owner, std::size_t N>
[[nodiscard]] Array write_members(const std::array<NamedMember<Owner>, N>& members,
                                  const Key& object, const std::vector<Owner>& owners) {
  return base::collected<Json>(
      owners, [&](const Owner& owner) { return write_members(members, object, owner); });
}

// The keys of rows as a constant, which tables of other keys refer to.
template <const auto& Rows> inline constexpr auto kRowKeys = keys_of(Rows);

} // namespace stepsim::io
