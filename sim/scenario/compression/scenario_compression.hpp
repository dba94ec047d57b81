#pragma once
// /communication/compression of a scenario, which break-even problems have as well (SPA 1, 11, 14;
// PIP 6, 16).
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "coll/compress/compression.hpp"
#include "scenario/parse_context.hpp"

namespace stepsim::study {

// What the rest of the scenario says of a compressed gradient; empty = not known or not asked.
struct CompressionUse {
  std::optional<std::int64_t> gradient_bytes{}; // of all gradients
  // In training: values of all gradients, and the mean bytes of one, by their types. Empty: as many
  // values of `value_bytes` as the bytes hold (a break-even problem has no types).
  std::optional<std::int64_t> elements{};
  double bytes_per_value = 4;
  std::optional<std::int64_t> ranks{};
  std::int64_t gpus_per_node = 1;
  plan::Schedule schedule = plan::Schedule::single; // `k` needs it
  TrainingAlgorithm algorithm = TrainingAlgorithm::sync_sgd;
};

// `/communication/compression`, a word or an object (SPA 1, 11, 14; PIP 6, 16). Its `costs`
// override `defaults` (a profile's for this method) one by one. Keys without a meaning for the
// method are leftovers. Beside an explicit `none` the other keys wait for another method, so that
// `--over .../method=none,topk` works, but their values must be valid; without a method they are
// errors. Warnings of free compression and the like are added.
[[nodiscard]] coll::Compression parse_compression(const io::Json& json, const ParseContext& context,
                                                  const coll::CompressCosts& defaults,
                                                  const CompressionUse& use,
                                                  std::vector<std::string>& warnings);
// The method alone, `none` where it is unknown: to look up its default costs.
[[nodiscard]] coll::CompressionMethod compression_method(const io::Json& json);

} // namespace stepsim::study
