// Layers are listed in registration order, each with its place in the run of its block, because
// norms are registered after the layers that they precede.

#include "scenario/files/trace_file.hpp"

#include "scenario/files/import_source.hpp"
#include "scenario/files/keys/model_keys.hpp"

#include <numeric>

namespace stepsim::io {

namespace {

// Where a layer runs in its block.
enum class Place {
  before,
  query,
  key,
  value,
  query_norm,
  key_norm,
  scores,
  output,
  between,
  after
};

// Layers of a table in registration order, with the place of each in the run.
class TableBuilder {
public:
  explicit TableBuilder(const DecoderConfig& config) : config_(config) {}

  void norm(const std::string& name, std::int64_t width, Place place) {
    add(name, "rmsnorm", 0, layers::MacScaling::sample, {{"weight", {width}}}, place);
  }
  void linear(const std::string& name, std::int64_t in, std::int64_t out, bool bias, Place place,
              std::string_view bias_name = "bias") {
    std::vector<layers::ModelTensor> tensors{{"weight", {out, in}}};
    if (bias) {
      tensors.push_back({std::string(bias_name), {out}});
    }
    add(name, "linear", tokens() * number(in) * number(out), layers::MacScaling::tokens,
        std::move(tensors), place);
  }
  void add(const std::string& name, std::string_view kind, double macs, layers::MacScaling scaling,
           std::vector<layers::ModelTensor> tensors, Place place) {
    for (const layers::ModelTensor& tensor : tensors) {
      elements_ +=
          std::accumulate(tensor.shape.begin(), tensor.shape.end(), 1.0,
                          [](double product, std::int64_t each) { return product * number(each); });
    }
    macs_ += macs;
    layers::ModelLayer layer;
    layer.name = name;
    layer.kind = kind;
    layer.macs = too_large() ? 0 : static_cast<std::int64_t>(macs);
    layer.scaling = scaling;
    layer.tensors = std::move(tensors);
    layers_.push_back(std::move(layer));
    places_.push_back(place);
  }

  void set_heads(std::int64_t heads) { layers_.back().heads = heads; } // of the last layer

  // The layers added since the last block run in the order of their places.
  void end_block() {
    std::vector<std::size_t> order(layers_.size() - begin_);
    std::iota(order.begin(), order.end(), begin_);
    std::ranges::stable_sort(order, {}, [&](std::size_t layer) { return places_[layer]; });
    for (std::size_t k = 0; k < order.size(); ++k) {
      layers_[order[k]].execution_index = static_cast<std::int64_t>(begin_ + k) + 1;
    }
    begin_ = layers_.size();
  }

  [[nodiscard]] bool too_large() const { return elements_ > kMostExact || macs_ > kMostExact; }
  [[nodiscard]] double tokens() const { return number(config_.tokens); }
  [[nodiscard]] std::vector<layers::ModelLayer> take() { return std::move(layers_); }

