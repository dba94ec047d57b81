#pragma once
// stepsim merge SHARD... -o FILE: joins the shards of a sweep, in any order, into the bytes that
// one unsharded sweep would have written.
#include "cli/shell/app.hpp"

namespace stepsim::cli {

// Returns kOk, or kTargetNotMet if points are missing: then nothing is written and the commands
// that fill the gaps are printed. Throws InputError for shards of different sweeps, UsageError for
// a format other than that of the shards.
[[nodiscard]] int merge(const Invocation& invocation);

} // namespace stepsim::cli
