#pragma once
// Reads and writes model tables (kind model, MOD 3) as layers::ModelTable. Besides types and ranges
// it is checked that
//   - totals agree with the layers, and names LAYER.TENSOR are unique;
//   - all layers have an execution_index, which form a permutation, or none has one;
//   - MACs that scale with the tokens (or their square) are divisible by the sequence length (or
//     its square), and the table has at most 2^53 elements and MACs.
#include "document/json.hpp"
#include "layers/model_table.hpp"

namespace stepsim::io {

// Throws InputError with all problems.
[[nodiscard]] layers::ModelTable parse_model(const Json& json);
// Reads a model table or the configuration of a model (model_config.hpp).
[[nodiscard]] layers::ModelTable parse_model_or_config(const Json& json);
// The file with its header and totals.
[[nodiscard]] Json to_json(const layers::ModelTable& table);

} // namespace stepsim::io
