#pragma once
// Table of the words that files, flags and results use for the values of an enum. It stands next to
// the enum. A word is the name of its enumerator unless the table gives another one: to rename an
// enumerator is to rename a word of a file format.
//
//     enum class Search { automatic, ring, tree };
//     inline constexpr auto kSearches = base::words<Search>({{Search::automatic, "auto"}});
//
//     kSearches[Search::automatic]   "auto"        kSearches.find("ring")   Search::ring
//
// Enumerators count from 0 without gaps, and the enum stands under its own name: nvcc 13 does not
// know the enumerators of an alias. Everything here is constexpr: nvcc 12 does not take consteval.
#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace stepsim::base {

template <class Enum> struct Word {
  Enum value{};
  std::string_view word;
};

template <class Enum, std::size_t N> class Words {
public:
  explicit constexpr Words(std::span<const std::string_view, N> words) {
    std::ranges::copy(words, words_.begin());
  }
  constexpr void give(const Word<Enum>& other) {
    words_[static_cast<std::size_t>(other.value)] = other.word;
  }

  [[nodiscard]] constexpr std::string_view operator[](Enum value) const {
    return words_[static_cast<std::size_t>(value)];
  }
  // Returns the enumerator of `text`; empty if `text` is not in the table.
  [[nodiscard]] constexpr std::optional<Enum> find(std::string_view text) const {
    for (std::size_t i = 0; i < N; ++i) {
      if (words_[i] == text) {
        return static_cast<Enum>(i);
      }
    }
    return std::nullopt;
  }
  // All words, in the order of the enumerators.
  [[nodiscard]] constexpr std::span<const std::string_view> all() const { return words_; }

  // Returns the table of the first `count` enumerators, for an option that accepts only these.
  template <std::size_t count> [[nodiscard]] constexpr Words<Enum, count> first() const {
    static_assert(count <= N);
    return Words<Enum, count>(all().template first<count>());
  }

private:
  std::array<std::string_view, N> words_{};
};

// Returns the name that ends a __PRETTY_FUNCTION__, before "]": "ring" of "Search::ring", nothing
// of "(Search)3". Compilers read hundreds of them in every source, hence nothing else of the text.
[[nodiscard]] constexpr std::string_view last_name(const char* text, std::size_t end) {
  std::size_t begin = end;
  while (text[begin - 1] != ':' && text[begin - 1] != ' ' && text[begin - 1] != ')') {
    --begin;
  }
  return {text + begin, text[begin - 1] == ')' ? 0 : end - begin};
}

// Returns the name of an enumerator, without its enum; empty for a value that has none.
template <auto value> [[nodiscard]] constexpr auto enumerator_name() {
  return last_name(__PRETTY_FUNCTION__, sizeof(__PRETTY_FUNCTION__) - 2);
}

// Returns how many enumerators the enum has.
template <class Enum, std::size_t from = 0> [[nodiscard]] constexpr std::size_t enumerators() {
  if constexpr (enumerator_name<static_cast<Enum>(from)>().empty()) {
    return from;
  } else {
    return enumerators<Enum, from + 1>();
  }
}

// Returns the table whose words are the names of the enumerators.
template <class Enum> [[nodiscard]] constexpr auto words() {
  return []<std::size_t... i>(std::index_sequence<i...>) {
    static_assert(sizeof...(i) > 0);
    const std::array<std::string_view, sizeof...(i)> names{
        enumerator_name<static_cast<Enum>(i)>()...};
    return Words<Enum, sizeof...(i)>(names);
  }
  (std::make_index_sequence<enumerators<Enum>()>());
}

// The same with other words for some enumerators.
template <class Enum, std::size_t N>
[[nodiscard]] constexpr auto words(const Word<Enum> (&others)[N]) {
  auto table = words<Enum>();
  for (const Word<Enum>& other : others) {
    table.give(other);
  }
  return table;
}

} // namespace stepsim::base
