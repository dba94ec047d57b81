#pragma once
// The result of a run as JSON: the file that `run --json` writes. One row per key; the JSON Schema
// of results is written from the same rows.
#include "run/result.hpp"
#include "json/fields/schema.hpp"

namespace stepsim::study {

// The caller adds `meta` (tool, version, git, command, wall_s), which may differ between equal
// runs.
[[nodiscard]] io::Json result_tree(const Result& result);

[[nodiscard]] io::FileKind result_kind();

} // namespace stepsim::study
