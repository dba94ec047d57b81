#pragma once
// Compares `expected` of a sparse_semantics file with the output of the run (SPA 7).
//
// `expected` may be any part of the output: keys may be missing, null matches anything, and the
// list `iterations` may end early. All other lists must be complete. A vector is given by all its
// values or by its entries. Whole numbers must be equal; other numbers may differ by 1e-12 of the
// larger one.
#include <optional>
#include <string>

#include "document/json.hpp"
#include "study/semantics_file.hpp"

namespace stepsim::study {

struct Difference {
  std::string pointer; // JSON pointer into the file: /expected/iterations/0/final/index/1
  std::string message; // "expected 1, got 2"
};

// The first difference in the order of the file; empty if there is none. Throws InputError if
// `expected` has a key that no output has.
[[nodiscard]] std::optional<Difference> first_difference(const SemanticsFile& file,
                                                         const io::Json& output);

} // namespace stepsim::study
