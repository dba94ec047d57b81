// Activation bytes of blocks against equations written out here from the shapes of the networks.
#include "layers/activations.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "layers/optimizer_state.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim::layers;
using stepsim::testing::within;

namespace {

constexpr std::int64_t kLength = 64;

ModelLayer linear(const std::string& name, std::int64_t in, std::int64_t out) {
  return {.name = name,
          .kind = "linear",
          .macs = in * out * kLength,
          .scaling = MacScaling::tokens,
          .execution_index = {},
          .tensors = {{"weight", {out, in}}}};
}
ModelLayer norm(const std::string& name, const std::string& kind, std::int64_t width) {
  ModelLayer layer;
  layer.name = name;
  layer.kind = kind;
  layer.tensors = {{"weight", {width}}};
  return layer;
}
ModelLayer scores(const std::string& name, std::int64_t width, std::int64_t heads) {
  return {.name = name,
          .kind = "attention",
          .macs = 2 * kLength * kLength * width,
          .scaling = MacScaling::tokens2,
          .execution_index = {},
          .tensors = {},
          .heads = heads};
}

// Two blocks of GPT of width 32 with 4 heads, and the norm behind them.
ModelTable gpt() {
  ModelTable table;
  table.sequence = SequenceInput{kLength, kLength, true};
  for (const std::string& block : {std::string("h.0."), std::string("h.1.")}) {
    table.layers.push_back(norm(block + "ln_1", "layernorm", 32));
    table.layers.push_back(linear(block + "attn.c_attn", 32, 96));
    table.layers.push_back(scores(block + "attn.scores", 32, 4));
    table.layers.push_back(linear(block + "attn.c_proj", 32, 32));
    table.layers.push_back(norm(block + "ln_2", "layernorm", 32));
    table.layers.push_back(linear(block + "mlp.c_fc", 32, 128));
    table.layers.push_back(linear(block + "mlp.c_proj", 128, 32));
  }
  table.layers.push_back(norm("ln_f", "layernorm", 32));
  return table;
}

double kept(const std::vector<LayerActivations>& layers, std::size_t from, std::size_t to) {
  double sum = 0;
  for (std::size_t l = from; l < to; ++l) {
    sum += layers[l].kept;
  }
  return sum;
}

constexpr double kTokens = 3.0 * kLength; // of a micro-batch of 3

} // namespace

TEST_CASE("activations: a block of GPT keeps s b h (34 + 5 a s / h)") {
  const auto plain = layer_activations(gpt(), {.samples = 3, .attention = Attention::plain});
  const double s = kLength;
  const double block = kTokens * 32 * (34 + 5 * 4 * s / 32);
  CHECK(kept(plain, 0, 7) == within(block, 1e-12));
  CHECK(kept(plain, 7, 14) == within(block, 1e-12));
  const auto flash = layer_activations(gpt(), {.samples = 3});
  CHECK(kept(flash, 0, 7) == within(kTokens * (32 * 34 + 4 * 4), 1e-12));
}

TEST_CASE("activations: recomputation of attention and of blocks") {
  const auto plain = layer_activations(gpt(), {.samples = 3, .attention = Attention::plain});
  const double s = kLength;
  const auto selective = recomputed(plain, Recompute::selective, {});
  CHECK(kept(selective, 0, 7) == within(kTokens * 32 * 34, 1e-12));
  CHECK(selective[2].again == within(5 * 4 * s * kTokens, 1e-12));
  const auto full = recomputed(plain, Recompute::full, {0, 7, 14});
  CHECK(kept(full, 0, 7) == within(kTokens * 32 * 2, 1e-12));
  // The second block is whole while its backward runs, beside the inputs of both and of the norm.
  const StepPeak peak = step_peak(full, std::vector<double>(15));
  CHECK(peak.activations == within(kTokens * 32 * 2 + kTokens * 32 * (34 + 5 * 4 * s / 32), 1e-12));
}

TEST_CASE("activations: recomputation of every second product keeps attention and the others") {
  const auto made =
      recomputed(layer_activations(gpt(), {.samples = 3}), Recompute::selective_op, {0, 7, 14});
  // The input of 32, products 1 and 3 of 96 and 128, and attention of 32 and sums of 4 heads.
  const double block = kTokens * (2 * (32 + 96 + 128 + 32) + 4 * 4);
  CHECK(kept(made, 0, 7) == within(block, 1e-12));
  CHECK(kept(made, 7, 14) == within(block, 1e-12));
  // 34 bytes of width 32 and the sums of attention, less those.
  CHECK(made[3].again == within(kTokens * (34 * 32 + 4 * 4) - block, 1e-12));
}

