#pragma once
// stepsim keys [POINTER | WORD]: what the keys of a scenario, or with --kind of another kind of
// file, mean, which values they take and where they count; with a WORD, the keys that have it in
// their names. Everything it prints comes from the rows that also read a scenario, so it cannot be
// out of date.
#include "cli/shell/app.hpp"

namespace stepsim::cli {

// Returns kOk. Throws UsageError, with the nearest, for a POINTER that no scenario has or a WORD
// that is in no name.
[[nodiscard]] int keys(const Invocation& invocation);

} // namespace stepsim::cli
