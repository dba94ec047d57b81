#pragma once
// Checks files with one record per line: the output of a sweep (JSON Lines or CSV), and records of
// other commands (JSON Lines). Reading stops after 20 errors.

#include "base/error.hpp"

namespace stepsim::cli {

// The kind, the errors and the warnings of one file.
struct Checked {
  std::string file;
  std::string
      kind; // "sweep output, 9 of 9 points", "9 records", the kind of other files; "" = unknown
  std::vector<base::Problem> errors;
  std::vector<std::string> warnings;
};

// Whether the file has one record per line, by its name (.jsonl, .jsonl.gz) or, for the output of a
// sweep, by its first bytes, also in CSV. Never true for standard input, which cannot be read
// twice. Throws InputError if a file without such a name cannot be read.
[[nodiscard]] bool is_lines_file(const std::string& name);

// Checks every line; an error names it: `out.jsonl:17: must be an object`. Throws InputError if the
// file cannot be read at all.
[[nodiscard]] Checked check_lines(const std::string& name);

} // namespace stepsim::cli
