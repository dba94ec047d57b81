#pragma once
// stepsim schema KIND: the JSON Schema (draft-07) of a kind of file, made from the rows of its
// keys. The committed files under schemas/ are its output.
#include "cli/shell/app.hpp"

namespace stepsim::cli {

// Returns kOk. Throws UsageError, with the nearest, for a KIND that no row describes.
[[nodiscard]] int schema(const Invocation& invocation);

} // namespace stepsim::cli
