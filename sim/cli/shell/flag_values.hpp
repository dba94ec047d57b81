#pragma once
// Parses the values of flags: one quantity, lists and ranges of quantities, lists of words. A word
// becomes a number, the value of its enumerator. All functions that parse throw UsageError.

#include "document/reader.hpp"

namespace CLI {
class App;
}

namespace stepsim::cli {

// Splits a list at commas; "a,,b" has an empty word, and "" is one.
[[nodiscard]] std::vector<std::string_view> split(std::string_view list);

// The value of a flag in the SI unit of its kind: bytes, seconds, bytes per second. The error reads
// "--max-bytes 0: must be > 0, got 0".
[[nodiscard]] double quantity(std::string_view flag, std::string_view text, base::QuantityKind kind,
                              io::Range range = {});
// An integer, at most 9e15.
[[nodiscard]] std::int64_t count(std::string_view flag, std::string_view text, io::Range range);

// A time, where a number alone is in seconds.
[[nodiscard]] double seconds(std::string_view flag, const std::string& text);

// The flag --max-seconds of commands that may run for hours. max_seconds() returns its value in s,
// typed with or without a unit; kMaxSeconds if the flag was not given.
void add_max_seconds_flag(CLI::App& app, std::string& text, const char* group = "Options");
[[nodiscard]] double max_seconds(const std::string& text);

// The values of a list or a range, in SI units. The error reads "--ranks 0: must be an integer >=
// 1, got 0".
[[nodiscard]] std::vector<double> numbers(std::string_view flag, std::string_view text,
                                          base::QuantityKind kind, io::Range range);

// The words of a list as the values of their enumerators. `parse` returns the enumerator of a word,
// or nothing; `known` and `noun` are for the error.
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

// Parses words by the table of an enum.
template <class Enum, std::size_t N>
std::vector<double> words(std::string_view flag, std::string_view noun, std::string_view text,
                          const base::Words<Enum, N>& table) {
  return words<Enum>(flag, noun, text, table.all(),
                     [&](std::string_view word) { return table.find(word); });
}

// Flags that set one key of a scenario: --nodes 4 means --set /cluster/nodes=4. `init` has some of
// these flags. If a user types such a flag for a command that only has --set, the error names the
// key for --set.

// "--nodes" -> "/cluster/nodes"; "" for a flag without a key.
[[nodiscard]] std::string_view pointer_of_flag(std::string_view flag);

} // namespace stepsim::cli
