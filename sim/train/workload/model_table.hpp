#pragma once
// A network as a table: parameter tensors and multiply-accumulates per layer, no weights, no times
// (MOD 3). Layers in registration order; FLOPs = 2 MACs. `models/NAME.json` holds the shipped ones.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/words.hpp"

namespace stepsim::train {

// MACs do not depend on the sequence length S, grow with S, or grow with S^2.
enum class MacScaling { sample, tokens, tokens2 };
inline constexpr auto kMacScalings = base::words<MacScaling>({{MacScaling::sample, "sample"},
                                                              {MacScaling::tokens, "tokens"},
                                                              {MacScaling::tokens2, "tokens2"}});

struct ModelTensor {
  std::string name; // full name = layer name + "." + this
  std::vector<std::int64_t> shape;
  [[nodiscard]] std::int64_t elements() const;
};

struct ModelLayer {
  std::string name;
  std::string kind;    // a word of kLayerKinds (files/keys/model_keys.hpp)
  std::int64_t macs{}; // forward, per sample, at the standard input
  MacScaling scaling = MacScaling::sample;
  std::optional<std::int64_t> execution_index; // 1-based forward position where orders differ
  std::vector<ModelTensor> tensors;
};

struct ImageInput {
  std::int64_t channels{}, height{}, width{};
};
struct SequenceInput {
  std::int64_t sequence_length{}, max_sequence_length{}; // max 0 = no limit
  bool causal = false;                                   // tokens see earlier ones alone
};

struct ModelTable {
  std::string name;
  std::string family;
  std::string source;
  std::optional<ImageInput> image;
  std::optional<SequenceInput> sequence;
  std::vector<ModelLayer> layers;
  std::vector<std::string> warnings{}; // of a table that was made from a configuration

  [[nodiscard]] std::int64_t elements() const;
  // Of them, those that a token uses: of experts only the chosen ones.
  [[nodiscard]] std::int64_t active_elements() const;
  [[nodiscard]] std::int64_t tensors() const;
  [[nodiscard]] std::int64_t macs() const;
  // Positions of layers in forward execution order.
  [[nodiscard]] std::vector<std::size_t> execution_order() const;
};

// The table at another sequence length, MACs re-scaled in exact integers (MOD 3). Needs `sequence`
// and 1 <= length <= max, if there is one (asserted; the reader of scenarios checks).
[[nodiscard]] ModelTable with_sequence_length(const ModelTable& table, std::int64_t length);

} // namespace stepsim::train
