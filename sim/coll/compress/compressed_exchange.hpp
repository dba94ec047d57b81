#pragma once
// A compressed exchange is a sequence of ordinary collectives, one after the other, and a constant:
//
//   topk         allgather of P k' E bytes
//   gtopk_tree   reduce of k' E bytes (neighbours first), broadcast of k' E bytes
//   gaussian_k   allgather of 4 P bytes (sizes), then topk
//   powersgd     allreduce of the left factors, of the right ones, of one-dimensional tensors
//
// (P ranks, each of which sends k' entries of E bytes, see `entries` below and compression.hpp),
// so every evaluator of collectives serves it: closed_form, max_plus, events. A few methods are
// formulas only. Merging, staging and the like are not in the wire time; compressed_time.hpp gives
// these times, too. Sources: SPA 3, 4, 5, 11; PIP 6.
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "coll/collective.hpp"
#include "coll/compress/compression.hpp"

namespace stepsim::coll {

// What is compressed: one bucket of a gradient.
struct GradientPart {
  std::int64_t elements{};
  std::vector<MatrixShape> shapes; // of its tensors; empty = one 1-D tensor
  // M, by the type of its values; empty: `value_bytes` of the compression for every value.
  std::optional<double> bytes{};
};
// M: `bytes` if given, else elements x value_bytes.
[[nodiscard]] double dense_bytes(const Compression& compression, const GradientPart& gradient);

// A collective that `groups` groups of ranks run side by side: local rank l of group g is the rank
// g * group_stride + l * rank_stride. Groups do not disturb each other.
struct ExchangeStage {
  Collective collective;
  std::uint32_t groups = 1;
  std::uint32_t group_stride = 0;
  std::uint32_t rank_stride = 1;
  double header_bytes = 0; // of every message beside its part; their time is in the latency
};

struct CompressedExchange {
  std::vector<ExchangeStage> stages; // run one after the other; empty: formula only, or no message
  double fixed_s{};                  // barriers; the one encoding of a parameter server
  std::optional<double> formula_s;   // from time 0, of methods without a schedule; else empty
  std::optional<std::pair<double, double>> formula_range_s; // topk_dsa [low, high]
  std::uint32_t ranks{};
  std::int64_t elements{};
  double dense_bytes{};     // M
  std::int64_t searched{};  // elements that a rank selects from: all, or its shard
  std::int64_t k{};         // entries selected per rank, 0 for methods that do not select
  std::int64_t entries{};   // entries sent, k' = round(k selected_ratio)
  std::int64_t merges{};    // of two lists, on the longest path
  std::int64_t scattered{}; // entries added into the dense update at the end
  double flops{};           // of making the factors of powersgd; else 0
};

// `base` carries ranks, links and entry times; its op, bytes, sizes and root are ignored. Dense
// methods and codecs take its algorithm (auto is resolved) and options; other methods have
// algorithms of their own and take only chunking and reduction_mode. Sparse lists are merged, not
// added: what adding costs counts for dense values only. Throws SimulationError where the method
// cannot run on these ranks or links, such as
// "hierarchical_topk needs at least 2 nodes and 2 GPUs per node",
// "recursive_doubling needs a power-of-two rank count, got 6; use bruck, ring or auto",
// "ok_topk: the closed form needs identical ranks entering together".
[[nodiscard]] CompressedExchange compressed_exchange(const Compression& compression,
                                                     const GradientPart& gradient,
                                                     const Collective& base);

} // namespace stepsim::coll
