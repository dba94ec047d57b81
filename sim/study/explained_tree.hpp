#pragma once
// The output of `stepsim explain --json`, and of `stepsim run --json` for a file of kind program.
// One table of keys, in explained_tree.cpp, makes both the writer and the JSON Schema of kind
// explanation.
#include "document/fields/schema.hpp"
#include "document/json.hpp"
#include "study/explained.hpp"

namespace stepsim::study {

// The output without the key `meta`, which the command adds.
[[nodiscard]] io::Json explained_tree(const Explained& explained);

[[nodiscard]] io::FileKind explanation_kind();

} // namespace stepsim::study
