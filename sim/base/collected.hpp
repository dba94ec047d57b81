#pragma once
// Lists and texts that are made of the elements of a range, in the order of the range, and the row
// of a table that has a name.
//
//     collected<std::string_view>(knobs(), &KnobRow::name)                   {"bucket_bytes", ..}
//     listed(ranks, [](int rank) { return std::to_string(rank); })           "0, 1, 2"
#include <algorithm>
#include <functional>

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

// The texts that `each` makes of the elements, with `between` between two of them.
template <class Range, class Each = std::identity>
[[nodiscard]] std::string listed(const Range& range, Each each = {},
                                 std::string_view between = ", ") {
  std::string text;
  for (bool first = true; const auto& element : range) {
    text.append(first ? std::string_view() : between).append(std::invoke(each, element));
    first = false;
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
