#pragma once
// The output of `stepsim flows --json`. One table of keys, in flows_result.cpp, makes both the
// writer and the JSON Schema of kind flows_result.
#include "document/fields/schema.hpp"
#include "document/json.hpp"
#include "run/flows_run.hpp"

namespace stepsim::study {

// The output without the key `meta`, which the command adds.
[[nodiscard]] io::Json flows_tree(const FlowsFile& file, const FlowsResult& result);

[[nodiscard]] io::FileKind flows_result_kind();

} // namespace stepsim::study
