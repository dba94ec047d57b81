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

// Types that share the embedding where their files do not say.
constexpr std::array<std::string_view, 3> kTiedTypes{"gemma", "cohere", "smollm3"};

// Parts of the keys of models whose blocks are not all attention and an MLP: state-space models,
// linear attention, convolutions, blocks that differ, and projections of low rank behind attention.
constexpr std::array<std::string_view, 9> kOtherBlocks{
    "mamba",  "ssm_", "hybrid_override", "linear_attn", "linear_conv",
    "conv_L", "lru_", "block_configs",   "o_lora_rank"};
// Parts of the keys that tell of weights.
constexpr std::array<std::string_view, 11> kOfWeights{
    "experts", "moe_layer_e", "moe_intermediate", "moe_k",  "moe_topk",    "hybrid_",
    "swa_",    "global_head", "v_head_dim",       "shared", "share_expert"};

bool has_part(std::string_view key, std::span<const std::string_view> parts) {
  return std::ranges::any_of(
      parts, [&](std::string_view part) { return key.find(part) != std::string_view::npos; });
}

bool says_something(const Json& value) {
  return !value.is_null() && value != Json(false) && value != Json(0) && value != Json(Array{});
}
// Whether the word for a kind of block is that of attention, full, sliding or sparse; its weights
// are others where it is linear, or reads compressed keys.
bool attends(const Json& kind) {
  const std::string word = kind.is_string() ? kind.as_string() : "";
  return word.ends_with("attention") && !word.starts_with("linear") &&
         word.find("compressed") == std::string::npos;
}

class ConfigReader {
public:
  ConfigReader(const Json& json, Problems& problems)
      : fields_(json, problems), problems_(problems) {}

  // Adds to `unread` the keys that tell of weights and are not read.
  DecoderConfig read(std::vector<std::string_view>& unread) {
    DecoderConfig config;
    if (const Json* type = fields_.any("model_type"); type != nullptr && type->is_string()) {
      config.type = type->as_string().substr(0, type->as_string().find("_text"));
    }
    if (refuse_other_blocks(config.type) || refuse_other_type(config.type)) {
      return config;
    }
    config.width = size("hidden_size");
    config.blocks = fields_.integer("num_hidden_layers", between(1, kMostLayers));
    config.vocabulary = size("vocab_size");
    config.heads = size("num_attention_heads");
    config.kv_heads = size("num_key_value_heads", config.heads);
    config.mlp = size("intermediate_size");
    config.experts.width = config.mlp; // where they have none of their own
    if (const auto mlp = first_of({"intermediate_size_mlp", "dense_intermediate_size"}); mlp > 0) {
      config.mlp = mlp;
    }
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
    const bool ties = std::ranges::any_of(
        kTiedTypes, [&](std::string_view type) { return config.type.starts_with(type); });
    config.tied = fields_.boolean("tie_word_embeddings", ties);
    refuse_other_mlp(config.type);
    for (const auto& [key, value] : all()) {
      if (says_something(value) && std::ranges::find(read_, key) == read_.end() &&
          has_part(key, kOfWeights)) {
        unread.push_back(key);
      }
    }
    return config;
  }

private:
  [[nodiscard]] const Object& all() const {
    static const Object none;
    return fields_.json().is_object() ? fields_.json().as_object() : none;
  }
  std::int64_t size(std::string_view key) {
    read_.push_back(key);
    return fields_.integer(key, between(1, kMostWidth));
  }
  std::int64_t size(std::string_view key, std::int64_t fallback) {
    read_.push_back(key);
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
  // A list of the kinds of all blocks decides where there is one.
  bool refuse_other_blocks(std::string_view type) {
    const Json* kinds = fields_.given("layer_types");
    const bool listed = kinds != nullptr && kinds->is_array();
    for (const auto& [key, value] : all()) {
      const bool other = listed ? &value == kinds && !std::ranges::all_of(value.as_array(), attends)
                                : says_something(value) && has_part(key, kOtherBlocks);
      if (other) {
        fields_.refuse(key, "{} has blocks whose weights are not known here; give a model table",
                       type.empty() ? "the model" : type);
        return true;
      }
    }
    return false;
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
    const std::string_view key = fields_.has("hidden_act") ? "hidden_act" : "hidden_activation";
    const Json* act = fields_.any(key);
    const std::string word = act != nullptr && act->is_string() ? act->as_string() : "";
    if ((word.starts_with("gelu") || word.starts_with("relu")) && !fields_.has("rms_norm_eps")) {
      refuse(key, word, "rms_norm_eps", type);
    }
  }
  // The first of several names that is given; 0 without any.
  std::int64_t first_of(std::initializer_list<std::string_view> keys) {
    std::int64_t first = 0;
    for (const std::string_view key : keys) {
      const auto value = fields_.optional_integer(key, between(0, kMostWidth));
      read_.push_back(key);
      first = first == 0 ? value.value_or(0) : first;
    }
    return first;
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
    experts.count = first_of({"n_routed_experts", "num_routed_experts", "num_local_experts",
                              "num_experts", "moe_num_experts"});
    if (experts.count == 0) {
      return;
    }
    std::string_view chosen = "num_experts_per_tok";
    for (const std::string_view key : {"num_experts_per_token", "experts_per_token", "moe_k"}) {
      chosen = fields_.has(key) ? key : chosen;
    }
    read_.insert(read_.end(), {chosen, "num_experts_per_tok"});
    experts.chosen = fields_.integer(chosen, between(1, static_cast<double>(experts.count)));
    experts.width = size("moe_intermediate_size", experts.width);
    const std::int64_t each = first_of({"shared_intermediate_size", "share_expert_dim"});
    const std::int64_t shared_count =
        first_of({"n_shared_experts", "num_shared_experts", "moe_num_shared_experts"});
    experts.shared =
        each > 0 ? std::max<std::int64_t>(shared_count, 1) * each : shared_count * experts.width;
    if (config.type.starts_with("llama4")) {
      experts.shared += experts.width; // one, of which its files say nothing
    }
    if (const std::int64_t shared = first_of({"shared_expert_intermediate_size"}); shared > 0) {
      experts.shared = shared;
      experts.shared_gate = true;
    }
    const Json* method = fields_.any("topk_method");
    experts.correction_bias = method != nullptr && *method == Json("noaux_tc");
    experts.first_dense = first_of({"first_k_dense_replace", "moe_layer_start_index"});
    experts.every = std::max<std::int64_t>(
        first_of({"decoder_sparse_step", "interleave_moe_layer_step", "moe_layer_interval"}), 1);
    const Json* frequency = fields_.given("moe_layer_freq");
    const bool listed = frequency != nullptr && frequency->is_array();
    experts.frequency = frequency != nullptr && !listed ? size("moe_layer_freq") : 1;
    const Json* dense = fields_.any("mlp_only_layers");
    if (dense != nullptr && dense->is_array()) {
      for (const Json& block : dense->as_array()) {
        experts.dense_layers.push_back(checked_integer(block, at_least(0), problems_).value_or(0));
      }
    }
    for (std::size_t block = 0; listed && block < frequency->as_array().size(); ++block) {
      if (frequency->as_array()[block] == Json(0)) { // a list of all blocks
        experts.dense_layers.push_back(static_cast<std::int64_t>(block));
      }
    }
  }

  Fields fields_;
  Problems& problems_;
  std::vector<std::string_view> read_; // keys of sizes
};

} // namespace

DecoderConfig read_decoder_config(const Json& json, Problems& problems,
                                  std::vector<std::string_view>& unread) {
  return ConfigReader(json, problems).read(unread);
}

} // namespace stepsim::io
