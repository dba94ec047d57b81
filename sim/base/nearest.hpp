#pragma once
// "did you mean": finds the known words nearest to a mistyped word, by Damerau-Levenshtein
// distance. Inserting, deleting or replacing a byte and swapping two neighbours cost 1 each.
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stepsim::base {

// Returns the least number of these edits that turn `a` into `b`.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

// Returns the known words at distance <= max(1, length of `word` / 3): nearest first, ties in
// alphabetical order, at most 3. If `word` has three letters or more, there are further results,
// which are sorted as if they had the largest distance:
//
//   words that begin with `word` and "_" or "-"      "bandwidth" finds "bandwidth_Bps"
//   if nothing else was found, words that end in
//   "_" and `word`                                   "efficiency" finds "scaling_efficiency"
[[nodiscard]] std::vector<std::string> nearest_words(std::string_view word,
                                                     std::span<const std::string_view> known);

// Returns ", did you mean a, b or c?", or an empty string if no word is near.
[[nodiscard]] std::string did_you_mean(std::string_view word,
                                       std::span<const std::string_view> known);

// Returns `unknown model "resnet-50"; did you mean "resnet50"?`, or `...; one of a, b, c` if no
// word is near.
[[nodiscard]] std::string unknown_word(std::string_view noun, std::string_view word,
                                       std::span<const std::string_view> known);

// Returns "a, b, c", or with `last` = " or ": "a, b or c".
[[nodiscard]] std::string joined(std::span<const std::string_view> words,
                                 std::string_view last = ", ");

} // namespace stepsim::base
