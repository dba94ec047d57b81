#pragma once
// The output of `stepsim explain --json`, and of `stepsim run --json` for a file of kind program.
// One table of keys, in explained_tree.cpp, makes both the writer and the JSON Schema of kind
// explanation.
#include "programs/explained.hpp"
#include "json/fields/schema.hpp"
#include "json/json.hpp"

namespace stepsim::study {

// The output without the key `meta`, which the command adds.
[[nodiscard]] io::Json explained_tree(const Explained& explained);

[[nodiscard]] io::FileKind explanation_kind();

} // namespace stepsim::study
