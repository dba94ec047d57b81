#pragma once
// Reads files of work: traces, layer tables of models, and measured trainings.
//
// Reads trace files (kind trace, IO 3) as layers::Trace; trace_file.hpp writes them. Sizes and
// times may be null: such a trace is valid, but `run` refuses it. Besides types and ranges it is
// checked that
//   - bytes and extra_bytes of the tensors of a layer, if all are known, sum up to its
//     gradient_bytes;
//   - the bytes of a tensor are its elements times the size of its dtype, and its shape has as many
//     elements;
//   - buckets are numbered from 0 in their order.

#include "document/checked.hpp"
#include "layers/measured.hpp"
#include "layers/model_table.hpp"
#include "layers/trace.hpp"

#include <algorithm>

namespace stepsim::io {

// Throws InputError with all problems.
[[nodiscard]] layers::Trace parse_trace(const Json& json);

// Writes traces as JSON, in the format that trace_file.hpp reads (kind trace, IO 3).

// parse_trace() of the result gives an equal trace. Unknown sizes and times are null; most empty
// texts and lists are left out.
[[nodiscard]] Json to_json(const layers::Trace& trace);

// Reads and writes model tables (kind model, MOD 3) as layers::ModelTable. Besides types and ranges
// it is checked that
//   - totals agree with the layers, and names LAYER.TENSOR are unique;
//   - all layers have an execution_index, which form a permutation, or none has one;
//   - MACs that scale with the tokens (or their square) are divisible by the sequence length (or
//     its square), and the table has at most 2^53 elements and MACs.

// Throws InputError with all problems.
[[nodiscard]] layers::ModelTable parse_model(const Json& json);
// Reads a model table or the configuration of a model.
[[nodiscard]] layers::ModelTable parse_model_or_config(const Json& json);
// The file with its header and totals.
[[nodiscard]] Json to_json(const layers::ModelTable& table);

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

// Whether a tree without a key `kind` is such a configuration, by the keys it has.
[[nodiscard]] bool is_model_config(const Json& json);

// The table gets the name `name`. Its multiply-accumulates are for a sequence of 4096 tokens, or
// for max_position_embeddings if that is less. The table has warnings for an unknown model_type and
// for everything left out. Throws InputError with all problems: a field that is missing, out of
// range or inconsistent with another.
[[nodiscard]] layers::ModelTable parse_model_config(const Json& json, const std::string& name);

// A name for the table: that of the file, or the model_type if the file is called config.json.
[[nodiscard]] std::string config_name(const Json& json);

// The fields of a Hugging Face configuration that determine the layers of a decoder, with aliases
// and defaults resolved (INP 2.2).

inline constexpr std::int64_t kStandardTokens = 4096; // longest sequence that tables count MACs for

// Multi-head latent attention: queries, keys and values go through low-rank matrices.
struct LatentAttention {
  std::int64_t kv_rank{};
  std::optional<std::int64_t> q_rank{}; // empty: one matrix for queries
  // Widths of a head: of its queries and keys without and with rotary positions, of its values.
  std::int64_t nope{}, rope{}, value{};
};

struct Experts {
  // Experts that the router chooses from (0 = the model has none), experts that each token goes
  // through, and the inner width of one expert.
  std::int64_t count{}, chosen{}, width{};
  std::int64_t shared{};        // total width of the shared experts, 0 = none
  bool shared_gate = false;     // the shared experts have a gate of their own
  bool correction_bias = false; // the router has a bias per expert
  // Which blocks, numbered from 0, have experts; the others have an MLP: see in_block().
  std::int64_t first_dense{}, every = 1, frequency = 1;
  std::vector<std::int64_t> dense_layers;

  [[nodiscard]] bool in_block(std::int64_t block) const {
    return count > 0 && block >= first_dense && (block + 1) % every == 0 &&
           block % frequency == 0 && std::ranges::find(dense_layers, block) == dense_layers.end();
  }
};

// Types whose rules were compared with published numbers of parameters.
inline constexpr std::array<std::string_view, 9> kKnownTypes{
    "llama", "mistral",   "mixtral",     "qwen2",      "qwen2_moe",
    "qwen3", "qwen3_moe", "deepseek_v2", "deepseek_v3"};

struct DecoderConfig {
  std::string type; // model_type, such as "llama"
  // Numbers of blocks, tokens of the vocabulary and heads; widths of the model, a head (0 with
  // `latent`) and the MLP.
  std::int64_t width{}, blocks{}, vocabulary{}, heads{}, kv_heads{}, head{}, mlp{};
  std::int64_t tokens = kStandardTokens; // sequence length of the multiply-accumulates
  std::int64_t positions{};              // 0 = no limit
  std::optional<LatentAttention> latent;
  Experts experts;
  bool qkv_bias = false, output_bias = false, mlp_bias = false, qk_norm = false, tied = false;
};

// Reads files of kind measured_training (SPA 10.2), NAME.measured.json in traces/:
//
//   {"name", "source", "note", "models": [{"name", "parameters", "batch_size", "note",
//     "phases": {"ranks", "method", "compute_s", "compress_s", "communication_s"},
//     "samples_per_s_per_gpu": {METHOD: {"RANKS": number}}}]}

// Throws InputError with all problems found.
[[nodiscard]] layers::MeasuredTraining parse_measured(const Json& json);

} // namespace stepsim::io
