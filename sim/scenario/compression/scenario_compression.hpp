#pragma once
// Reads /communication/compression of a scenario, which break-even problems have, too (SPA 1, 11,
// 14; PIP 6, 16).
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collectives/compress/compression.hpp"
#include "scenario/parse_context.hpp"

namespace stepsim::study {

// The values from the rest of the scenario that the compression depends on; an empty value is not
// known.
struct CompressionUse {
  std::optional<std::int64_t> gradient_bytes{}; // sum over all gradients
  // In training: number of values of all gradients, and mean bytes of a value, by their dtypes. If
  // empty, there are as many values of `value_bytes` as fit into the bytes, because a break-even
  // problem has no dtypes.
  std::optional<std::int64_t> elements{};
  double bytes_per_value = 4;
  std::optional<std::int64_t> ranks{};
  std::int64_t gpus_per_node = 1;
  // `k` is a number of entries per message, so that it is only defined for `single`.
  buckets::Schedule schedule = buckets::Schedule::single;
  TrainingAlgorithm algorithm = TrainingAlgorithm::sync_sgd;
};

// Reads a word or an object. Its `costs` override `defaults` (from a profile, for this method) key
// by key. A key that the method does not use is an error in a file, and ignored in a point that
// `--over` made. Two cases differ: next to an explicit `none` every key with a valid value is
// allowed, so that `--over .../method=none,topk` works; without the key `method`, all other keys
// are errors. Appends warnings, for example for compression without costs.
[[nodiscard]] collectives::Compression parse_compression(const io::Json& json,
                                                         const ParseContext& context,
                                                         const collectives::CompressCosts& defaults,
                                                         const CompressionUse& use,
                                                         std::vector<std::string>& warnings);
// Reads the keys for the data of a compressed exchange, whatever the method: density, bits,
// allgather and others. A file of kind collective has them, too.
void read_exchange(io::Fields& fields, collectives::Compression& out);
// Only the method, to look up its default costs; `none` if it is unknown.
[[nodiscard]] collectives::CompressionMethod compression_method(const io::Json& json);

} // namespace stepsim::study
