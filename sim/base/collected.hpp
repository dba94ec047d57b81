#pragma once
// Lists, texts, sums and extremes that are made of the elements of a range, in the order of the
// range, and the row of a table that has a name.
//
//     collected<std::string_view>(knobs(), &KnobRow::name)                   {"fusion_bytes", ..}
//     collected_if<AlgorithmId>(rows, &Row::is_valid, &Row::algorithm)       only of valid rows
//     collected_n<double>(3, [](int i) { return 0.5 * i; })                  {0, 0.5, 1}
//     sum_of<double>(layers, &LayerTimes::bytes)                             sum, starts at 0
//     greatest<double>(lanes, 0, &Lane::width)                               0 without any lane
//     listed(ranks, [](int rank) { return std::to_string(rank); })           "0, 1, 2"
//     listed(words, {}, ", ", " or ")                                        "a, b or c"
#include <algorithm>
#include <functional>
#include <iterator>

#include "base/error.hpp"

namespace stepsim::base {

// What `each` makes of the elements for which `has` holds. Where Value is a view, what it views
// must outlive the list, as the range does.
template <class Value, class Range, class Has, class Each = std::identity>
[[nodiscard]] std::vector<Value> collected_if(const Range& range, Has has, Each each = {}) {
  std::vector<Value> all;
  for (const auto& element : range) {
    if (std::invoke(has, element)) {
      all.emplace_back(std::invoke(each, element));
    }
  }
  return all;
}

// The same of every element.
template <class Value, class Range, class Each = std::identity>
[[nodiscard]] std::vector<Value> collected(const Range& range, Each each = {}) {
  std::vector<Value> all;
  if constexpr (requires { range.size(); }) {
    all.reserve(range.size());
  }
  for (const auto& element : range) {
    all.emplace_back(std::invoke(each, element));
  }
  return all;
}

// What `each` makes of 0, 1, .. count - 1.
template <class Value, class Count, class Each>
[[nodiscard]] std::vector<Value> collected_n(Count count, Each each) {
  std::vector<Value> all;
  all.reserve(static_cast<std::size_t>(count));
  for (Count i = 0; i < count; ++i) {
    all.emplace_back(each(i));
  }
  return all;
}

// The sum of what `each` makes of the elements, from the first one on.
template <class Value, class Range, class Each = std::identity>
[[nodiscard]] Value sum_of(const Range& range, Each each = {}) {
  Value sum{};
  for (const auto& element : range) {
    sum += static_cast<Value>(std::invoke(each, element));
  }
  return sum;
}

// The greatest, or the least, of `start` and of what `each` makes of the elements.
template <class Value, class Range, class Each = std::identity>
[[nodiscard]] Value greatest(const Range& range, Value start, Each each = {}) {
  for (const auto& element : range) {
    start = std::max(start, static_cast<Value>(std::invoke(each, element)));
  }
  return start;
}
template <class Value, class Range, class Each = std::identity>
[[nodiscard]] Value least(const Range& range, Value start, Each each = {}) {
  for (const auto& element : range) {
    start = std::min(start, static_cast<Value>(std::invoke(each, element)));
  }
  return start;
}

// The names of the rows of a table for which `has` holds.
template <class Rows, class Has>
[[nodiscard]] std::vector<std::string_view> names_where(const Rows& rows, Has has) {
  return collected_if<std::string_view>(rows, has, [](const auto& row) { return row.name; });
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

// The first element for which `is_it` holds, or whose `of` equals `value`; null if there is none.
template <class Range, class Test>
[[nodiscard]] constexpr auto found_if(Range&& range, Test is_it) {
  const auto place = std::ranges::find_if(range, is_it);
  return place == std::end(range) ? nullptr : &*place;
}
template <class Range, class Value, class Of = std::identity>
[[nodiscard]] constexpr auto found(Range&& range, const Value& value, Of of = {}) {
  const auto place = std::ranges::find(range, value, of);
  return place == std::end(range) ? nullptr : &*place;
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
