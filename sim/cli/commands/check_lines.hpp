#pragma once
// Files of one record per line: the output of a sweep (JSON Lines or CSV), and records of other
// commands in JSON Lines. Every line is read, until 20 errors are found.
#include <string>
#include <vector>

#include "base/error.hpp"

namespace stepsim::cli {

struct CheckedLines {
  std::string kind; // "sweep output, 9 of 9 points", "9 records"
  std::vector<base::Problem> errors;
  std::vector<std::string> warnings;
};

// By the name (.jsonl, .jsonl.gz) or, for the output of a sweep, by its first bytes, which say so
// in CSV as well. Standard input is never such a file, because it cannot be read twice.
[[nodiscard]] bool is_lines_file(const std::string& name);

// Errors name the line: `out.jsonl:17: must be an object`. Throws InputError where the file cannot
// be read at all.
[[nodiscard]] CheckedLines check_lines(const std::string& name);

} // namespace stepsim::cli
