// Computing times estimated for a GPU (INP 3).
#include "layers/gpu_table.hpp"
#include "layers/workload.hpp"
#include "testing/tolerance.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

using namespace stepsim;
using namespace stepsim::layers;
using namespace stepsim::programs;
using stepsim::testing::within;

namespace {

// A model of the benchmark that the constants were fitted to: width h, L blocks, tied head.
struct Shape {
  std::int64_t h, blocks, vocabulary, length;
};
constexpr Shape kSevenB{4096, 32, 50368, 2048};

ModelLayer made(std::string name, std::string kind, std::int64_t macs, MacScaling scaling,
                std::vector<ModelTensor> tensors) {
  ModelLayer layer;
  layer.name = std::move(name);
  layer.kind = std::move(kind);
  layer.macs = macs;
  layer.scaling = scaling;
  layer.tensors = std::move(tensors);
  return layer;
}

ModelTable mpt(const Shape& shape) {
  const auto [h, blocks, vocabulary, length] = shape;
  ModelTable table;
  table.name = "mpt";
  table.sequence = SequenceInput{length, 0, true};
  const auto norm = [&, width = h](const std::string& name) {
    table.layers.push_back(
        made(name, "layernorm", 0, MacScaling::sample, {{"weight", {width}}, {"bias", {width}}}));
  };
  const auto linear = [&, tokens = length](const std::string& name, std::int64_t in,
                                           std::int64_t out) {
    table.layers.push_back(made(name, "linear", in * out * tokens, MacScaling::tokens,
                                {{"weight", {out, in}}, {"bias", {out}}}));
  };
  table.layers.push_back(
      made("wte", "embedding", 0, MacScaling::sample, {{"weight", {vocabulary, h}}}));
  table.layers.push_back(
      made("wpe", "embedding", 0, MacScaling::sample, {{"weight", {length, h}}}));
  for (std::int64_t block = 0; block < blocks; ++block) {
    const std::string name = "h." + std::to_string(block) + ".";
    norm(name + "ln_1");
    linear(name + "c_attn", h, 3 * h);
    table.layers.push_back(
        made(name + "scores", "attention", 2 * length * length * h, MacScaling::tokens2, {}));
    linear(name + "c_proj", h, h);
    norm(name + "ln_2");
    linear(name + "c_fc", h, 4 * h);
    linear(name + "c_mlp", 4 * h, h);
  }
  norm("ln_f");
  table.layers.push_back(
      made("lm_head", "tied_decoder", vocabulary * h * length, MacScaling::tokens, {}));
  return table;
}

GpuEstimate on(std::string_view gpu, Recompute recompute = Recompute::none) {
  GpuEstimate estimate;
  estimate.gpu = find_gpu(gpu);
  estimate.precision = estimate.gpu->usual_precision();
  estimate.recompute = recompute;
  return estimate;
}

double sum(const std::vector<Seconds>& times) {
  return std::accumulate(times.begin(), times.end(), Seconds{}).value;
}

// Of a micro-batch, with the update of one of `shards` divided by the accumulation.
double micro_batch(const EstimatedTimes& times, double shards, double accumulation) {
  return sum(times.forward) + sum(times.backward) + times.update.value / shards / accumulation;
}

double product(double m, double n, double k, double rate, double memory) {
  return std::max(2 * m * n * k / rate, 2 * (m * k + k * n + m * n) / memory);
}

} // namespace

