#pragma once
// The three ways in which a command can fail. The cli floor prints each as one line on stderr (one
// per problem for an InputError) and returns its exit code; code below the cli floor neither prints
// nor exits.
//   InputError       wrong file content             `FILE: /json/pointer: message`   exit 3
//   UsageError       wrong flag or argument         `--flag: message`                exit 2
//   SimulationError  the simulation cannot continue                                  exit 1
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace stepsim::base {

// One problem in one file. text() prints it on one line and escapes what users wrote. `where` is a
// JSON pointer ("/links/3/latency_s"), a position ("1204:7" = line:column, "12" = line), or empty
// for the whole file. `file` is empty for a value that was made in memory.
struct Problem {
  std::string file;
  std::string where;
  std::string message;
  // Returns "cluster.json: /links/3/latency_s: must be >= 0, got -1", or "file:12: message" if
  // `where` is a position.
  [[nodiscard]] std::string text() const;
};

// Holds at least one problem (asserted). what() is the text of the first.
class InputError : public std::runtime_error {
public:
  InputError(std::string file, std::string where, std::string message);
  explicit InputError(std::vector<Problem> problems);
  [[nodiscard]] const std::vector<Problem>& problems() const { return problems_; }

private:
  std::vector<Problem> problems_;
};

class UsageError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

class SimulationError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Returns a user's value for an error message, with control characters escaped (printable.hpp). A
// value of more than `limit` bytes is cut there, never inside a UTF-8 sequence, and ends in "...";
// escapes and dots are not counted in `limit`.
[[nodiscard]] std::string shown_value(std::string_view value, std::size_t limit = 40);

// "did you mean": finds the known words nearest to a mistyped word, by Damerau-Levenshtein
// distance. Inserting, deleting or replacing a byte and swapping two neighbours cost 1 each.

// Returns the least number of these edits that turn `a` into `b`.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

// Returns the known words at distance <= max(1, length of `word` / 3): nearest first, ties in
// alphabetical order, at most 3. If `word` has three letters or more, there are further results,
// which are sorted as if they had the largest distance:
//
//   words that begin with `word` and "_" or "-"      "reduction" finds "reduction_Bps"
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

// Returns the word between double quotes, unchanged.
[[nodiscard]] std::string quoted(std::string_view word);
// Returns "a, b, c", or with `last` = " or ": "a, b or c".
[[nodiscard]] std::string joined(std::span<const std::string_view> words,
                                 std::string_view last = ", ");

} // namespace stepsim::base

namespace stepsim {
using base::InputError;
using base::SimulationError;
using base::UsageError;
} // namespace stepsim
