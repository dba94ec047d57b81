#pragma once
// Reads and writes model tables (kind model, MOD 3) as train::ModelTable. Besides types and ranges
// it is checked that
//   - totals agree with the layers, and names LAYER.TENSOR are unique;
//   - all layers have an execution_index, which form a permutation, or none has one;
//   - MACs that scale with the tokens (or their square) are divisible by the sequence length (or
//     its square), and the table has at most 2^53 elements and MACs.
#include "train/workload/model_table.hpp"
#include "json/json.hpp"

namespace stepsim::io {

// Throws InputError with all problems.
[[nodiscard]] train::ModelTable parse_model(const Json& json);
// Reads a model table or the configuration of a model (model_config.hpp).
[[nodiscard]] train::ModelTable parse_model_or_config(const Json& json);
// The file with its header and totals.
[[nodiscard]] Json to_json(const train::ModelTable& table);

} // namespace stepsim::io
