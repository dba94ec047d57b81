#pragma once
// stepsim check FILE...: validates files of any kind that stepsim reads or writes. A file says its
// kind in the key `kind`; without it a key that only one kind has decides.
#include "cli/shell/app.hpp"

namespace stepsim::cli {

// Lists every problem of every file instead of stopping at the first. Returns kOk, or kBadInput if
// any file has an error; warnings do not count. Throws UsageError for flags alone.
[[nodiscard]] int check(const Invocation& invocation);

} // namespace stepsim::cli
