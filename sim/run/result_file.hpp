#pragma once
// The result of a run as JSON, which `stepsim run --json` writes. One table of keys makes both the
// writer and the JSON Schema of results.
#include "run/result.hpp"
#include "json/fields/schema.hpp"

namespace stepsim::study {

// The result without the key `meta` (tool, version, git, command, wall_s), which the caller adds,
// because it may differ between equal runs.
[[nodiscard]] io::Json result_tree(const Result& result);

[[nodiscard]] io::FileKind result_kind();

} // namespace stepsim::study
