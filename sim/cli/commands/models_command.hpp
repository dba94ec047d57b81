#pragma once
// stepsim models list | show NAME: the shipped layer tables of networks (MOD), with totals that can
// be checked against the publications.
#include "cli/shell/app.hpp"

namespace stepsim::cli {

// NAME is a shipped table or a file of kind model. Returns kOk. Throws UsageError for an unknown
// name (with the nearest) and for a sequence length that the network does not take, InputError for
// a file that is no layer table.
[[nodiscard]] int models(const Invocation& invocation);

} // namespace stepsim::cli
