#pragma once
// Reads files of kind reproduction (reproduction.hpp). Besides types and ranges, it checks that the
// names of runs, tables and figures are unique, and that references name an existing one.
#include "document/reader.hpp"
#include "study/reproduce/reproduction.hpp"

namespace stepsim::reproduce {

// Throws InputError with all problems found.
[[nodiscard]] Reproduction parse_reproduction(const io::Json& tree);

} // namespace stepsim::reproduce
