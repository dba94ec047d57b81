#pragma once
// Model tables (kind model, MOD 3) to and from train::ModelTable. Checked besides types and ranges:
// totals against the layers, tensor names unique, execution_index a permutation, MACs that scale
// with the sequence length divisible by it.
#include "train/workload/model_table.hpp"
#include "json/json.hpp"

namespace stepsim::io {

// Throws InputError with all problems found.
[[nodiscard]] train::ModelTable parse_model(const Json& json);
[[nodiscard]] Json to_json(const train::ModelTable& table);

} // namespace stepsim::io
