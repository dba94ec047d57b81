#pragma once
// The table of a model: parameter tensors and multiply-accumulates (MACs) per layer, without
// weights or times (MOD 3). Layers are in registration order; FLOPs = 2 MACs. Shipped tables are in
// `models/NAME.json`.
#include <cstdint>
#include <string>
#include <vector>

#include "base/words.hpp"

namespace stepsim::layers {

// MACs do not depend on the sequence length S (sample), grow with S (tokens) or with S^2 (tokens2).
enum class MacScaling { sample, tokens, tokens2 };
inline constexpr auto kMacScalings = base::words<MacScaling>();

struct ModelTensor {
  std::string name; // the full name is the layer name + "." + this name
  std::vector<std::int64_t> shape;
  [[nodiscard]] std::int64_t elements() const;
};

struct ModelLayer {
  std::string name;
  std::string kind;    // a word of kLayerKinds (scenario/files/keys/model_keys.hpp)
  std::int64_t macs{}; // forward, per sample, at the standard input
  MacScaling scaling = MacScaling::sample;
  std::optional<std::int64_t> execution_index; // forward position from 1, if the orders differ
  std::vector<ModelTensor> tensors;
  std::int64_t heads = 0; // attention: number of heads; 0 = unknown
};

struct ImageInput {
  std::int64_t channels{}, height{}, width{};
};
struct SequenceInput {
  std::int64_t sequence_length{}, max_sequence_length{}; // max 0 = no limit
  bool causal = false;                                   // tokens attend to earlier tokens only
};

struct ModelTable {
  std::string name;
  std::string family;
  std::string source;
  std::optional<ImageInput> image;
  std::optional<SequenceInput> sequence;
  std::vector<ModelLayer> layers;
  std::vector<std::string> warnings{}; // set if the table was made from a configuration

  [[nodiscard]] std::int64_t elements() const;
  // The parameters that one token uses, which include chosen experts only.
  [[nodiscard]] std::int64_t active_elements() const;
  [[nodiscard]] std::int64_t tensors() const;
  [[nodiscard]] std::int64_t macs() const;
  // The positions of the layers, in forward execution order.
  [[nodiscard]] std::vector<std::size_t> execution_order() const;
};

// The table at another sequence length, with MACs scaled in exact integers (MOD 3). Requires
// `sequence` and 1 <= length <= max, if there is a maximum (asserted; the reader of scenarios
// checks both).
[[nodiscard]] ModelTable with_sequence_length(const ModelTable& table, std::int64_t length);

} // namespace stepsim::layers
