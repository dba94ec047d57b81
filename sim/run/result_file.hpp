#pragma once
// The result of a run as JSON, which `stepsim run --json` writes. One table of keys makes both the
// writer and the JSON Schema of results.

#include "document/fields/schema.hpp"
#include "run/result.hpp"

namespace stepsim::study {

// The result without the key `meta` (tool, version, git, command, wall_s), which the caller adds,
// because it may differ between equal runs.
[[nodiscard]] io::Json result_tree(const Result& result);

// Passes the text of result_tree(result) with the members `others`, which replace those of the same
// key, to `sink`: the bytes of io::pretty(), in blocks, without the whole tree in memory. Throws
// SimulationError as io::require_finite() does; blocks before the number were passed then. Layers
// that are left out in a member `scenario` (LayerList, scenario_tree.hpp) are written one by one.
void write_result(const Result& result, const io::Object& others,
                  const std::function<void(std::string_view)>& sink);

[[nodiscard]] io::FileKind result_kind();

} // namespace stepsim::study
