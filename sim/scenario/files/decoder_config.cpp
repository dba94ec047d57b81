#include "scenario/files/model_file.hpp"

#include <initializer_list>

#include "document/reader.hpp"
#include "scenario/files/keys/model_keys.hpp"

namespace stepsim::io {

namespace {

constexpr double kMostWidth = 0x1p24; // of any matrix
constexpr double kMostLayers = 4096;

class ConfigReader {
public:
  ConfigReader(const Json& json, Problems& problems)
      : fields_(json, problems), problems_(problems) {}

  DecoderConfig read() {
    DecoderConfig config;
    if (const Json* type = fields_.any("model_type"); type != nullptr && type->is_string()) {
      config.type = type->as_string();
    }
    config.width = size("hidden_size");
    config.blocks = fields_.integer("num_hidden_layers", between(1, kMostLayers));
    config.vocabulary = size("vocab_size");
    config.heads = size("num_attention_heads");
    config.kv_heads = size("num_key_value_heads", config.heads);
    config.mlp = size("intermediate_size");
    read_positions(config);
    read_latent(config);
    read_head(config);
    read_experts(config);
    const bool bias = fields_.boolean("attention_bias", false);
    const bool qwen2 = config.type.starts_with("qwen2");
    config.qkv_bias = bias || qwen2;
    config.output_bias = bias && !qwen2;
    config.mlp_bias = fields_.boolean("mlp_bias", false);
    config.qk_norm = config.type.starts_with("qwen3");
    config.tied = fields_.boolean("tie_word_embeddings", false);
    return config;
  }

private:
  std::int64_t size(std::string_view key) { return fields_.integer(key, between(1, kMostWidth)); }
  std::int64_t size(std::string_view key, std::int64_t fallback) {
    return fields_.optional_integer(key, between(1, kMostWidth)).value_or(fallback);
  }
  // The first of several names that is given; 0 without any.
  std::int64_t first_of(std::initializer_list<std::string_view> keys) {
    for (const std::string_view key : keys) {
      if (const auto value = fields_.optional_integer(key, between(0, kMostWidth))) {
        return *value;
      }
    }
    return 0;
  }

  void read_positions(DecoderConfig& config) {
    const auto positions =
        fields_.optional_integer("max_position_embeddings", between(1, kMostExact));
    if (positions) {
      config.positions = std::min(*positions, static_cast<std::int64_t>(keys::kMaxTokens));
      config.tokens = std::min(config.positions, kStandardTokens);
    }
  }

  void read_latent(DecoderConfig& config) {
    if (!fields_.has("kv_lora_rank")) {
      return;
    }
    config.latent = LatentAttention{.kv_rank = size("kv_lora_rank"),
                                    .q_rank = {},
                                    .nope = size("qk_nope_head_dim"),
                                    .rope = size("qk_rope_head_dim"),
                                    .value = size("v_head_dim")};
    if (fields_.has("q_lora_rank")) {
      config.latent->q_rank = size("q_lora_rank");
    }
  }

  void read_head(DecoderConfig& config) {
    if (config.latent) {
      return; // its heads have widths of their own
    }
    if (fields_.has("head_dim")) {
      config.head = size("head_dim");
    } else if (config.heads > 0 && config.width % config.heads == 0) {
      config.head = config.width / config.heads;
    } else {
      fields_.refuse("hidden_size", "does not divide into num_attention_heads; give head_dim");
    }
  }

  void read_experts(DecoderConfig& config) {
    Experts& experts = config.experts;
    experts.count =
        first_of({"n_routed_experts", "num_routed_experts", "num_local_experts", "num_experts"});
    if (experts.count == 0) {
      return;
    }
    experts.chosen =
        fields_.integer("num_experts_per_tok", between(1, static_cast<double>(experts.count)));
    experts.width = size("moe_intermediate_size", config.mlp);
    experts.shared = first_of({"n_shared_experts", "num_shared_experts"}) * experts.width;
    if (const std::int64_t shared = first_of({"shared_expert_intermediate_size"}); shared > 0) {
      experts.shared = shared;
      experts.shared_gate = true;
    }
    const Json* method = fields_.any("topk_method");
    experts.correction_bias = method != nullptr && *method == Json("noaux_tc");
    experts.first_dense = first_of({"first_k_dense_replace"});
    experts.every = size("decoder_sparse_step", 1);
    experts.frequency = fields_.has("moe_layer_freq") ? size("moe_layer_freq") : 1;
    const Json* dense = fields_.any("mlp_only_layers");
    if (dense != nullptr && dense->is_array()) {
      for (const Json& block : dense->as_array()) {
        experts.dense_layers.push_back(checked_integer(block, at_least(0), problems_).value_or(0));
      }
    }
  }

  Fields fields_;
  Problems& problems_;
};

} // namespace

DecoderConfig read_decoder_config(const Json& json, Problems& problems) {
  return ConfigReader(json, problems).read();
}

} // namespace stepsim::io
