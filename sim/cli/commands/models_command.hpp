#pragma once
// stepsim models list | show NAME: the shipped layer tables of networks (MOD), with totals that can
// be compared with publications.
#include "cli/shell/app.hpp"

namespace stepsim::cli {

// NAME is a shipped table or a file of kind model. Returns kOk. Throws UsageError for an unknown
// name (with the nearest known one) and for a sequence length that the network does not allow, and
// InputError for a file that is not a layer table.
[[nodiscard]] int models(const Invocation& invocation);

} // namespace stepsim::cli
