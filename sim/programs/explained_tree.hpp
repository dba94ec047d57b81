#pragma once
// What `stepsim explain --json` writes, and `stepsim run --json` for a file of kind program. The
// rows of its keys are the only list of them: the writer and the JSON Schema of kind explanation
// are made from the rows.
#include "programs/explained.hpp"
#include "json/fields/schema.hpp"
#include "json/json.hpp"

namespace stepsim::study {

// Without `meta`, which the command adds.
[[nodiscard]] io::Json explained_tree(const Explained& explained);

[[nodiscard]] io::FileKind explanation_kind();

} // namespace stepsim::study
