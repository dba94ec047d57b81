#pragma once
// The files of `stepsim collective` (COL 1): kind `links`, whose rows are in keys/links_keys.hpp,
// and bare lists of bytes and of entry times per rank.
#include <optional>
#include <vector>

#include "coll/collective.hpp"
#include "json/json.hpp"

namespace stepsim::io {

struct LinksFile {
  std::vector<coll::PairCost> pairs;        // sorted by (src, dst); block latency = latency
  std::vector<double> reduction_s_per_byte; // [rank] or empty
  std::vector<double> enter_s;              // [rank] or empty
  std::vector<std::uint32_t> chain;         // ranks in the order of pipelines, each once; or empty
};

// Without `ranks` only what does not depend on it is checked. Throws InputError with all problems.
[[nodiscard]] LinksFile parse_links(const Json& tree, std::optional<std::uint32_t> ranks);
// Bytes by rank, whole and at most 2^53. Throws InputError with all problems.
[[nodiscard]] std::vector<double> parse_sizes(const Json& tree, std::optional<std::uint32_t> ranks);
// When each rank enters, s. Throws InputError with all problems.
[[nodiscard]] std::vector<double> parse_entry(const Json& tree, std::optional<std::uint32_t> ranks);

} // namespace stepsim::io
