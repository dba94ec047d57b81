#pragma once
// Converts the config.json of a Hugging Face model (decoders with gated MLP and RMS norms) to a
// model table (INP 2.2). With width h, heads of width d, MLP width f and experts of width e, a
// block has
//
//     attention  projections for q, k, v and output; latent attention if kv_lora_rank is given
//     MLP        3 h f, or a router, all experts (3 h e each) and shared experts
//     norms      2 h, with 2 d for the norms of queries and keys of qwen3
//
// The model also has an embedding V h, a last norm h and, unless it is tied, an output head V h,
// for a vocabulary of V. All experts of a block are one layer with the multiply-accumulates of the
// chosen experts.
#include <string>

#include "document/json.hpp"
#include "layers/model_table.hpp"

namespace stepsim::io {

// Whether a tree without a key `kind` is such a configuration, by the keys it has.
[[nodiscard]] bool is_model_config(const Json& json);

// The table gets the name `name`. Its multiply-accumulates are for a sequence of 4096 tokens, or
// for max_position_embeddings if that is less. The table has warnings for an unknown model_type and
// for everything left out. Throws InputError with all problems: a field that is missing, out of
// range or inconsistent with another.
[[nodiscard]] layers::ModelTable parse_model_config(const Json& json, const std::string& name);

// A name for the table: that of the file, or the model_type if the file is called config.json.
[[nodiscard]] std::string config_name(const Json& json);

} // namespace stepsim::io
