#pragma once
// The values of flags as typed: one quantity, lists and ranges of quantities, lists of words. Words
// become numbers, their place in the enumeration. All throw UsageError.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "base/quantity.hpp"
#include "base/words.hpp"
#include "json/reader.hpp"

namespace CLI {
class App;
}

namespace stepsim::cli {

// At commas; "a,,b" has an empty word.
[[nodiscard]] std::vector<std::string_view> split(std::string_view list);

// The value of a flag in the SI unit of its kind: bytes, seconds, bytes per second. The error is
// "--max-bytes 0: must be > 0, got 0".
[[nodiscard]] double quantity(std::string_view flag, std::string_view text, base::QuantityKind kind,
                              io::Range range = {});
// The same for an integer, at most 9e15.
[[nodiscard]] std::int64_t count(std::string_view flag, std::string_view text, io::Range range);

// The flag --max-seconds of commands that may work for hours. max_seconds gives its value, s, typed
// with or without the unit; kMaxSeconds where it was not given.
void add_max_seconds_flag(CLI::App& app, std::string& text, const char* group = "Options");
[[nodiscard]] double max_seconds(const std::string& text);

// The values of a list or a range, in SI units. The error is "--ranks 0: must be an integer >= 1,
// got 0".
[[nodiscard]] std::vector<double> numbers(std::string_view flag, std::string_view text,
                                          base::QuantityKind kind, io::Range range);

// The words of a list as the numbers of their enumerators. `parse` gives the enumerator of a word,
// or empty; `known` and `noun` are for the error.
template <class Word, class Parse>
std::vector<double> words(std::string_view flag, std::string_view noun, std::string_view text,
                          std::span<const std::string_view> known, Parse parse) {
  std::vector<double> values;
  for (const std::string_view word : split(text)) {
    const std::optional<Word> value = parse(word);
    if (!value) {
      throw UsageError(std::string(flag) + ": " + base::unknown_word(noun, word, known));
    }
    values.push_back(static_cast<double>(static_cast<int>(*value)));
  }
  return values;
}

// The same for the table of an enum's words.
template <class Enum, std::size_t N>
std::vector<double> words(std::string_view flag, std::string_view noun, std::string_view text,
                          const base::Words<Enum, N>& table) {
  return words<Enum>(flag, noun, text, table.all(),
                     [&](std::string_view word) { return table.find(word); });
}

} // namespace stepsim::cli
