#pragma once
// stepsim merge SHARD... -o FILE: joins the shards of a sweep, given in any order, into the same
// bytes that one unsharded sweep would have written.
#include "cli/shell/app.hpp"

namespace stepsim::cli {

// Returns kOk. If points are missing, nothing is written, the commands that compute the missing
// points are printed, and kTargetNotMet is returned. Throws InputError for shards of different
// sweeps, and UsageError for flags and for a change from or to CSV.
[[nodiscard]] int merge(const Invocation& invocation);

} // namespace stepsim::cli
