#pragma once
// Evaluates a break-even problem and gives what `stepsim breakeven --json` writes. The rows of its
// keys are the only list of them: the writer and the JSON Schema of kind
// compression_breakeven_result are made from the rows.
#include "lab/breakeven_file.hpp"
#include "json/fields/schema.hpp"
#include "json/json.hpp"

namespace stepsim::study {

[[nodiscard]] io::Json breakeven_tree(const BreakEvenFile& file);

[[nodiscard]] io::FileKind breakeven_result_kind();

} // namespace stepsim::study
