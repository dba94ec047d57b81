#pragma once
// Table of the words that files, flags and results use for the values of an enum. It stands next to
// the enum:
//
//     enum class CostForm { exact, paper, ideal };
//     inline constexpr auto kCostForms = base::words<CostForm>(
//         {{CostForm::exact, "exact"}, {CostForm::paper, "paper"}, {CostForm::ideal, "ideal"}});
//
//     kCostForms[CostForm::paper]   "paper"        kCostForms.find("paper")   CostForm::paper
//
// A table does not compile if its rows are not in the order of the enumerators, or if it lacks the
// last enumerator. Everything here is constexpr: nvcc 12 does not take consteval.
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace stepsim::base {

template <class Enum> struct Word {
  Enum value{};
  std::string_view word;
};

template <class Enum, std::size_t N> class Words {
public:
  explicit constexpr Words(const Word<Enum> (&rows)[N]) {
    for (std::size_t i = 0; i < N; ++i) {
      if (static_cast<std::size_t>(rows[i].value) != i) {
        throw "the rows of a table of words are in the order of the enumerators";
      }
      words_[i] = rows[i].word;
    }
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
    Word<Enum> rows[count];
    for (std::size_t i = 0; i < count; ++i) {
      rows[i] = {static_cast<Enum>(i), words_[i]};
    }
    return Words<Enum, count>(rows);
  }

private:
  std::array<std::string_view, N> words_{};
};

// Whether the enum has an enumerator of this value; compilers print other values as a number in
// brackets.
template <auto value> [[nodiscard]] constexpr bool is_enumerator() {
  const std::string_view name = __PRETTY_FUNCTION__;
  return name.substr(name.find("value = ") + 8).front() != '(';
}

template <class Enum, std::size_t N>
[[nodiscard]] constexpr Words<Enum, N> words(const Word<Enum> (&rows)[N]) {
  static_assert(!is_enumerator<static_cast<Enum>(N)>(),
                "a table of words has a row per enumerator");
  return Words<Enum, N>(rows);
}

} // namespace stepsim::base
