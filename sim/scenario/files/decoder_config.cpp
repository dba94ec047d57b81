// Keys are those of Llama, which most decoders share; aliases and defaults differ by model_type.
#include "scenario/files/trace_file.hpp"

#include "scenario/files/import_source.hpp"
#include "scenario/files/keys/model_keys.hpp"

#include <initializer_list>

namespace stepsim::io {

namespace {

// Types whose configurations have other keys, and the shipped tables of them.
struct ShippedTables {
  std::string_view type, names;
};
constexpr std::array<ShippedTables, 7> kShippedTables{
    {{"bart", "bart_large"},
     {"bert", "bert_base or bert_large"},
     {"gemma3", "gemma3_4b or gemma3_12b"},
     {"gpt2", "gpt2, gpt2_medium, gpt2_large or gpt2_xl"},
     {"t5", "t5_large"},
     {"vit", "vit_b_16, vit_l_16 or vit_h_14"},
     {"whisper", "whisper_large_v3"}}};

// What a decoder has whatever its type.
constexpr std::array<std::string_view, 5> kNeeded{"hidden_size", "num_hidden_layers", "vocab_size",
                                                  "num_attention_heads", "intermediate_size"};

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
    if (refuse_other_type(config.type)) {
      return config;
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
    // Files leave out what their type has by default.
    const bool ties = config.type.starts_with("gemma") || config.type.starts_with("cohere");
    config.tied = fields_.boolean("tie_word_embeddings", ties);
    refuse_other_mlp(config.type);
    return config;
  }

private:
  std::int64_t size(std::string_view key) { return fields_.integer(key, between(1, kMostWidth)); }
  std::int64_t size(std::string_view key, std::int64_t fallback) {
    return fields_.optional_integer(key, between(1, kMostWidth)).value_or(fallback);
  }
  void refuse(std::string_view key, std::string_view word, std::string_view lacks,
              std::string_view type) {
    const auto* shipped = std::ranges::find(kShippedTables, type, &ShippedTables::type);
    const std::string_view names =
        shipped == kShippedTables.end() ? "stepsim models list" : shipped->names;
    fields_.refuse(key,
                   "{} without {} is no decoder with gated MLP and RMS norms; give a model "
                   "table ({})",
                   word, lacks, names);
  }
  // A type that nobody knows, and that lacks what decoders have, names it otherwise.
  bool refuse_other_type(std::string_view type) {
    const auto lacks =
        std::ranges::find_if(kNeeded, [&](std::string_view key) { return !fields_.has(key); });
    if (type.empty() || lacks == kNeeded.end() ||
        std::ranges::find(kKnownTypes, type) != kKnownTypes.end()) {
      return false;
    }
    refuse("model_type", type, *lacks, type);
    return true;
  }
  // Encoders (BERT) and older decoders have two matrices in their MLP, and norms with biases.
  void refuse_other_mlp(std::string_view type) {
    const Json* act = fields_.any("hidden_act");
    const std::string word = act != nullptr && act->is_string() ? act->as_string() : "";
    if ((word.starts_with("gelu") || word.starts_with("relu")) && !fields_.has("rms_norm_eps")) {
      refuse("hidden_act", word, "rms_norm_eps", type);
    }
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
