#pragma once
// Evaluates a break-even problem and makes the output of `stepsim breakeven --json`. One table of
// keys, in breakeven_result.cpp, makes both the writer and the JSON Schema of kind
// compression_breakeven_result.
#include "document/fields/schema.hpp"
#include "document/json.hpp"
#include "study/breakeven_file.hpp"

namespace stepsim::study {

[[nodiscard]] io::Json breakeven_tree(const BreakEvenFile& file);

[[nodiscard]] io::FileKind breakeven_result_kind();

} // namespace stepsim::study
