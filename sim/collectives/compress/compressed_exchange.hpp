#pragma once
// A compressed exchange is a sequence of ordinary collectives, one after the other, and a constant
// time:
//
//   topk         allgather of P k' E bytes
//   gtopk_tree   reduce of k' E bytes (neighbours first), broadcast of k' E bytes
//   gaussian_k   allgather of 4 P bytes (sizes), then topk
//   powersgd     allreduce of the left factors, of the right ones, of one-dimensional tensors
//
// P ranks send k' entries of E bytes each (`entries` below, compression.hpp). Because the stages
// are collectives, every evaluator can time them: closed_form, max_plus and events. A few methods
// are formulas only. Merging, staging and other work of the ranks is not part of the time on the
// wire (compressed_time.hpp). Sources: SPA 3, 4, 5, 11; PIP 6.
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "collectives/collective.hpp"
#include "collectives/compress/compression.hpp"

namespace stepsim::collectives {

// The data to compress: one bucket of a gradient.
struct GradientPart {
  std::int64_t elements{};
  std::vector<MatrixShape> shapes; // shapes of its tensors; empty = one 1-D tensor
  // M: bytes of the dense gradient; empty: `value_bytes` of the compression for every value.
  std::optional<double> bytes{};
};
// Returns M: `bytes` if given, else elements x value_bytes.
[[nodiscard]] double dense_bytes(const Compression& compression, const GradientPart& gradient);

// A collective that `groups` groups of ranks run at the same time: local rank l of group g is rank
// g * group_stride + l * rank_stride. Groups do not affect each other.
struct ExchangeStage {
  Collective collective;
  std::uint32_t groups = 1;
  std::uint32_t group_stride = 0;
  std::uint32_t rank_stride = 1;
  // Further bytes of each message. They count as traffic only: their time is already part of the
  // latency.
  double header_bytes = 0;
};

struct CompressedExchange {
  std::vector<ExchangeStage> stages; // run one after the other; empty: formula only, or no message
  double fixed_s{};                // time of barriers, or of encoding the sum at a parameter server
  std::optional<double> formula_s; // time from 0 of methods without a schedule; else empty
  // Lowest and highest time, for topk_dsa only.
  std::optional<std::pair<double, double>> formula_range_s;
  std::uint32_t ranks{};
  std::int64_t elements{};
  double dense_bytes{};     // M
  std::int64_t searched{};  // elements from which a rank selects: all elements, or its shard
  std::int64_t k{};         // entries selected per rank, 0 for methods that do not select
  std::int64_t entries{};   // entries sent, k' = round(k selected_ratio), at most `elements`
  std::int64_t merges{};    // merges of two lists, on the longest path
  std::int64_t scattered{}; // entries added into the dense update at the end
  double flops{};           // FLOP of low_rank_flops() for powersgd; else 0
};

// Returns the exchange of a gradient. `base` gives ranks, links and entry times; its op, bytes,
// sizes and root are ignored. Dense methods and codecs also use its algorithm (auto is resolved)
// and options; other methods have algorithms of their own and use only chunking and reduction_mode.
// The cost of adding applies to dense values only, because sparse lists are merged. Throws
// SimulationError if the method cannot run on these ranks or links:
//   "hierarchical_topk needs at least 2 nodes and 2 GPUs per node"
//   "recursive_doubling needs a power-of-two rank count, got 6; use bruck, ring or auto"
//   "ok_topk: the closed form needs identical ranks entering together"
[[nodiscard]] CompressedExchange compressed_exchange(const Compression& compression,
                                                     const GradientPart& gradient,
                                                     const Collective& base);

} // namespace stepsim::collectives
