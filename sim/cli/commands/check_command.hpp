#pragma once
// stepsim check FILE...: validates files of any kind that stepsim reads or writes. The key `kind`
// of a file gives its kind; a file without it is recognised by a key that only one kind has.
#include "cli/shell/app.hpp"

namespace stepsim::cli {

// Lists every problem of every file. Returns kOk, or kBadInput if any file has an error; warnings
// do not change the exit code. Throws UsageError for flags only.
[[nodiscard]] int check(const Invocation& invocation);

} // namespace stepsim::cli