TEST_CASE("activations: autocast keeps norms and softmaxes in 4 bytes") {
  const auto kept_by = [](Attention attention, bool autocast) {
    return kept(
        layer_activations(gpt(), {.samples = 3, .attention = attention, .autocast = autocast}), 0,
        7);
  };
  // Two norms of width 32; scores of 4 heads and 64 positions.
  CHECK(kept_by(Attention::flash, true) - kept_by(Attention::flash, false) ==
        within(kTokens * 2 * 2 * 32, 1e-12));
  CHECK(kept_by(Attention::plain, true) - kept_by(Attention::plain, false) ==
        within(kTokens * (2 * 2 * 32 + 2 * 4 * kLength), 1e-12));
}

TEST_CASE("activations: composed kernels keep the copies on their way") {
  const auto kept_by = [](Kernels kernels, bool autocast) {
    return kept(layer_activations(gpt(), {.samples = 3, .kernels = kernels, .autocast = autocast}),
                0, 7);
  };
  // Two norms of width 32 thrice, and an activation of width 128 with two further outputs.
  CHECK(kept_by(Kernels::composed, false) - kept_by(Kernels::fused, false) ==
        within(kTokens * 2 * (2 * 2 * 32 + 2 * 128), 1e-12));
  CHECK(kept_by(Kernels::composed, true) - kept_by(Kernels::fused, true) ==
        within(kTokens * (4 * 2 * 2 * 32 + 2 * 2 * 128), 1e-12));
}

TEST_CASE("activations: masks of TensorFlow's dropout are as wide as its values") {
  const auto kept_by = [](Kernels kernels) {
    return kept(
        layer_activations(gpt(), {.samples = 3, .attention = Attention::plain, .kernels = kernels}),
        0, 7);
  };
  // Two masks of width 32 and one of the scores, each a byte wider.
  CHECK(kept_by(Kernels::tensorflow) - kept_by(Kernels::composed) ==
        within(kTokens * (2 * 32 + 4 * kLength), 1e-12));
}

TEST_CASE("activations: a gated block with fewer keys than queries has no dropout") {
  ModelTable table;
  table.sequence = SequenceInput{kLength, kLength, true};
  table.layers = {norm("layers.0.input_norm", "rmsnorm", 32),
                  linear("layers.0.attn.q_proj", 32, 32),
                  linear("layers.0.attn.k_proj", 32, 8),
                  linear("layers.0.attn.v_proj", 32, 8),
                  scores("layers.0.attn.scores", 32, 4),
                  linear("layers.0.attn.o_proj", 32, 32),
                  norm("layers.0.post_norm", "rmsnorm", 32),
                  linear("layers.0.mlp.gate_proj", 32, 100),
                  linear("layers.0.mlp.up_proj", 32, 100),
                  linear("layers.0.mlp.down_proj", 100, 32),
                  norm("norm", "rmsnorm", 32)};
  const auto composed = layer_activations(table, {.samples = 3, .kernels = Kernels::composed});
  // Two RMS norms keep 4 bytes more of width 32; gated activations are as they were.
  CHECK(kept(composed, 0, 10) - kept(layer_activations(table, {.samples = 3}), 0, 10) ==
        within(kTokens * 4 * 2 * 32, 1e-12));
  // Norms read 2 x 32, products their inputs 32, 32, 32 and 100; queries, keys and values are 48,
  // gate, up and the activated gate 300.
  const auto layers = layer_activations(table, {.samples = 3});
  CHECK(kept(layers, 0, 10) ==
        within(kTokens * (2 * (2 * 32 + 32 + 32 + 32 + 100 + 48 + 300) + 4 * 4), 1e-12));
  CHECK(layers[2].kept == within(kTokens * 2 * 8, 1e-12)); // its input is counted with q_proj
}

