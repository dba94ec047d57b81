#pragma once
// Model tables (kind model, MOD 3) to and from train::ModelTable. Checked besides types and ranges:
// totals against the layers, names LAYER.TENSOR unique, execution_index of all layers a permutation
// or of none, MACs that scale with the tokens (or their square) divisible by the sequence length
// (or its square), at most 2^53 elements and MACs in all.
#include "train/workload/model_table.hpp"
#include "json/json.hpp"

namespace stepsim::io {

// Throws InputError with all problems found.
[[nodiscard]] train::ModelTable parse_model(const Json& json);
// The same, or of the configuration of a model (model_config.hpp).
[[nodiscard]] train::ModelTable parse_model_or_config(const Json& json);
[[nodiscard]] Json to_json(const train::ModelTable& table);

} // namespace stepsim::io
