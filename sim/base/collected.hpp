#pragma once
// Lists and texts that are made of the elements of a range, in the order of the range, and the row
// of a table that has a name.
//
//     collected<std::string_view>(knobs(), &KnobRow::name)                   {"fusion_bytes", ..}
//     listed(ranks, [](int rank) { return std::to_string(rank); })           "0, 1, 2"
//     listed(words, {}, ", ", " or ")                                        "a, b or c"
#include <algorithm>
#include <functional>
#include <iterator>

#include "base/error.hpp"

namespace stepsim::base {

// What `each` makes of every element. A Value that is a view must be one of the range, or of
// something that outlives the list.
template <class Value, class Range, class Each = std::identity>
[[nodiscard]] std::vector<Value> collected(const Range& range, Each each = {}) {
  std::vector<Value> all;
  for (const auto& element : range) {
    all.emplace_back(std::invoke(each, element));
  }
  return all;
}

// The names of the rows of a table for which `has` holds.
template <class Rows, class Has>
[[nodiscard]] std::vector<std::string_view> names_where(const Rows& rows, Has has) {
  std::vector<std::string_view> names;
  for (const auto& row : rows) {
    if (std::invoke(has, row)) {
      names.push_back(row.name);
    }
  }
  return names;
}

// The texts that `each` makes of the elements, with `between` between two of them, or `last`, if it
// is given, between the last two.
template <class Range, class Each = std::identity>
[[nodiscard]] std::string listed(const Range& range, Each each = {},
                                 std::string_view between = ", ", std::string_view last = {}) {
  std::string text;
  const auto count = std::ranges::distance(range);
  for (std::ptrdiff_t i = 0; const auto& element : range) {
    ++i;
    text.append(i == 1 ? "" : i == count && !last.empty() ? last : between);
    text.append(std::invoke(each, element));
  }
  return text;
}

// The row of a table whose `name` is `word`. Throws UsageError `FLAGunknown NOUN "x"; ...`.
template <class Rows, class Name>
[[nodiscard]] const auto& row_named(const Rows& rows, Name name, std::string_view word,
                                    std::string_view flag, std::string_view noun) {
  const auto found = std::ranges::find(rows, word, name);
  if (found == rows.end()) {
    throw UsageError(std::string(flag) +
                     unknown_word(noun, word, collected<std::string_view>(rows, name)));
  }
  return *found;
}

} // namespace stepsim::base
