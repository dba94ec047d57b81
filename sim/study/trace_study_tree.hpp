#pragma once
// The output of `stepsim study --json` (kind study). One table of keys makes the writer and the
// schema.
#include "document/fields/schema.hpp"
#include "document/json.hpp"
#include "study/trace_study.hpp"

namespace stepsim::study {

[[nodiscard]] io::Json study_tree(const TraceStudy& study);

[[nodiscard]] io::FileKind study_kind();

} // namespace stepsim::study
