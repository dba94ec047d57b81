#pragma once
// stepsim keys [POINTER | WORD]: explains the keys of a scenario, or with --kind of another kind of
// file: meaning, values, and conditions. With a WORD it lists the keys with WORD in their names.
// Everything comes from the rows that also read the files, so it is never out of date.
#include "cli/shell/app.hpp"

namespace stepsim::cli {

// Returns kOk. Throws UsageError for a POINTER that the kind of file does not have or a WORD that
// no name contains; the error suggests the nearest key.
[[nodiscard]] int keys(const Invocation& invocation);

} // namespace stepsim::cli
