#pragma once
// stepsim schema KIND: prints the JSON Schema (draft-07) of a kind of file, made from the rows of
// its keys. The files under schemas/ are its output.
#include "cli/shell/app.hpp"

namespace stepsim::cli {

// Returns kOk. Throws UsageError, with the nearest known one, for an unknown KIND.
[[nodiscard]] int schema(const Invocation& invocation);

} // namespace stepsim::cli
