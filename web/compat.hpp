#pragma once
// The parts of C++20's library that libc++ 13 of Debian's emscripten lacks, and that the engine
// uses: conversion between double and text, range algorithms, two views, bit_cast. Every source of
// the page is compiled with this file in front of it, so that sim/ has nothing of it.
#include <algorithm>
#include <bit>
#include <charconv>
#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <type_traits>
#include <utility>

static_assert(_LIBCPP_VERSION < 14000, "a newer library has these functions itself");

namespace std {

// The shortest decimal that reads back to the same double, fixed or scientific, whichever is
// shorter; with a precision as printf.
to_chars_result to_chars(char* first, char* last, double value);
to_chars_result to_chars(char* first, char* last, double value, chars_format format, int precision);
from_chars_result from_chars(const char* first, const char* last, double& value);

template <class To, class From> constexpr To bit_cast(const From& from) noexcept {
  return __builtin_bit_cast(To, from);
}

namespace ranges {

namespace compat {

template <class R>
concept sequence = requires(R& r) {
  std::begin(r);
  std::end(r);
};

template <class Order, class Projection> struct Projected {
  Order order;
  Projection projection;
  template <class A, class B> constexpr bool operator()(A&& a, B&& b) {
    return static_cast<bool>(std::invoke(order, std::invoke(projection, std::forward<A>(a)),
                                         std::invoke(projection, std::forward<B>(b))));
  }
};
template <class Order, class Projection> constexpr auto projected(Order order, Projection by) {
  return Projected<Order, Projection>{order, by};
}
// Whether `test` holds for the projection of an element.
template <class Test, class Projection> constexpr auto tested(Test& test, Projection& by) {
  return [&test, &by](auto&& each) -> bool { return std::invoke(test, std::invoke(by, each)); };
}
template <class Value, class Projection> constexpr auto equals(const Value& value, Projection& by) {
  return [&value, &by](auto&& each) -> bool { return std::invoke(by, each) == value; };
}

} // namespace compat

using compat::sequence;

// The same algorithm over a range. Parameters have their defaults here, too, for {} in their place.
#define STEPSIM_WITH_VALUE(name)                                                                   \
  template <sequence R, class T, class P = identity>                                               \
  constexpr auto name(R&& r, const T& value, P by = {}) {                                          \
    return ranges::name(std::begin(r), std::end(r), value, by);                                    \
  }
#define STEPSIM_WITH_TEST(name)                                                                    \
  template <sequence R, class F, class P = identity>                                               \
  constexpr auto name(R&& r, F test, P by = {}) {                                                  \
    return ranges::name(std::begin(r), std::end(r), test, by);                                     \
  }
#define STEPSIM_WITH_ORDER(name, Order)                                                            \
  template <sequence R, class C = Order, class P = identity>                                       \
  constexpr auto name(R&& r, C order = {}, P by = {}) {                                            \
    return ranges::name(std::begin(r), std::end(r), order, by);                                    \
  }
#define STEPSIM_WITH_BOUND(name)                                                                   \
  template <sequence R, class T, class C = ranges::less, class P = identity>                       \
  constexpr auto name(R&& r, const T& value, C order = {}, P by = {}) {                            \
    return ranges::name(std::begin(r), std::end(r), value, order, by);                             \
  }

template <class I, class T, class P = identity>
requires(!sequence<I>) constexpr I find(I first, I last, const T& value, P by = {}) {
  return std::find_if(first, last, compat::equals(value, by));
}
STEPSIM_WITH_VALUE(find)
template <class I, class F, class P = identity>
requires(!sequence<I>) constexpr I find_if(I first, I last, F test, P by = {}) {
  return std::find_if(first, last, compat::tested(test, by));
}
STEPSIM_WITH_TEST(find_if)
template <class I, class F, class P = identity>
requires(!sequence<I>) constexpr I find_if_not(I first, I last, F test, P by = {}) {
  return std::find_if_not(first, last, compat::tested(test, by));
}
STEPSIM_WITH_TEST(find_if_not)
template <class I, class F, class P = identity>
requires(!sequence<I>) constexpr bool any_of(I first, I last, F test, P by = {}) {
  return std::any_of(first, last, compat::tested(test, by));
}
STEPSIM_WITH_TEST(any_of)
template <class I, class F, class P = identity>
requires(!sequence<I>) constexpr bool all_of(I first, I last, F test, P by = {}) {
  return std::all_of(first, last, compat::tested(test, by));
}
STEPSIM_WITH_TEST(all_of)
template <class I, class F, class P = identity>
requires(!sequence<I>) constexpr bool none_of(I first, I last, F test, P by = {}) {
  return std::none_of(first, last, compat::tested(test, by));
}
STEPSIM_WITH_TEST(none_of)
template <class I, class T, class P = identity>
requires(!sequence<I>) constexpr auto count(I first, I last, const T& value, P by = {}) {
  return std::count_if(first, last, compat::equals(value, by));
}
STEPSIM_WITH_VALUE(count)
template <class I, class F, class P = identity>
requires(!sequence<I>) constexpr auto count_if(I first, I last, F test, P by = {}) {
  return std::count_if(first, last, compat::tested(test, by));
}
STEPSIM_WITH_TEST(count_if)
template <sequence R, class F, class P = identity>
constexpr void for_each(R&& r, F apply, P by = {}) {
  for (auto&& each : r) {
    std::invoke(apply, std::invoke(by, each));
  }
}
template <class I, class C = ranges::less, class P = identity>
requires(!sequence<I>) constexpr I sort(I first, I last, C order = {}, P by = {}) {
  std::sort(first, last, compat::projected(order, by));
  return last;
}
STEPSIM_WITH_ORDER(sort, ranges::less)
template <class I, class C = ranges::less, class P = identity>
requires(!sequence<I>) constexpr I stable_sort(I first, I last, C order = {}, P by = {}) {
  std::stable_sort(first, last, compat::projected(order, by));
  return last;
}
STEPSIM_WITH_ORDER(stable_sort, ranges::less)
template <class I, class C = ranges::less, class P = identity>
requires(!sequence<I>) constexpr bool is_sorted(I first, I last, C order = {}, P by = {}) {
  return std::is_sorted(first, last, compat::projected(order, by));
}
STEPSIM_WITH_ORDER(is_sorted, ranges::less)
template <class I, class C = ranges::less, class P = identity>
requires(!sequence<I>) constexpr I make_heap(I first, I last, C order = {}, P by = {}) {
  std::make_heap(first, last, compat::projected(order, by));
  return last;
}
STEPSIM_WITH_ORDER(make_heap, ranges::less)
template <class I, class C = ranges::less, class P = identity>
requires(!sequence<I>) constexpr I push_heap(I first, I last, C order = {}, P by = {}) {
  std::push_heap(first, last, compat::projected(order, by));
  return last;
}
STEPSIM_WITH_ORDER(push_heap, ranges::less)
template <class I, class C = ranges::less, class P = identity>
requires(!sequence<I>) constexpr I pop_heap(I first, I last, C order = {}, P by = {}) {
  std::pop_heap(first, last, compat::projected(order, by));
  return last;
}
STEPSIM_WITH_ORDER(pop_heap, ranges::less)
template <class I, class C = ranges::less, class P = identity>
requires(!sequence<I>) constexpr I max_element(I first, I last, C order = {}, P by = {}) {
  return std::max_element(first, last, compat::projected(order, by));
}
STEPSIM_WITH_ORDER(max_element, ranges::less)
template <class I, class C = ranges::less, class P = identity>
requires(!sequence<I>) constexpr I min_element(I first, I last, C order = {}, P by = {}) {
  return std::min_element(first, last, compat::projected(order, by));
}
STEPSIM_WITH_ORDER(min_element, ranges::less)
template <class I, class T, class C = ranges::less, class P = identity>
requires(!sequence<I>) constexpr I
    lower_bound(I first, I last, const T& value, C order = {}, P by = {}) {
  return std::partition_point(first, last, [&](auto&& each) -> bool {
    return std::invoke(order, std::invoke(by, each), value);
  });
}
STEPSIM_WITH_BOUND(lower_bound)
template <class I, class T, class C = ranges::less, class P = identity>
requires(!sequence<I>) constexpr I
    upper_bound(I first, I last, const T& value, C order = {}, P by = {}) {
  return std::partition_point(first, last, [&](auto&& each) -> bool {
    return !std::invoke(order, value, std::invoke(by, each));
  });
}
STEPSIM_WITH_BOUND(upper_bound)
template <class I, class C = ranges::equal_to, class P = identity>
requires(!sequence<I>) constexpr I adjacent_find(I first, I last, C same = {}, P by = {}) {
  return std::adjacent_find(first, last, compat::projected(same, by));
}
STEPSIM_WITH_ORDER(adjacent_find, ranges::equal_to)
template <sequence R, class T> constexpr void fill(R&& r, const T& value) {
  std::fill(std::begin(r), std::end(r), value);
}
template <sequence R> constexpr void reverse(R&& r) { std::reverse(std::begin(r), std::end(r)); }
template <sequence R, class O> constexpr O copy(R&& r, O out) {
  return std::copy(std::begin(r), std::end(r), out);
}
template <sequence R, class O> constexpr O move(R&& r, O out) {
  return std::move(std::begin(r), std::end(r), out);
}
template <sequence R> constexpr auto distance(R&& r) {
  return std::distance(std::begin(r), std::end(r));
}
template <sequence R, class O, class F, class P = identity>
constexpr O copy_if(R&& r, O out, F test, P by = {}) {
  return std::copy_if(std::begin(r), std::end(r), out, compat::tested(test, by));
}
template <sequence R, class O, class F> constexpr O transform(R&& r, O out, F apply) {
  for (auto&& each : r) {
    *out++ = std::invoke(apply, each);
  }
  return out;
}
#undef STEPSIM_WITH_VALUE
#undef STEPSIM_WITH_TEST
#undef STEPSIM_WITH_ORDER
#undef STEPSIM_WITH_BOUND

template <sequence R, class T, class C = ranges::less, class P = identity>
constexpr bool binary_search(R&& r, const T& value, C order = {}, P by = {}) {
  const auto place = ranges::lower_bound(r, value, order, by);
  return place != std::end(r) && !std::invoke(order, value, std::invoke(by, *place));
}
template <sequence R, class T, class C = ranges::less, class P = identity>
constexpr auto equal_range(R&& r, const T& value, C order = {}, P by = {}) {
  return ranges::subrange(ranges::lower_bound(r, value, order, by),
                          ranges::upper_bound(r, value, order, by));
}
// What is left over after equal neighbours went: the first of each lies before it.
template <sequence R, class C = ranges::equal_to, class P = identity>
constexpr auto unique(R&& r, C same = {}, P by = {}) {
  return ranges::subrange(std::unique(std::begin(r), std::end(r), compat::projected(same, by)),
                          std::end(r));
}
// What is left over after the elements that pass went to the front.
template <sequence R, class F, class P = identity>
constexpr auto partition(R&& r, F test, P by = {}) {
  return ranges::subrange(std::partition(std::begin(r), std::end(r), compat::tested(test, by)),
                          std::end(r));
}
template <sequence R, class I> constexpr auto rotate(R&& r, I middle) {
  return ranges::subrange(std::rotate(std::begin(r), middle, std::end(r)), std::end(r));
}
template <sequence R, sequence S, class C = ranges::equal_to, class P = identity,
          class Q = identity>
constexpr bool equal(R&& r, S&& s, C same = {}, P by = {}, Q other = {}) {
  auto a = std::begin(r);
  auto b = std::begin(s);
  for (; a != std::end(r) && b != std::end(s); ++a, ++b) {
    if (!std::invoke(same, std::invoke(by, *a), std::invoke(other, *b))) {
      return false;
    }
  }
  return a == std::end(r) && b == std::end(s);
}
// Of equal elements the first. The range is not empty.
template <sequence R, class C = ranges::less, class P = identity>
constexpr auto max(R&& r, C order = {}, P by = {}) {
  return *ranges::max_element(r, order, by);
}
template <sequence R, class C = ranges::less, class P = identity>
constexpr auto min(R&& r, C order = {}, P by = {}) {
  return *ranges::min_element(r, order, by);
}
template <class T> struct min_max_result { T min, max; };
// Of equal greatest elements the last, as std::ranges::minmax gives it.
template <sequence R, class C = ranges::less, class P = identity>
constexpr auto minmax(R&& r, C order = {}, P by = {}) {
  const auto [least, most] =
      std::minmax_element(std::begin(r), std::end(r), compat::projected(order, by));
  return min_max_result<std::remove_cvref_t<decltype(*least)>>{*least, *most};
}

} // namespace ranges

namespace views {

struct Reverse {
  template <class R> friend constexpr auto operator|(R& r, Reverse /*unused*/) {
    return ranges::subrange(std::make_reverse_iterator(std::end(r)),
                            std::make_reverse_iterator(std::begin(r)));
  }
};
inline constexpr Reverse reverse;

struct Drop {
  std::ptrdiff_t count;
  template <class R> friend constexpr auto operator|(R& r, Drop dropped) {
    return ranges::subrange(ranges::next(std::begin(r), dropped.count, std::end(r)), std::end(r));
  }
};
constexpr Drop drop(std::ptrdiff_t count) { return {count}; }

} // namespace views

} // namespace std