TEST_CASE("activations: the head keeps log-softmax, convolutions their inputs") {
  ModelTable table;
  table.sequence = SequenceInput{kLength, kLength, true};
  table.layers = {norm("wte", "embedding", 1000), linear("lm_head", 32, 1000)};
  table.layers[0].tensors = {{"weight", {1000, 32}}};
  const auto head = layer_activations(table, {.samples = 3});
  CHECK(head[1].kept == within(kTokens * (2 * 32 + 4 * 1000), 1e-12));
  CHECK(head[1].again == within(kTokens * 8 * 1000, 1e-12));
  CHECK(has_output_head(table));
  const auto compiled = layer_activations(table, {.samples = 3, .loss = Loss::compiled});
  CHECK(compiled[1].kept == within(kTokens * (2 * 32 + 2 * 1000), 1e-12));
  CHECK(compiled[1].again == within(kTokens * 2 * 1000, 1e-12));
  const auto chunked = layer_activations(table, {.samples = 3, .loss = Loss::chunked});
  CHECK(chunked[1].kept == within(kTokens * 2 * 32, 1e-12));
  CHECK(chunked[1].again == within(kTokens * 12 * 1000 / 8, 1e-12));
  ModelTable image;
  image.image = ImageInput{3, 8, 8};
  image.layers = {norm("conv", "conv", 16), norm("bn", "batchnorm", 16)};
  image.layers[0].macs = 64 * 27 * 16; // 16 channels of 8 x 8
  image.layers[0].tensors = {{"weight", {16, 3, 3, 3}}};
  const auto conv = layer_activations(image, {.samples = 5, .value_bytes = 4});
  CHECK(conv[0].kept == 4 * 5 * 3 * 64);
  CHECK(conv[1].kept == 4 * 5 * 16 * 64);
  // Joined inputs have more channels than the convolution before made; an activation follows a
  // group norm that a convolution reads.
  image.layers = {image.layers[0], norm("gn", "groupnorm", 24), norm("up", "conv", 8)};
  image.layers[2].macs = 64 * 9 * 24 * 8;
  image.layers[2].tensors = {{"weight", {8, 24, 3, 3}}};
  const auto joined = layer_activations(image, {.samples = 5, .value_bytes = 4});
  CHECK(joined[1].kept == 2 * 4 * 5 * 24 * 64);
  CHECK(joined[2].kept == 4 * 5 * 24 * 64);
}

TEST_CASE("activations: attention to a text keeps sums of its queries") {
  ModelTable table;
  table.image = ImageInput{4, 8, 8};
  const auto product = [](const std::string& name, std::int64_t in, std::int64_t rows) {
    ModelLayer layer = linear(name, in, 32);
    layer.macs = in * 32 * rows;
    return layer;
  };
  table.layers = {norm("norm2", "layernorm", 32), product("attn2.to_q", 32, 64),
                  product("attn2.to_k", 16, 7),   product("attn2.to_v", 16, 7),
                  scores("attn2.scores", 32, 4),  product("attn2.to_out.0", 32, 64)};
  table.layers[4].macs = 2 * 64 * 7 * 32;
  const auto layers = layer_activations(table, {.samples = 3});
  CHECK(layers[4].kept == 3 * 64 * 4 * 4);
  CHECK(layers[5].kept == 3 * 64 * 2 * 32);
}

TEST_CASE("activations: gradients come while activations go") {
  const std::vector<LayerActivations> layers{{.kept = 10}, {.kept = 4, .again = 3}};
  const StepPeak early = step_peak(layers, {1, 1}); // 14 + 3 + 1 before 10 + 2
  CHECK(early.activations == 17);
  CHECK(early.gradients == 1);
  const StepPeak late = step_peak(layers, {20, 1}); // 10 + 1 + 20 at the end
  CHECK(late.activations == 10);
  CHECK(late.gradients == 21);
}

TEST_CASE("optimizer: bytes of the state by its algorithm") {
  Workload workload;
  Gradient matrix;
  matrix.bytes = {4000};
  matrix.elements = 1000;
  matrix.shapes = {{20, 50}};
  Gradient bias;
  bias.bytes = {80};
  bias.elements = 20;
  bias.shapes = {{20, 1}};
  workload.gradients.edit() = {matrix, bias};
  CHECK(optimizer_bytes_per_parameter(Optimizer::adam, workload) == 8);
  CHECK(optimizer_bytes_per_parameter(Optimizer::momentum, workload) == 4);
  CHECK(optimizer_bytes_per_parameter(Optimizer::sgd, workload) == 0);
  CHECK(optimizer_bytes_per_parameter(Optimizer::adam_8bit, workload) == 2 + 8.0 / 256);
  CHECK(optimizer_bytes_per_parameter(Optimizer::adafactor, workload) ==
        within(4.0 * (20 + 50 + 20) / 1020, 1e-12));
}
