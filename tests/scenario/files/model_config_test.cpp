// The configuration of a Hugging Face model as a model table (INP 2.2).
#include "scenario/files/trace_file.hpp"

#include <doctest/doctest.h>

#include <map>

#include "document/json_text.hpp"
#include "document/problem_text.hpp"
#include "testing/paths.hpp"

using namespace stepsim;
using namespace stepsim::io;

namespace {

// The fields that count, as the published configurations have them.
const std::map<std::string, std::string> kConfigs{
    {"llama2_7b", R"({"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32,
      "num_attention_heads": 32, "num_key_value_heads": 32, "intermediate_size": 11008,
      "vocab_size": 32000, "max_position_embeddings": 4096, "tie_word_embeddings": false})"},
    {"llama2_13b", R"({"model_type": "llama", "hidden_size": 5120, "num_hidden_layers": 40,
      "num_attention_heads": 40, "intermediate_size": 13824, "vocab_size": 32000,
      "max_position_embeddings": 4096, "num_key_value_heads": null})"},
    {"llama2_70b", R"({"model_type": "llama", "hidden_size": 8192, "num_hidden_layers": 80,
      "num_attention_heads": 64, "num_key_value_heads": 8, "intermediate_size": 28672,
      "vocab_size": 32000, "max_position_embeddings": 4096})"},
    {"llama3_8b", R"({"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32,
      "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336,
      "vocab_size": 128256, "max_position_embeddings": 8192, "attention_bias": false})"},
    {"llama3_70b", R"({"model_type": "llama", "hidden_size": 8192, "num_hidden_layers": 80,
      "num_attention_heads": 64, "num_key_value_heads": 8, "intermediate_size": 28672,
      "vocab_size": 128256, "max_position_embeddings": 8192})"},
    {"llama3_1_405b", R"({"model_type": "llama", "hidden_size": 16384, "num_hidden_layers": 126,
      "num_attention_heads": 128, "num_key_value_heads": 8, "intermediate_size": 53248,
      "vocab_size": 128256, "max_position_embeddings": 131072})"},
    {"mistral_7b", R"({"model_type": "mistral", "hidden_size": 4096, "num_hidden_layers": 32,
      "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336,
      "vocab_size": 32000, "max_position_embeddings": 32768, "sliding_window": 4096})"},
    {"qwen2_5_7b", R"({"model_type": "qwen2", "hidden_size": 3584, "num_hidden_layers": 28,
      "num_attention_heads": 28, "num_key_value_heads": 4, "intermediate_size": 18944,
      "vocab_size": 152064, "max_position_embeddings": 131072, "use_sliding_window": false,
      "sliding_window": 131072, "tie_word_embeddings": false})"},
    {"qwen2_5_0_5b", R"({"model_type": "qwen2", "hidden_size": 896, "num_hidden_layers": 24,
      "num_attention_heads": 14, "num_key_value_heads": 2, "intermediate_size": 4864,
      "vocab_size": 151936, "max_position_embeddings": 32768, "tie_word_embeddings": true})"},
    {"qwen3_8b", R"({"model_type": "qwen3", "hidden_size": 4096, "num_hidden_layers": 36,
      "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128,
      "intermediate_size": 12288, "vocab_size": 151936, "max_position_embeddings": 40960,
      "attention_bias": false})"},
    {"llama3_2_1b", R"({"model_type": "llama", "hidden_size": 2048, "num_hidden_layers": 16,
      "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 8192,
      "vocab_size": 128256, "max_position_embeddings": 131072, "tie_word_embeddings": true})"},
    {"llama3_2_3b", R"({"model_type": "llama", "hidden_size": 3072, "num_hidden_layers": 28,
      "num_attention_heads": 24, "num_key_value_heads": 8, "intermediate_size": 8192,
      "vocab_size": 128256, "max_position_embeddings": 131072, "tie_word_embeddings": true})"},
    {"mistral_small_24b", R"({"model_type": "mistral", "hidden_size": 5120,
      "num_hidden_layers": 40, "num_attention_heads": 32, "num_key_value_heads": 8,
      "head_dim": 128, "intermediate_size": 32768, "vocab_size": 131072,
      "max_position_embeddings": 32768, "sliding_window": null})"},
    {"qwen3_0_6b", R"({"model_type": "qwen3", "hidden_size": 1024, "num_hidden_layers": 28,
      "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 128,
      "intermediate_size": 3072, "vocab_size": 151936, "max_position_embeddings": 40960,
      "tie_word_embeddings": true})"},
    {"qwen3_4b", R"({"model_type": "qwen3", "hidden_size": 2560, "num_hidden_layers": 36,
      "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128,
      "intermediate_size": 9728, "vocab_size": 151936, "max_position_embeddings": 40960,
      "tie_word_embeddings": true})"},
    {"qwen3_14b", R"({"model_type": "qwen3", "hidden_size": 5120, "num_hidden_layers": 40,
      "num_attention_heads": 40, "num_key_value_heads": 8, "head_dim": 128,
      "intermediate_size": 17408, "vocab_size": 151936, "max_position_embeddings": 40960})"},
    {"qwen3_32b", R"({"model_type": "qwen3", "hidden_size": 5120, "num_hidden_layers": 64,
      "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 128,
      "intermediate_size": 25600, "vocab_size": 151936, "max_position_embeddings": 40960})"},
    {"mixtral_8x7b", R"({"model_type": "mixtral", "hidden_size": 4096, "num_hidden_layers": 32,
      "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336,
      "vocab_size": 32000, "num_local_experts": 8, "num_experts_per_tok": 2,
      "max_position_embeddings": 32768})"},
    {"mixtral_8x22b", R"({"model_type": "mixtral", "hidden_size": 6144, "num_hidden_layers": 56,
      "num_attention_heads": 48, "num_key_value_heads": 8, "intermediate_size": 16384,
      "vocab_size": 32768, "num_local_experts": 8, "num_experts_per_tok": 2,
      "max_position_embeddings": 65536})"},
    {"qwen3_30b_a3b", R"({"model_type": "qwen3_moe", "hidden_size": 2048, "num_hidden_layers": 48,
      "num_attention_heads": 32, "num_key_value_heads": 4, "head_dim": 128,
      "intermediate_size": 6144, "moe_intermediate_size": 768, "num_experts": 128,
      "num_experts_per_tok": 8, "vocab_size": 151936, "decoder_sparse_step": 1,
      "mlp_only_layers": []})"},
    {"qwen3_235b_a22b", R"({"model_type": "qwen3_moe", "hidden_size": 4096,
      "num_hidden_layers": 94, "num_attention_heads": 64, "num_key_value_heads": 4,
      "head_dim": 128, "intermediate_size": 12288, "moe_intermediate_size": 1536,
      "num_experts": 128, "num_experts_per_tok": 8, "vocab_size": 151936})"},
    {"deepseek_v3", R"({"model_type": "deepseek_v3", "hidden_size": 7168, "num_hidden_layers": 61,
      "num_attention_heads": 128, "num_key_value_heads": 128, "intermediate_size": 18432,
      "moe_intermediate_size": 2048, "n_routed_experts": 256, "n_shared_experts": 1,
      "num_experts_per_tok": 8, "first_k_dense_replace": 3, "moe_layer_freq": 1,
      "kv_lora_rank": 512, "q_lora_rank": 1536, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
      "v_head_dim": 128, "topk_method": "noaux_tc", "vocab_size": 129280,
      "num_nextn_predict_layers": 1, "max_position_embeddings": 163840})"}};

