#pragma once
// The files of `stepsim collective` (COL 1): kind `links` (keys/links_keys.hpp), and bare lists
// with the bytes or the entry time of each rank.

#include "collectives/collective.hpp"
#include "document/json.hpp"

namespace stepsim::io {

// A pair of ranks as the file has it.
struct WrittenPair {
  std::int64_t src{}, dst{};
  double latency_s{}, delay_s{}, bandwidth_Bps{};
};

struct LinksFile {
  std::vector<collectives::PairCost> pairs; // sorted by (src, dst); block latency = latency
  std::vector<double> reduction_s_per_byte; // [rank] or empty
  std::vector<double> enter_s;              // [rank] or empty
  std::vector<std::uint32_t> chain;         // order of the ranks in pipelines, or empty
};

// Without `ranks`, checks that depend on the number of ranks are skipped. With it, further ranks of
// the file are left out, and lists per rank must not be shorter. Throws InputError with all
// problems.
[[nodiscard]] LinksFile parse_links(const Json& tree, std::optional<std::uint32_t> ranks);
// [rank] bytes, whole and at most 2^53; with `ranks`, exactly so many. Throws InputError with all
// problems.
[[nodiscard]] std::vector<double> parse_sizes(const Json& tree, std::optional<std::uint32_t> ranks);
// [rank] entry time, s; with `ranks`, exactly so many. Throws InputError with all problems.
[[nodiscard]] std::vector<double> parse_entry(const Json& tree, std::optional<std::uint32_t> ranks);

} // namespace stepsim::io