TEST_CASE("estimate: the three micro-batches of a 7B model that the specification gives") {
  const ModelTable table = mpt(kSevenB);
  CHECK(table.elements() == 6'658'859'008);
  CHECK(micro_batch(estimated_times(table, 6, on("a100-80")), 8, 2) == within(2.51432943, 1e-6));
  CHECK(micro_batch(estimated_times(table, 12, on("a100-40", Recompute::full)), 8, 4) ==
        within(6.81952986, 1e-6));
  CHECK(micro_batch(estimated_times(table, 6, on("h100")), 8, 1) == within(1.03195949, 1e-6));
}

TEST_CASE("estimate: every GPU by its row, one layer of each kind by its formula") {
  struct Row {
    std::string_view gpu;
    double peak, memory, m, g, a, k, low, high;
  };
  const ModelTable table = mpt({512, 1, 1000, 128});
  const double b = 4, s = 128, h = 512, v = 1000, t = b * s;
  for (const Row& row : {Row{"v100", 125e12, 0.90e12, 0.80, 0.92, 0.30, 56, 0.6, 1.6},
                         Row{"a100-40", 312e12, 1.555e12, 0.869, 0.92, 0.39, 48, 0.87, 1.13},
                         Row{"a100-80", 312e12, 2.039e12, 0.869, 0.92, 0.39, 48, 0.87, 1.13},
                         Row{"h100", 989e12, 3.35e12, 0.803, 0.98, 0.21, 64, 0.80, 1.25},
                         Row{"h200", 989e12, 4.80e12, 0.803, 0.98, 0.21, 64, 0.80, 1.25},
                         Row{"b200", 2250e12, 8.00e12, 0.776, 0.92, 0.30, 56, 0.6, 1.6},
                         Row{"b300", 2250e12, 8.00e12, 0.786, 0.92, 0.30, 56, 0.6, 1.6},
                         Row{"mi250", 362e12, 3.28e12, 0.50, 0.92, 0.30, 56, 0.6, 1.6},
                         Row{"mi250-gcd", 181e12, 1.64e12, 0.50, 0.92, 0.30, 56, 0.6, 1.6},
                         Row{"mi300x", 1300e12, 5.30e12, 0.514, 0.92, 0.30, 56, 0.6, 1.6},
                         Row{"l40s", 362e12, 0.864e12, 0.80, 0.92, 0.30, 56, 0.6, 1.6},
                         Row{"rtx4090", 165e12, 1.008e12, 0.80, 0.92, 0.30, 56, 0.6, 1.6}}) {
    CAPTURE(row.gpu);
    const EstimatedTimes times = estimated_times(table, 4, on(row.gpu));
    const double rate = row.peak * row.m * row.g;
    const double memory = 0.8 * row.memory;
    const double attention = 2 * b * s * s * h / (row.peak * row.m * row.a);
    const double elementwise = t * h * 2 * row.k / memory;
    const double attn_casts = 8 * (3 * h * h + 3 * h) / memory;
    CHECK(times.forward[3].value == within(product(t, 3 * h, h, rate, memory) + attn_casts, 1e-12));
    CHECK(times.backward[3].value == within(2 * product(t, 3 * h, h, rate, memory), 1e-12));
    CHECK(times.forward[4].value == within(attention + elementwise, 1e-12));
    CHECK(times.backward[4].value == within(2.5 * attention + 2 * elementwise, 1e-12));
    CHECK(times.forward.back().value ==
          within(product(t, v, h, rate, memory) + 16 * t * v / memory, 1e-12));
    CHECK(times.update.value == within(30 * static_cast<double>(table.elements()) / memory, 1e-12));
    CHECK(times.interval.low == row.low);
    CHECK(times.interval.high == row.high);
    CHECK(times.interval.validated == (row.low > 0.6));
  }
  CHECK(gpus().size() == 12);
  CHECK(gpu_words().size() == 12);
  CHECK(find_gpu("k80") == nullptr);
}

TEST_CASE("estimate: fp8 doubles the peak of products and takes 0.9 of the fraction") {
  const ModelTable table = mpt({8192, 1, 32000, 2048});
  GpuEstimate fp8 = on("h100");
  fp8.precision = Precision::fp8;
  const EstimatedTimes half = estimated_times(table, 4, on("h100"));
  const EstimatedTimes quarter = estimated_times(table, 4, fp8);
  // The product of c_attn is bound by arithmetic; backward is free of casts.
  CHECK(quarter.backward[3].value == within(half.backward[3].value / (2 * 0.9), 1e-12));
  CHECK(quarter.backward[4].value == half.backward[4].value); // attention stays in 16 bits
  CHECK(quarter.update.value == half.update.value);
}

TEST_CASE("estimate: formats that a part lacks") {
  const auto formats = [](std::string_view name) {
    std::string text;
    for (const std::string_view word : kPrecisions.all()) {
      text += find_gpu(name)->has(*kPrecisions.find(word)) ? std::string(word) + " " : "";
    }
    return text;
  };
  CHECK(formats("v100") == "fp16 ");
  for (const std::string_view name : {"a100-40", "a100-80", "mi250"}) {
    CHECK(formats(name) == "bf16 fp16 ");
  }
  for (const std::string_view name :
       {"h100", "h200", "b200", "b300", "mi300x", "l40s", "rtx4090"}) {
    CHECK(formats(name) == "bf16 fp16 fp8 ");
  }
  CHECK(find_gpu("v100")->usual_precision() == Precision::fp16);
}

TEST_CASE("estimate: recomputation adds the forward pass of all layers but the head") {
  const ModelTable table = mpt({512, 2, 1000, 128});
  const EstimatedTimes kept = estimated_times(table, 4, on("h100"));
  const EstimatedTimes again = estimated_times(table, 4, on("h100", Recompute::full));
  const double memory = 0.8 * 3.35e12;
  double forward = 0; // of the blocks, without casts
  for (std::size_t l = 2; l + 2 < table.layers.size(); ++l) {
    double elements = 0;
    for (const ModelTensor& tensor : table.layers[l].tensors) {
      elements += static_cast<double>(tensor.elements());
    }
    forward += kept.forward[l].value - 8 * elements / memory;
  }
  CHECK(sum(again.backward) - sum(kept.backward) == within(forward, 1e-9));
  CHECK(again.backward.back().value == kept.backward.back().value);
  CHECK(sum(again.forward) == sum(kept.forward));
}

TEST_CASE("estimate: a measured step scales all times, and the interval where it was another run") {
  const ModelTable table = mpt({512, 2, 1000, 128});
  const EstimatedTimes plain = estimated_times(table, 4, on("h100"));
  const double step = micro_batch(plain, 1, 1);
  GpuEstimate scaled = on("h100");
  scaled.measured = MeasuredStepTime{{1.5 * step}, {}, {}};
  const EstimatedTimes same = estimated_times(table, 4, scaled);
  CHECK(same.scale == within(1.5, 1e-12));
  CHECK(micro_batch(same, 1, 1) == within(1.5 * step, 1e-12));
  CHECK(same.interval.low == 1);
  CHECK(same.interval.high == 1);
  // Measured with half the batch and twice the length: the factor is that of the other run.
  scaled.measured = MeasuredStepTime{{step}, 2, 256};
  const double there =
      micro_batch(estimated_times(with_sequence_length(table, 256), 2, on("h100")), 1, 1);
  const EstimatedTimes other = estimated_times(table, 4, scaled);
  CHECK(other.scale == within(step / there, 1e-12));
  CHECK(other.forward[3].value == within(plain.forward[3].value * step / there, 1e-12));
  CHECK(other.interval.low == 0.85);
  CHECK(other.interval.high == 1.15);
}

TEST_CASE("estimate: attention that is not causal takes twice as long") {
  ModelTable table = mpt({512, 1, 1000, 128});
  const EstimatedTimes causal = estimated_times(table, 4, on("h100"));
  table.sequence->causal = false;
  const EstimatedTimes full = estimated_times(table, 4, on("h100"));
  const double attention = 2.0 * 4 * 128 * 128 * 512 / (989e12 * 0.803 * 0.21);
  CHECK(full.forward[4].value - causal.forward[4].value == within(attention, 1e-9));
}

TEST_CASE("estimate: chosen experts compute, all experts are read") {
  ModelTable table = mpt({512, 1, 1000, 128});
  // 8 experts of 512 x 1024, 2 of them chosen for each of b S = 512 tokens: 128 rows each.
  table.layers.push_back(made("experts", "experts", 2 * 512 * 1024 * 128, MacScaling::tokens,
                              {{"up", {8, 1024, 512}}}));
  const EstimatedTimes times = estimated_times(table, 4, on("h100"));
  const double memory = 0.8 * 3.35e12;
  const double one = product(128, 1024, 512, 989e12 * 0.803 * 0.98, memory);
  CHECK(times.backward.back().value == within(2 * 8 * one, 1e-12));
  CHECK(has_experts(table));
  CHECK_FALSE(times.interval.validated);
  CHECK(table.active_elements() == table.elements() - 6 * 512 * 1024);
}

TEST_CASE("estimate: a convolution is bound by arithmetic or by its activations") {
  ModelTable table;
  table.name = "conv";
  table.image = ImageInput{3, 32, 32};
  table.layers = {
      made("conv1", "conv", 64 * 27 * 1024, MacScaling::sample, {{"weight", {64, 3, 3, 3}}}),
      made("conv2", "conv", 64 * 64 * 1024, MacScaling::sample, {{"weight", {64, 64, 1, 1}}})};
  const EstimatedTimes times = estimated_times(table, 16, on("a100-80"));
  const double memory = 0.8 * 2.039e12;
  const double values = 16 * (64 + 64) * 1024 + 64 * 64;
  CHECK(times.backward[1].value == within(2 * 2 * values / memory, 1e-12));
  CHECK_FALSE(has_attention(table));
  CHECK_FALSE(times.interval.validated);
}

TEST_CASE("estimate: a workload says where its times come from") {
  ProfileOptions options;
  options.batch_size = 4;
  options.estimate = on("b200");
  const Workload workload = workload_from_model(mpt({512, 1, 1000, 128}), options);
  CHECK(workload.provenance == Provenance::estimated);
  CHECK(workload.update.value > 0);
  REQUIRE(workload.interval);
  CHECK(workload.warnings.front() == "layer times are estimated for b200 in bf16, unvalidated: "
                                     "measured ones may lie between 0.6 and 1.6 of them");
}

TEST_CASE("gpus: names that may mean the same part") {
  CHECK(may_be_same_gpu("NVIDIA A100-PG509-200", "NVIDIA A100 SXM4"));
  CHECK(may_be_same_gpu("a100-80", "NVIDIA A100 SXM4"));
  CHECK(may_be_same_gpu("rtx4090", "NVIDIA GeForce RTX 4090"));
  CHECK(may_be_same_gpu("Tesla V100-SXM2-32GB", "NVIDIA V100 SXM2"));
  CHECK(may_be_same_gpu("", "NVIDIA B200"));
  CHECK(may_be_same_gpu("h100", "GPU on PCIe 3.0"));
  CHECK_FALSE(may_be_same_gpu("NVIDIA H100 80GB HBM3", "NVIDIA H200 SXM5"));
  CHECK_FALSE(may_be_same_gpu("h100", "NVIDIA A100 SXM4"));
  CHECK_FALSE(may_be_same_gpu("NVIDIA A10", "NVIDIA A100 SXM4"));
  CHECK_FALSE(may_be_same_gpu("l40s", "NVIDIA L4"));
  CHECK(may_be_other_gpu("AMD Radeon Graphics", "NVIDIA H100 SXM5"));
  CHECK_FALSE(may_be_other_gpu("AMD Radeon Graphics", "GPU on PCIe 3.0"));
  CHECK_FALSE(may_be_other_gpu("", "NVIDIA H100 SXM5"));
}
