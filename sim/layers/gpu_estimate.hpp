#pragma once
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

#include "layers/gpu_table.hpp"
#include "layers/model_table.hpp"

namespace stepsim::layers {

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