layers::ModelTable table(const std::string& name) {
  return parse_model_config(parse_json(kConfigs.at(name), "config.json"), name);
}

// The configuration of Llama 2 7B with `from` replaced.
std::string changed(std::string_view from, std::string_view to) {
  std::string text = kConfigs.at("llama2_7b");
  text.replace(text.find(from), from.size(), to);
  return text;
}
layers::ModelTable of(const std::string& text) {
  return parse_model_config(parse_json(text, "config.json"), "test");
}
std::string problems(const std::string& text) {
  return problem_text(text, [](const Json& json) { return parse_model_config(json, "test"); });
}

const layers::ModelLayer& layer(const layers::ModelTable& table, std::string_view name) {
  for (const layers::ModelLayer& each : table.layers) {
    if (each.name == name) {
      return each;
    }
  }
  FAIL("no layer " << name);
  return table.layers.front();
}

} // namespace

TEST_CASE("config: parameters, and those that a token uses, of published models") {
  struct Row {
    const char* name;
    std::int64_t parameters, active; // active 0: all
  };
  for (const Row& row : {Row{"llama2_7b", 6'738'415'616, 0},
                         Row{"llama2_13b", 13'015'864'320, 0},
                         Row{"llama2_70b", 68'976'648'192, 0},
                         Row{"llama3_8b", 8'030'261'248, 0},
                         Row{"llama3_70b", 70'553'706'496, 0},
                         Row{"llama3_1_405b", 405'853'388'800, 0},
                         Row{"mistral_7b", 7'241'732'096, 0},
                         Row{"qwen2_5_7b", 7'615'616'512, 0},
                         Row{"qwen2_5_0_5b", 494'032'768, 0},
                         Row{"qwen3_8b", 8'190'735'360, 0},
                         Row{"llama3_2_1b", 1'235'814'400, 0},
                         Row{"llama3_2_3b", 3'212'749'824, 0},
                         Row{"mistral_small_24b", 23'572'403'200, 0},
                         Row{"qwen3_0_6b", 596'049'920, 0},
                         Row{"qwen3_4b", 4'022'468'096, 0},
                         Row{"qwen3_14b", 14'768'307'200, 0},
                         Row{"qwen3_32b", 32'762'123'264, 0},
                         Row{"mixtral_8x7b", 46'702'792'704, 12'879'925'248},
                         Row{"mixtral_8x22b", 140'630'071'296, 39'161'468'928},
                         Row{"qwen3_30b_a3b", 30'532'122'624, 3'353'032'704},
                         Row{"qwen3_235b_a22b", 235'093'634'560, 22'190'763'520},
                         Row{"deepseek_v3", 671'026'419'200, 37'552'297'472}}) {
    CAPTURE(row.name);
    const layers::ModelTable made = table(row.name);
    CHECK(made.elements() == row.parameters);
    CHECK(made.active_elements() == (row.active > 0 ? row.active : row.parameters));
  }
  CHECK(kConfigs.size() == 22);
}

TEST_CASE("config: shipped tables have the layers of their configurations") {
  for (const auto& [name, text] : kConfigs) {
    if (table(name).active_elements() != table(name).elements()) {
      continue; // experts: not shipped
    }
    CAPTURE(name);
    const Json shipped = read_json(STEPSIM_SOURCE_DIR "/models/" + name + ".json");
    const Json made = to_json(table(name));
    for (const char* key : {"family", "input", "totals", "layers"}) {
      CHECK(compact(*made.find(key)) == compact(*shipped.find(key)));
    }
  }
}

TEST_CASE("config: multiply-accumulates of a token are the weights used and attention") {
  for (const char* name : {"llama3_8b", "deepseek_v3", "mixtral_8x7b"}) {
    CAPTURE(name);
    const layers::ModelTable made = table(name);
    const std::int64_t tokens = made.sequence->sequence_length;
    std::int64_t weights = 0, attention = 0;
    for (const layers::ModelLayer& each : made.layers) {
      (each.kind == "attention" ? attention : weights) += each.macs;
    }
    // Norms, the embedding and the bias of routers multiply nothing.
    std::int64_t idle = 0;
    for (const layers::ModelLayer& each : made.layers) {
      for (const layers::ModelTensor& tensor : each.tensors) {
        idle += each.macs == 0 || tensor.shape.size() == 1 ? tensor.elements() : 0;
      }
    }
    CHECK(weights == tokens * (made.active_elements() - idle));
    // 2 S a d of a token and block: scores of 192, values of 128 in DeepSeek V3.
    const std::string model = name;
    const std::int64_t blocks = model == "deepseek_v3" ? 61 : 32;
    const std::int64_t widths = model == "deepseek_v3" ? 128 * (192 + 128) : 2 * 4096;
    CHECK(attention == blocks * tokens * tokens * widths);
  }
}

TEST_CASE("config: blocks without experts") {
  const layers::ModelTable deepseek = table("deepseek_v3");
  CHECK(layer(deepseek, "model.layers.2.mlp.up_proj").tensors[0].shape[0] == 18432);
  CHECK(layer(deepseek, "model.layers.3.mlp.experts").tensors[0].shape ==
        std::vector<std::int64_t>{256, 2048, 7168});
  CHECK(layer(deepseek, "model.layers.3.mlp.gate").tensors.size() == 2);
  const std::string moe = R"("hidden_size": 4096, "num_experts": 4, "num_experts_per_tok": 1,
      "moe_intermediate_size": 64)";
  const auto dense = [&](const std::string& rest) {
    const layers::ModelTable made = of(changed(R"("hidden_size": 4096)", moe + rest));
    std::string blocks;
    for (const layers::ModelLayer& each : made.layers) {
      if (each.name.ends_with("mlp.experts") && blocks.size() < 5) {
        blocks += each.name.substr(13, each.name.find('.', 13) - 13) + " ";
      }
    }
    return blocks;
  };
  CHECK(dense("") == "0 1 2 ");
  CHECK(dense(R"(, "decoder_sparse_step": 2)") == "1 3 5 ");
  CHECK(dense(R"(, "mlp_only_layers": [0, 2])") == "1 3 4 ");
  CHECK(dense(R"(, "first_k_dense_replace": 5)") == "5 6 7 ");
}

TEST_CASE("config: Gemma shares its embedding; what has no gated MLP is refused") {
  const std::string gemma = R"({"model_type": "gemma", "hidden_size": 2048, "num_hidden_layers": 18,
      "num_attention_heads": 8, "num_key_value_heads": 1, "head_dim": 256, "hidden_act": "gelu",
      "intermediate_size": 16384, "vocab_size": 256000, "rms_norm_eps": 1e-06)";
  CHECK(of(gemma + "}").elements() == 2'506'172'416);
  CHECK(of(gemma + R"(, "tie_word_embeddings": false})").elements() ==
        2'506'172'416 + 256'000 * 2048);
  CHECK(problems(R"({"model_type": "bert", "hidden_size": 1024, "num_hidden_layers": 24,
      "num_attention_heads": 16, "hidden_act": "gelu", "intermediate_size": 4096,
      "vocab_size": 30522, "layer_norm_eps": 1e-12})") ==
        "f.json: /hidden_act: gelu without rms_norm_eps is no decoder with gated MLP and RMS "
        "norms; give a "
        "model table (bert_base or bert_large)\n");
}

TEST_CASE("config: biases, gates and norms by model_type") {
  const layers::ModelTable qwen = table("qwen2_5_7b");
  CHECK(layer(qwen, "model.layers.0.self_attn.q_proj").tensors.size() == 2);
  CHECK(layer(qwen, "model.layers.0.self_attn.o_proj").tensors.size() == 1);
  const layers::ModelTable biased =
      of(changed(R"("model_type": "llama")",
                 R"("model_type": "llama", "attention_bias": true, "mlp_bias": true)"));
  CHECK(layer(biased, "model.layers.0.self_attn.o_proj").tensors.size() == 2);
  CHECK(layer(biased, "model.layers.0.mlp.up_proj").tensors.size() == 2);
  CHECK(layer(table("qwen3_8b"), "model.layers.0.self_attn.q_norm").tensors[0].shape ==
        std::vector<std::int64_t>{128});
  const layers::ModelTable shared =
      of(changed(R"("model_type": "llama")",
                 R"("model_type": "qwen2_moe", "num_experts": 4, "num_experts_per_tok": 2,
         "moe_intermediate_size": 64, "shared_expert_intermediate_size": 128)"));
  CHECK(layer(shared, "model.layers.0.mlp.shared_experts.up_proj").tensors[0].shape[0] == 128);
  CHECK(layer(shared, "model.layers.0.mlp.shared_expert_gate").tensors[0].elements() == 4096);
}

TEST_CASE("config: every missing field is named, and values out of range") {
  for (const std::string key : {"hidden_size", "num_hidden_layers", "num_attention_heads",
                                "intermediate_size", "vocab_size"}) {
    CAPTURE(key);
    CHECK(problems(changed("\"" + key + "\"", "\"_" + key + "\"")).find("/" + key + ": required") !=
          std::string::npos);
  }
  CHECK(problems(changed("4096,", "0,")).find("in [1, 16777216], got 0") != std::string::npos);
  CHECK(problems(changed("4096,", "\"wide\",")).find("/hidden_size: ") != std::string::npos);
  CHECK(problems(changed("4096,", "4097,")).find("/hidden_size: does not divide into ") !=
        std::string::npos);
  CHECK(problems(changed("4096,", "4096, \"num_experts\": 8,"))
            .find("/num_experts_per_tok: required") != std::string::npos);
  CHECK(problems(changed("4096,", "4096, \"kv_lora_rank\": 8,")).find("/v_head_dim: required") !=
        std::string::npos);
  CHECK(problems(changed("\"hidden_size\": 4096", "\"hidden_size\": 16777216"))
            .find("more than 2^53") != std::string::npos);
}

TEST_CASE("config: warnings of what is not known or left out") {
  CHECK(table("llama2_7b").warnings.empty());
  CHECK(of(changed("\"llama\"", "\"gemma\"")).warnings ==
        std::vector<std::string>{
            "model_type gemma is not known: counted as a decoder with gated MLP and RMS norms"});
  CHECK(table("deepseek_v3").warnings.size() == 1);
  CHECK(table("mistral_7b").warnings.size() == 1);
  CHECK(table("qwen2_5_7b").warnings.empty()); // its window is not used
}

TEST_CASE("config: told from a model table, and named by its file") {
  const Json json = parse_json(kConfigs.at("llama2_7b"), "some/config.json");
  CHECK(is_model_config(json));
  CHECK(config_name(json) == "llama");
  CHECK(config_name(parse_json("{}", "some/llama-7b.json")) == "llama-7b");
  CHECK(parse_model_or_config(json).elements() == 6'738'415'616);
  CHECK_FALSE(is_model_config(read_json(STEPSIM_SOURCE_DIR "/models/gpt2.json")));
}
