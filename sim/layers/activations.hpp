#pragma once
// Bytes of activations that a worker keeps from the forward pass of a layer to its backward pass,
// by the shapes of a model table. With w bytes per value, T tokens of a micro-batch, h the width of
// the model, a heads and S positions, a layer keeps what its backward reads:
//
//     matrix product     w T inputs; layers of one module with the same input keep it once
//     before attention   w T outputs of the product: queries, keys and values
//     activation         w T outputs of the product before it; a gated one keeps its result, too
//     norm               w T h
//     attention          flash: 4 T a (sums of the softmax); plain: the scores a S T, as softmax
//                        w, and in networks with dropout a mask of 1 and the result w
//     dropout            a mask of 1 T h after products whose output is added to the main path
//     output head        loss of V words: 4 T V of log-softmax, and in its backward 8 T V of two
//                        gradients; compiled w T V of logits, and as much for their gradient; in
//                        chunks nothing, and 12 T V / 8 while one of 8 chunks is computed
//     convolution, batch norm   w values of the input, before pooling
//     group norm         w values of the input and, before a convolution, of the result, which an
//                        activation reads
//
// Composed kernels keep more: a norm the copies that it makes on its way (layer norm three of w,
// RMS norm one of 4 bytes and one of w), an activation that is not gated two further outputs.
// Those of TensorFlow are composed, and a mask of dropout takes w.
//
// A block of GPT keeps T h (34 + 5 a S / h) bytes of 16-bit values, which is equation 1 of
// Korthikanti et al. 2022 (arXiv:2205.05198). Networks with layer norm, but not those on images,
// are taken to have dropout.

#include "layers/gpu_table.hpp"

namespace stepsim::layers {

// How attention is computed: in pieces whose scores are never stored (FlashAttention), or with
// stored scores.
enum class Attention { flash, plain };
inline constexpr auto kAttentions = base::words<Attention>();

// How the loss of the output head is computed: operation by operation, by one compiled kernel, or
// in chunks of the tokens together with the head; and whether a norm or an activation is one kernel
// or made of elementary ones, as old releases and many model definitions have them.
enum class Loss { eager, compiled, chunked };
inline constexpr auto kLosses = base::words<Loss>();
enum class Kernels { fused, composed, tensorflow };
inline constexpr auto kKernelWords = base::words<Kernels>();

// Of one layer, bytes.
struct LayerActivations {
  double kept{};      // from the forward of the layer to its backward
  double again{};     // further bytes while its backward runs
  double input{};     // input of the layer, which recomputation starts from
  double scores{};    // part of `kept`: scores of plain attention
  double product{};   // output of a matrix product
  double attention{}; // result of attention without scores, with its sums
};

struct ActivationOptions {
  double samples = 1;     // of a micro-batch
  double value_bytes = 2; // w
  Attention attention{};
  Loss loss{};
  Kernels kernels{};
  bool autocast = false; // norms and softmaxes are in 4 bytes, as PyTorch's autocast has them
};

// [layer] in execution order, without recomputation. Plain attention needs the heads of every
// attention layer (has_heads()).
[[nodiscard]] std::vector<LayerActivations> layer_activations(const ModelTable& table,
                                                              const ActivationOptions& options);
[[nodiscard]] bool has_heads(const ModelTable& table);
// Whether the table has an output head, over whose words there is a loss.
[[nodiscard]] bool has_output_head(const ModelTable& table);

// With recomputation: `selective` makes the scores of attention again, `full` all layers of a unit
// from the input of its first layer, while the backward of the unit runs; `selective_op` keeps
// attention and the first, third, .. product of a unit besides. `begins` has the first layer of
// every unit. A unit with an output head keeps everything.
[[nodiscard]] std::vector<LayerActivations> recomputed(std::vector<LayerActivations> layers,
                                                       Recompute recompute,
                                                       const std::vector<std::uint32_t>& begins);

// The most bytes at any time of a step that goes through the layers forward and backward, when the
// backward of layer l leaves gradients[l].
struct StepPeak {
  double activations{}, gradients{};
};
[[nodiscard]] StepPeak step_peak(const std::vector<LayerActivations>& layers,
                                 const std::vector<double>& gradients);

} // namespace stepsim::layers
