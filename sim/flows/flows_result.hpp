#pragma once
// What `stepsim flows --json` writes. The rows of its keys are the only list of them: the writer
// and the JSON Schema of kind flows_result are made from the rows.
#include "flows/flows_run.hpp"
#include "json/fields/schema.hpp"
#include "json/json.hpp"

namespace stepsim::study {

// Without `meta`, which the command adds.
[[nodiscard]] io::Json flows_tree(const FlowsFile& file, const FlowsResult& result);

[[nodiscard]] io::FileKind flows_result_kind();

} // namespace stepsim::study
