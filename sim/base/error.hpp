#pragma once
// The three ways in which a command can fail. The cli floor prints each as one line on stderr (one
// per problem for an InputError) and returns its exit code; code below the cli floor neither prints
// nor exits.
//   InputError       wrong file content             `FILE: /json/pointer: message`   exit 3
//   UsageError       wrong flag or argument         `--flag: message`                exit 2
//   SimulationError  the simulation cannot continue                                  exit 1
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

} // namespace stepsim::base

namespace stepsim {
using base::InputError;
using base::SimulationError;
using base::UsageError;
} // namespace stepsim
