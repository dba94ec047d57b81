#pragma once
// A compressed exchange is a sequence of ordinary collectives, one after the other, and a constant:
//
//   topk         allgather of P k E bytes
//   gtopk_tree   reduce of k E bytes (neighbours first), broadcast of k E bytes
//   gaussian_k   allgather of P 4 bytes (sizes), then topk
//   powersgd     allreduce of the left factors, of the right ones, of one-dimensional tensors
//
// so every evaluator of collectives serves it: closed_form, max_plus, events. A few methods are
// formulas only. Merging, staging and the like are not in the wire time; `compress_times` gives
// them. Sources: SPA 3, 4, 5, 11; PIP 6.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "coll/collective.hpp"
#include "coll/compression.hpp"
#include "coll/evaluate.hpp"

namespace stepsim::coll {

// What is compressed: one bucket of a gradient.
struct GradientPart {
  std::int64_t elements{};
  std::vector<MatrixShape> shapes; // powersgd: of its tensors; empty = one 1-D tensor
};

struct CompressedExchange {
  std::vector<Collective> stages;  // run one after the other; empty: formula only, or no message
  double fixed_s{};                // barriers
  std::optional<double> formula_s; // of methods without a schedule
  std::optional<std::pair<double, double>> formula_range_s; // topk_dsa [low, high]
  std::int64_t elements{};
  std::int64_t k{};         // entries selected per rank, 0 for methods that do not select
  std::int64_t entries{};   // entries sent, k' = round(k selected_ratio)
  std::int64_t merges{};    // of two lists, on the longest path
  std::int64_t scattered{}; // entries added into the dense update at the end
  double flops{};           // powersgd
};

// `base` carries ranks, links and options (its op, algorithm, bytes and root are ignored; for dense
// methods and codecs its algorithm is the all-reduce). Throws SimulationError where the method
// cannot run on these ranks: "hierarchical_topk needs at least 2 nodes and 2 GPUs per node",
// "recursive_doubling needs a power-of-two rank count, got 6; use bruck, ring or auto".
[[nodiscard]] CompressedExchange compressed_exchange(const Compression& compression,
                                                     const GradientPart& gradient,
                                                     const Collective& base);

struct ExchangeTime {
  double seconds{};
  Method method{}; // the most faithful one used
  std::uint64_t events{};
  std::uint64_t messages{};
  double max_bytes_sent{}; // by the rank that sends most
};
// By `method`, or (empty) the cheapest exact one per stage. Throws SimulationError where a formula
// only is asked for more: "ok_topk: only the closed form is available".
[[nodiscard]] ExchangeTime exchange_time(const CompressedExchange& exchange,
                                         const Compression& compression,
                                         std::optional<Method> method);
// Sum over stages and the constant; empty where a stage has none.
[[nodiscard]] std::optional<double> closed_form_seconds(const CompressedExchange& exchange);

// The work beside the wire, seconds per exchange (SPA 5, 8.2). P = 1: no staging, merge, scatter of
// others' entries; select and residual are still charged (SPA 13, decision 13).
struct CompressTimes {
  double select_s{}, residual_s{}, staging_s{}, merge_s{}, scatter_s{};
  [[nodiscard]] double compress_s() const { return select_s + residual_s; }
};
[[nodiscard]] CompressTimes compress_times(const Compression& compression,
                                           const CompressedExchange& exchange, std::uint32_t ranks);

} // namespace stepsim::coll
