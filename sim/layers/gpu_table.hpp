#pragma once
// The table of GPUs, and the compute time of a model estimated for one without a trace (INP 3):
// one row per part. Peaks are for dense matrices, without sparsity.
//
// The best matrix products reach the fraction `matrix_fraction` of the peak. Of that speed,
// products inside a model reach the fraction `products`, and attention the fraction `attention`.
// The element-wise work of a transformer block moves `elementwise` values per token and unit of the
// model's width. Memory reaches 80 % of its bandwidth.

#include "base/units.hpp"
#include "layers/model_table.hpp"

#include <string>
#include <vector>

namespace stepsim::layers {

// The number format of matrix products. All other operations use 16 bits.
enum class Precision { bf16, fp16, fp8 };
inline constexpr auto kPrecisions = base::words<Precision>();

// The constants of ampere and hopper were fitted to published training speeds; the constants of
// other parts are assumed.
enum class GpuFamily { ampere, hopper, other };
inline constexpr auto kGpuFamilies = base::words<GpuFamily>();

// A measured time is expected between `low` and `high` times the estimate.
struct EstimateInterval {
  double low = 1, high = 1;
  bool validated = true; // compared with measured training of such models on such a GPU
};
inline constexpr EstimateInterval kUnvalidatedInterval{0.6, 1.6, false};
// The interval for times that are scaled to a measured step of another batch size or length.
inline constexpr EstimateInterval kScaledInterval{0.85, 1.15, true};

struct FamilyConstants {
  double products, attention, elementwise;
  EstimateInterval interval;
};
inline constexpr std::array<FamilyConstants, kGpuFamilies.all().size()> kFamilyConstants{
    {{0.92, 0.39, 48, {0.87, 1.13, true}},
     {0.98, 0.21, 64, {0.80, 1.25, true}},
     {0.92, 0.30, 56, kUnvalidatedInterval}}};

// Fraction of the memory bandwidth that is reached when large tensors are streamed.
inline constexpr double kMemoryFraction = 0.8;
// Matrix products in fp8 have kFp8Peak times the peak of 16 bits, and reach kFp8Fraction times the
// fraction of the peak that 16-bit products reach.
inline constexpr double kFp8Peak = 2;
inline constexpr double kFp8Fraction = 0.9;

struct Gpu {
  std::string_view name;
  Flops peak;            // peak speed of 16-bit matrix products
  BytesPerSecond memory; // memory bandwidth as specified
  double memory_bytes{}; // as the driver or PyTorch reports it, else as sold, in GB of 1e9 bytes
  double matrix_fraction{};
  GpuFamily family{};
  bool has_bf16 = true;
  bool has_fp8 = false;
  [[nodiscard]] const FamilyConstants& constants() const {
    return kFamilyConstants[static_cast<std::size_t>(family)];
  }
  [[nodiscard]] bool has(Precision precision) const {
    return precision == Precision::fp16 || (precision == Precision::bf16 ? has_bf16 : has_fp8);
  }
  // The precision that is used by default: bf16, or fp16 if the GPU has no bf16.
  [[nodiscard]] Precision usual_precision() const {
    return has_bf16 ? Precision::bf16 : Precision::fp16;
  }
};

// All GPUs, and their names. mi250 is the whole card with both dies, mi250-gcd one of them, which
// programs take for a GPU.
[[nodiscard]] std::span<const Gpu> gpus();
[[nodiscard]] std::vector<std::string_view> gpu_words();
// The GPU of this name; null if it is unknown.
[[nodiscard]] const Gpu* find_gpu(std::string_view name);

// The part's name, "A100" of "NVIDIA A100 SXM4": the first word with a letter and a digit, else the
// first number of four digits, "4090" of "NVIDIA GeForce RTX 4090"; and whether it is a card for a
// slot, whose links are others.
struct PartName {
  std::string part;
  bool in_slot = false;
};
[[nodiscard]] PartName part_name(std::string_view name);
// Whether the names of two GPUs may mean the same one; true where one of them names no part.
[[nodiscard]] bool may_be_same_gpu(std::string_view a, std::string_view b);

// Whether a GPU that a profiler called `recorded` is not known to be `other`: a name without a part
// ("AMD Radeon Graphics") tells none. False where nothing was recorded.
[[nodiscard]] bool may_be_other_gpu(std::string_view recorded, std::string_view other);

// Estimates the compute time of a model on a named GPU from its layer table, without a trace
// (INP 3). Times are in seconds. A micro-batch has b sequences of S tokens, T = b S in all; M, N
// and K are the dimensions of a matrix product, d = h the width of the model and V the words of its
// vocabulary. P is the peak of the GPU, B the reached memory bandwidth and w = 2 bytes per value.
// m, g, a and k are matrix_fraction, products, attention and elementwise of gpu_table.hpp:
//
//     product   max(2 M N K / (P m g), w (M K + K N + M N) / B)
//     attention 4 b S^2 d / (P m a), half of it if tokens attend to earlier tokens only
//     block     w T h k / B of element-wise work, counted with its attention
//     loss      16 T V / B, counted with the output head
//     casts     8 bytes per parameter and micro-batch / B, counted with the forward pass
//     update    30 bytes per parameter and step / B
//     backward  2 products + 2.5 attention + 2 element-wise; recomputation adds the forward pass of
//               all layers but the output head, or that of attention
//
// Only matrix products run in fp8. A convolution reads and writes its activations once. Estimates
// for networks without attention were not compared with measurements.

// The part of the forward pass that backward computes again instead of keeping it in memory:
// nothing, the scores of attention (Korthikanti et al. 2022), all but attention and every second
// matrix product (torchtitan's selective_ac_option `op`), or all layers but the output head.
enum class Recompute { none, selective, selective_op, full };
inline constexpr auto kRecomputes = base::words<Recompute>();

// A measured step of one GPU without communication: the passes of one micro-batch and the update.
// Batch size (samples) and sequence length (tokens) are empty if they are those of the run.
struct MeasuredStepTime {
  Seconds step;
  std::optional<std::int64_t> batch_size, sequence_length;
};

struct GpuEstimate {
  const Gpu* gpu = nullptr; // a row of gpu_table.hpp; must support `precision` (Gpu::has())
  Precision precision = Precision::bf16;
  Recompute recompute = Recompute::none;
  bool accepted = false; // the user accepts the estimate of a network without attention
  std::optional<MeasuredStepTime> measured;
};

struct EstimatedTimes {
  std::vector<Seconds> forward, backward; // [layer] in execution order, casts and loss included
  Seconds update;
  EstimateInterval interval;
  double scale = 1; // factor on all times by a measured step
};

// Whether the network has attention layers, and whether it has experts.
[[nodiscard]] bool has_attention(const ModelTable& table);
[[nodiscard]] bool has_experts(const ModelTable& table);
// Whether estimates of networks like this, but for experts, were compared with measured steps:
// attention on tokens.
[[nodiscard]] bool estimates_compared(const ModelTable& table);

// The estimated times for `batch_size` samples at the sequence length of the table. A measured step
// scales all times by one factor; its sequence length must be in the range of the table (asserted).
[[nodiscard]] EstimatedTimes estimated_times(const ModelTable& table, std::int64_t batch_size,
                                             const GpuEstimate& estimate);

} // namespace stepsim::layers
