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
// wire (compressed_exchange.hpp). Sources: SPA 3, 4, 5, 11; PIP 6.
#include <utility>

#include "collectives/compress/compression.hpp"
#include "collectives/evaluate/evaluation.hpp"

namespace stepsim::collectives {

// The data to compress: one bucket of a gradient.
struct GradientPart {
  std::int64_t elements{};
  std::vector<MatrixShape> shapes{}; // shapes of its tensors; empty = one 1-D tensor
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
  // Steps that a barrier of `barrier_s` seconds follows; as many others come before and after them.
  // The barriers are part of fixed_s, not of the collective.
  std::uint32_t rounds = 0;
  double barrier_s = 0;
};

struct CompressedExchange {
  std::vector<ExchangeStage> stages; // run one after the other; empty: formula only, or no message
  double fixed_s{};                  // time of barriers
  std::optional<double> formula_s;   // time from 0 of methods without a schedule; else empty
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

// Time of a compressed exchange: time and traffic on the wire, summed over its stages, and the time
// of local work of the ranks. A stage begins when all ranks have finished the previous stage.

struct ExchangeTime {
  double seconds{}; // from time 0; the first stage has the entry times
  Method method{};  // the most detailed method of the stages
  std::uint64_t events{};
  std::vector<links::LinkUse> links{}; // [link] of the fabric, if there is one
};
// Times the exchange by `method`, or if empty by the cheapest exact method per stage. Throws
// SimulationError if only the closed form exists and `method` is another ("ok_topk: only the closed
// form is available"), and where the evaluator of a stage throws it (evaluation.hpp,
// evaluation.hpp).
[[nodiscard]] ExchangeTime exchange_time(const CompressedExchange& exchange,
                                         const Compression& compression,
                                         std::optional<Method> method);
// Returns the CPU seconds that exchange_time() is estimated to take: the sum over the stages, each
// as collectives/method.hpp estimates it.
[[nodiscard]] double evaluation_seconds(const CompressedExchange& exchange,
                                        std::optional<Method> method);
// Returns the closed forms of all stages + fixed_s + formula_s; empty if a stage has no closed
// form.
[[nodiscard]] std::optional<double> closed_form_seconds(const CompressedExchange& exchange);

// Returns the traffic of the ranks of the cluster in all stages; zeros for a formula.
[[nodiscard]] Traffic exchange_traffic(const CompressedExchange& exchange);
// Returns exchange_traffic(exchange).max_per_rank. The bytes of exchanges in one stage are kept in
// `sent`.
[[nodiscard]] double most_sent(const CompressedExchange& exchange, SentBytes& sent);
// Returns at most `limit` messages of all stages, timed by max_plus or `by_events`, each stage
// after the previous one; none for a formula. Throws SimulationError as timed_transfers() does.
[[nodiscard]] std::vector<TransferRecord>
exchange_transfers(const CompressedExchange& exchange, std::size_t limit, bool by_events = false);

// Seconds of local work per exchange (SPA 5, 8.2). One rank alone still selects and updates its
// residual, but staging, merge and scatter are then 0 (SPA 13, decision 13). All values are 0 for a
// gradient without elements, and for dense methods and codecs. A custom compressor has its
// compress_s in select_s and its decompress_s in scatter_s.
struct CompressTimes {
  double select_s{}, residual_s{}, staging_s{}, merge_s{}, scatter_s{};
  [[nodiscard]] double compress_s() const { return select_s + residual_s; }
};
[[nodiscard]] CompressTimes compress_times(const Compression& compression,
                                           const CompressedExchange& exchange, std::uint32_t ranks);

// The arithmetic of powersgd on a rank (SPA 11), as PyTorch's hook does it, summed over the
// matrices of n x c values of w bytes with r = min(rank, n, c); values of factors have v bytes.
// One-dimensional tensors take none. A product of the matrix and a factor has 2 r n c FLOP, and
// making the left factor orthogonal 2 n r^2: 6 r n c + 2 n r^2 FLOP and 11 passes of n c values.
//
//               FLOP                 bytes
//     encode    4 r n c + 2 n r^2    2 n c w + 2 r (n + c) v + 2 n r v    both factors
//     feedback                       5 n c w                              adds the error, a copy
//     decode    2 r n c              4 n c w + r (n + c) v                their product, new error
struct Work {
  double flops{}, bytes{}; // bytes that are read or written
};
struct LowRankWork {
  Work encode, feedback, decode;
};
[[nodiscard]] LowRankWork low_rank_work(const Compression& compression,
                                        const GradientPart& gradient);

// Returns the seconds of the uncompressed ring all-reduce, with which a sparse exchange is
// compared.
[[nodiscard]] double dense_ring_seconds(const Compression& compression,
                                        const GradientPart& gradient, const Collective& base);

} // namespace stepsim::collectives
