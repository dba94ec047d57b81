#pragma once
// Bytes of the state that an optimizer keeps beside the parameters, by its algorithm:
//
//     adam       8 per parameter: two moments in 4 bytes (Adam and AdamW). While PyTorch's default
//                updates all parameters at once, one more value for each (torch.optim, foreach)
//     adam_fused the same in one kernel, which needs nothing else
//     adam_composed  the same from elementary operations of a graph, as TensorFlow's BERT has it
//                (google-research/bert, optimization.py): clipped gradients, new moments and new
//                parameters lie beside the old ones, four more values for each parameter
//     adam_8bit  2 and 8 for every 256 parameters: two moments in one byte each, with the scale of
//                every block of 256 (torchao; bitsandbytes has blocks of 256, too)
//     momentum   4 per parameter
//     sgd        none
//     adafactor  4 for every row and column of a matrix; 4 per parameter of all else
#include "layers/workload.hpp"

namespace stepsim::layers {

enum class Optimizer { adam, adam_fused, adam_composed, adam_8bit, momentum, sgd, adafactor };
inline constexpr auto kOptimizers = base::words<Optimizer>();

// Mean over all parameters of the workload, bytes; 4 of adafactor where shapes are unknown.
[[nodiscard]] double optimizer_bytes_per_parameter(Optimizer optimizer, const Workload& workload);
// Further values of each parameter that are there while all are updated.
[[nodiscard]] constexpr int update_copies(Optimizer optimizer) {
  switch (optimizer) {
  case Optimizer::adam:
    return 1;
  case Optimizer::adam_composed:
    return 4;
  default:
    return 0;
  }
}

} // namespace stepsim::layers
