#pragma once
// stepsim keys [POINTER]: what the keys of a scenario mean, which values they take and where they
// count. Everything it prints comes from the rows that also read a scenario, so it cannot be out of
// date.
#include "cli/shell/app.hpp"

namespace stepsim::cli {

// Returns kOk. Throws UsageError, with the nearest pointer, for a POINTER that no scenario has.
[[nodiscard]] int keys(const Invocation& invocation);

} // namespace stepsim::cli
