#pragma once
// The config.json of a Hugging Face model (decoders with gated MLP and RMS norms) as a model table
// (INP 2.2). With width h, heads of width d and experts of width e, a block has
//
//     attention  q, k, v and output projections; latent ones where kv_lora_rank is given
//     MLP        3 h f, or a router, all experts (3 h e each) and shared experts
//     norms      2 h, with 2 d for the norms of queries and keys of qwen3
//
// and the model an embedding V h, a last norm h and an output head V h unless it is tied. All
// experts of a block are one layer; its multiply-accumulates are those of the chosen ones.
#include <string>

#include "train/workload/model_table.hpp"
#include "json/json.hpp"

namespace stepsim::io {

// Whether a tree without a `kind` of ours is such a file, by the keys that they have.
[[nodiscard]] bool is_model_config(const Json& json);

// `name` of the table. Multiply-accumulates belong to 4096 tokens, or to all positions where these
// are fewer. A model_type that is not known and what is left out are warnings of the table. Throws
// InputError with all problems: a field that is missing, out of range or does not fit another.
[[nodiscard]] train::ModelTable parse_model_config(const Json& json, const std::string& name);

// A name for the table: that of the file, or the model_type where the file is called config.json.
[[nodiscard]] std::string config_name(const Json& json);

} // namespace stepsim::io
