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

// What the compression needs to know of the rest of the scenario; empty = not known.
struct CompressionUse {
  std::optional<std::int64_t> gradient_bytes{}; // of all gradients
  // In training: values of all gradients, and the mean bytes of one, by their types. Empty: as many
  // values of `value_bytes` as the bytes hold (a break-even problem has no types).
  std::optional<std::int64_t> elements{};
  double bytes_per_value = 4;
  std::optional<std::int64_t> ranks{};
  std::int64_t gpus_per_node = 1;
  // `k` counts the entries of one message, so it is only defined for `single`.
  plan::Schedule schedule = plan::Schedule::single;
  TrainingAlgorithm algorithm = TrainingAlgorithm::sync_sgd;
};

// `/communication/compression`, a word or an object (SPA 1, 11, 14; PIP 6, 16). Its `costs`
// override `defaults` (a profile's for this method) one by one. A key without a meaning for the
// method is an error in a file, and ignored in a point that `--over` made. Next to an explicit
// `none` every key is allowed, so that `--over .../method=none,topk` works, but its value must be
// valid; without a method the other keys are errors. Appends warnings, such as for compression that
// costs nothing.
[[nodiscard]] coll::Compression parse_compression(const io::Json& json, const ParseContext& context,
                                                  const coll::CompressCosts& defaults,
                                                  const CompressionUse& use,
                                                  std::vector<std::string>& warnings);
// The keys that say what a compressed exchange sends, whatever the method: density, bits, allgather
// and the like. A file of kind collective has them too.
void read_exchange(io::Fields& fields, coll::Compression& out);
// The method alone, `none` where it is unknown: to look up its default costs.
[[nodiscard]] coll::CompressionMethod compression_method(const io::Json& json);

} // namespace stepsim::study
