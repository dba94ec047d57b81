#pragma once
// Compares `expected` of a sparse_semantics file with what came out (SPA 7).
//
// `expected` holds any part of the output: keys may be missing, null stands for anything,
// `iterations` may end early; other lists are whole; a vector is all its values or its entries.
// Whole numbers are compared exactly, others within 1e-12 of the larger.
#include <optional>
#include <string>

#include "lab/semantics_file.hpp"
#include "json/json.hpp"

namespace stepsim::study {

struct Difference {
  std::string pointer; // into the file: /expected/iterations/0/final/index/1
  std::string message; // "expected 1, got 2"
};

// The first difference in the order of the file; empty = none. Throws InputError for keys that no
// output has.
[[nodiscard]] std::optional<Difference> first_difference(const SemanticsFile& file,
                                                         const io::Json& output);

} // namespace stepsim::study
