#pragma once
// "did you mean": the known words nearest to a mistyped one, by Damerau-Levenshtein distance
// (insert, delete, replace, swap of neighbours cost 1 each).
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stepsim::base {

// The least number of such edits of bytes that turn `a` into `b`.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

// Known words at distance <= max(1, length of word / 3). A word of three letters or more also finds
// the words that go on after it with an underscore or a hyphen ("bandwidth" finds "bandwidth_Bps",
// "infiniband" finds "infiniband-100g"), which count as the farthest, and where nothing is near the
// words that end with it after an underscore ("efficiency" finds "scaling_efficiency"). Nearest
// first, ties alphabetical, at most 3.
[[nodiscard]] std::vector<std::string> nearest_words(std::string_view word,
                                                     std::span<const std::string_view> known);

// ", did you mean a, b or c?" or an empty string.
[[nodiscard]] std::string did_you_mean(std::string_view word,
                                       std::span<const std::string_view> known);

// `unknown model "resnet-50"; did you mean "resnet50"?`, or `...; one of a, b, c` where none is
// near.
[[nodiscard]] std::string unknown_word(std::string_view noun, std::string_view word,
                                       std::span<const std::string_view> known);

// "a, b, c", or with `last` = " or ": "a, b or c".
[[nodiscard]] std::string joined(std::span<const std::string_view> words,
                                 std::string_view last = ", ");

} // namespace stepsim::base