  [[nodiscard]] static double number(std::int64_t value) { return static_cast<double>(value); }

private:
  const DecoderConfig& config_;
  std::vector<layers::ModelLayer> layers_;
  std::vector<Place> places_; // [layer]
  std::size_t begin_ = 0;     // of the block
  double elements_ = 0, macs_ = 0;
};

void add_scores(TableBuilder& builder, const std::string& name, const DecoderConfig& config,
                double width) {
  const double macs =
      builder.tokens() * builder.tokens() * TableBuilder::number(config.heads) * width;
  builder.add(name + "scores", "attention", macs, layers::MacScaling::tokens2, {}, Place::scores);
  builder.set_heads(config.heads);
}

void add_attention(TableBuilder& builder, const std::string& name, const DecoderConfig& config) {
  const std::int64_t wide = config.heads * config.head;
  const std::int64_t narrow = config.kv_heads * config.head;
  builder.linear(name + "q_proj", config.width, wide, config.qkv_bias, Place::query);
  builder.linear(name + "k_proj", config.width, narrow, config.qkv_bias, Place::key);
  builder.linear(name + "v_proj", config.width, narrow, config.qkv_bias, Place::value);
  add_scores(builder, name, config, 2 * TableBuilder::number(config.head));
  builder.linear(name + "o_proj", wide, config.width, config.output_bias, Place::output);
  if (config.qk_norm) {
    builder.norm(name + "q_norm", config.head, Place::query_norm);
    builder.norm(name + "k_norm", config.head, Place::key_norm);
  }
}

void add_latent_attention(TableBuilder& builder, const std::string& name,
                          const DecoderConfig& config) {
  const LatentAttention& latent = *config.latent;
  const std::int64_t query_width = config.heads * (latent.nope + latent.rope);
  if (latent.q_rank) {
    builder.linear(name + "q_a_proj", config.width, *latent.q_rank, config.qkv_bias, Place::query);
    builder.norm(name + "q_a_layernorm", *latent.q_rank, Place::query);
    builder.linear(name + "q_b_proj", *latent.q_rank, query_width, false, Place::query);
  } else {
    builder.linear(name + "q_proj", config.width, query_width, false, Place::query);
  }
  builder.linear(name + "kv_a_proj_with_mqa", config.width, latent.kv_rank + latent.rope,
                 config.qkv_bias, Place::key);
  builder.norm(name + "kv_a_layernorm", latent.kv_rank, Place::key);
  builder.linear(name + "kv_b_proj", latent.kv_rank, config.heads * (latent.nope + latent.value),
                 false, Place::key);
  add_scores(builder, name, config, TableBuilder::number(latent.nope + latent.rope + latent.value));
  builder.linear(name + "o_proj", config.heads * latent.value, config.width, config.output_bias,
                 Place::output);
}

void add_mlp(TableBuilder& builder, const std::string& name, const DecoderConfig& config,
             std::int64_t width) {
  builder.linear(name + "gate_proj", config.width, width, config.mlp_bias, Place::after);
  builder.linear(name + "up_proj", config.width, width, config.mlp_bias, Place::after);
  builder.linear(name + "down_proj", width, config.width, config.mlp_bias, Place::after);
}

void add_experts(TableBuilder& builder, const std::string& name, const DecoderConfig& config) {
  const Experts& experts = config.experts;
  builder.linear(name + "gate", config.width, experts.count, experts.correction_bias, Place::after,
                 "e_score_correction_bias");
  const double macs = builder.tokens() * TableBuilder::number(experts.chosen) * 3 *
                      TableBuilder::number(config.width) * TableBuilder::number(experts.width);
  builder.add(name + "experts", "experts", macs, layers::MacScaling::tokens,
              {{"gate_proj", {experts.count, experts.width, config.width}},
               {"up_proj", {experts.count, experts.width, config.width}},
               {"down_proj", {experts.count, config.width, experts.width}}},
              Place::after);
  if (experts.shared > 0) {
    add_mlp(builder, name + "shared_experts.", config, experts.shared);
  }
  if (experts.shared_gate) {
    builder.linear(name + "shared_expert_gate", config.width, 1, false, Place::after);
  }
}

void add_layers(TableBuilder& builder, const DecoderConfig& config) {
  builder.add("model.embed_tokens", "embedding", 0, layers::MacScaling::sample,
              {{"weight", {config.vocabulary, config.width}}}, Place::before);
  builder.end_block();
  for (std::int64_t block = 0; block < config.blocks && !builder.too_large(); ++block) {
    const std::string name = "model.layers." + std::to_string(block) + ".";
    if (config.latent) {
      add_latent_attention(builder, name + "self_attn.", config);
    } else {
      add_attention(builder, name + "self_attn.", config);
    }
    if (config.experts.in_block(block)) {
      add_experts(builder, name + "mlp.", config);
    } else {
      add_mlp(builder, name + "mlp.", config, config.mlp);
    }
    builder.norm(name + "input_layernorm", config.width, Place::before);
    builder.norm(name + "post_attention_layernorm", config.width, Place::between);
    builder.end_block();
  }
  builder.norm("model.norm", config.width, Place::before);
  if (config.tied) {
    builder.add("lm_head", "tied_decoder",
                builder.tokens() * TableBuilder::number(config.vocabulary) *
                    TableBuilder::number(config.width),
                layers::MacScaling::tokens, {}, Place::after);
  } else {
    builder.linear("lm_head", config.width, config.vocabulary, false, Place::after);
  }
  builder.end_block();
}

// The decoder of a model that reads images or sound, too, with what the whole says of it.
Json decoder_part(const Json& whole) {
  for (const std::string_view key : {"text_config", "llm_config", "language_config"}) {
    if (const Json* part = whole.find(key);
        part != nullptr && part->is_object() && part->find("hidden_size") != nullptr) {
      Json decoder = *part;
      for (const std::string_view shared : {"model_type", "tie_word_embeddings"}) {
        if (const Json* value = whole.find(shared);
            value != nullptr && decoder.find(shared) == nullptr) {
          decoder.set(shared, *value);
        }
      }
      return decoder;
    }
  }
  return whole;
}

// What the table does not say of the model.
std::vector<std::string> warnings_of(const Json& whole, const Json& json,
                                     const DecoderConfig& config,
                                     std::span<const std::string_view> unread) {
  std::vector<std::string> warnings;
  std::string others; // parts for images or sound
  for (const std::string key : {"vision_config", "vit_config", "audio_config"}) {
    if (const Json* part = whole.find(key); part != nullptr && part->is_object()) {
      others += (others.empty() ? ", without " : " and ") + key;
    }
  }
  if (!others.empty() || json != whole) {
    warnings.push_back("the decoder alone is counted" + others);
  }
  if (std::ranges::find(kKnownTypes, config.type) == kKnownTypes.end()) {
    warnings.push_back(
        (config.type.empty() ? "no model_type" : "model_type " + config.type + " is not known") +
        ": counted as a decoder with gated MLP and RMS norms");
    if (!config.tied && json.find("tie_word_embeddings") == nullptr) {
      warnings.emplace_back("no tie_word_embeddings: an output head of its own is counted");
    }
  }
  if (!unread.empty()) {
    warnings.push_back("the number of parameters may be another, because of keys that are not "
                       "read: " +
                       base::joined(unread));
  }
  const auto given = [&](std::string_view key) {
    const Json* found = json.find(key);
    return found != nullptr && found->is_integer() && found->as_integer() > 0;
  };
  if (given("num_nextn_predict_layers")) {
    warnings.emplace_back(
        "layers for multi-token prediction (num_nextn_predict_layers) are left out");
  }
  const Json* uses_window = json.find("use_sliding_window");
  if (given("sliding_window") && (uses_window == nullptr || *uses_window == Json(true))) {
    warnings.emplace_back("sliding_window is left out: attention counts all tokens of a sample");
  }
  return warnings;
}

} // namespace

bool is_model_config(const Json& json) {
  return json.is_object() && json.find("kind") == nullptr && json.find("layers") == nullptr &&
         (json.find("model_type") != nullptr || json.find("architectures") != nullptr);
}

layers::ModelTable parse_model_config(const Json& json, const std::string& name) {
  Problems problems;
  const Json decoder = decoder_part(json);
  std::vector<std::string_view> unread;
  const DecoderConfig config = read_decoder_config(decoder, problems, unread);
  problems.throw_if_any();
  TableBuilder builder(config);
  add_layers(builder, config);
  if (builder.too_large()) {
    problems.add(json, "more than 2^53 parameters or multiply-accumulates");
    problems.throw_if_any();
  }
  layers::ModelTable table;
  table.name = name;
  table.family = config.type.empty() ? "decoder" : config.type;
  table.source = "config.json of " + name;
  table.sequence = layers::SequenceInput{config.tokens, config.positions, true};
  table.layers = builder.take();
  table.warnings = warnings_of(json, decoder, config, unread);
  return table;
}

std::string config_name(const Json& json) {
  const std::string name = stem_of(json.file());
  const std::string type = json.text("model_type");
  return name == "config" && !type.empty() ? type : name;
}

} // namespace stepsim::io
