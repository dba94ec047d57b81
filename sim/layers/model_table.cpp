// Sums over the rows of a model table, and a table for another sequence length: parameters stay,
// multiply-accumulates grow with the tokens or, for attention, with their square.
#include "layers/model_table.hpp"

#include "base/collected.hpp"

#include <cassert>
#include <numeric>

namespace stepsim::layers {

std::int64_t ModelTensor::elements() const {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

std::int64_t ModelTable::elements() const {
  std::int64_t sum = 0;
  for (const ModelLayer& layer : layers) {
    for (const ModelTensor& tensor : layer.tensors) {
      sum += tensor.elements();
    }
  }
  return sum;
}

// Each weight of a chosen expert makes one multiply-accumulate per token.
std::int64_t ModelTable::active_elements() const {
  std::int64_t sum = elements();
  for (const ModelLayer& layer : layers) {
    if (layer.kind == "experts" && sequence) {
      for (const ModelTensor& tensor : layer.tensors) {
        sum -= tensor.elements();
      }
      sum += layer.macs / sequence->sequence_length;
    }
  }
  return sum;
}

std::int64_t ModelTable::tensors() const {
  const std::size_t sum = base::sum_of<std::size_t>(
      layers, [](const ModelLayer& layer) { return layer.tensors.size(); });
  return static_cast<std::int64_t>(sum);
}

std::int64_t ModelTable::macs() const {
  return base::sum_of<std::int64_t>(layers, &ModelLayer::macs);
}

std::vector<std::size_t> ModelTable::execution_order() const {
  std::vector<std::size_t> order(layers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return layers[a].execution_index.value_or(0) < layers[b].execution_index.value_or(0);
  });
  return order;
}

ModelTable with_sequence_length(const ModelTable& table, std::int64_t length) {
  assert(table.sequence && length >= 1 && "the table has a sequence length");
  assert(
      (table.sequence->max_sequence_length == 0 || length <= table.sequence->max_sequence_length) &&
      "the reader has checked the length against the positions");
  const std::int64_t standard = table.sequence->sequence_length;
  ModelTable scaled = table;
  scaled.sequence->sequence_length = length;
  for (ModelLayer& layer : scaled.layers) {
    switch (layer.scaling) {
    case MacScaling::sample:
      break;
    case MacScaling::tokens:
      layer.macs = layer.macs / standard * length;
      break;
    case MacScaling::tokens2:
      layer.macs = layer.macs / (standard * standard) * length * length;
      break;
    }
  }
  return scaled;
}

} // namespace stepsim::layers
