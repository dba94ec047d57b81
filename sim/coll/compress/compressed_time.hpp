#pragma once
// What a compressed exchange takes: times and traffic on the wire, summed over its stages, and the
// work of the ranks beside the wire. A stage begins when all ranks have left the one before.
#include <cstdint>
#include <optional>
#include <vector>

#include "coll/collective.hpp"
#include "coll/compress/compressed_exchange.hpp"
#include "coll/evaluate/max_plus.hpp"
#include "coll/evaluate/traffic.hpp"
#include "net/flow/link_use.hpp"

namespace stepsim::coll {

struct ExchangeTime {
  double seconds{}; // from time 0, the first stage with its entry times
  Method method{};  // the most faithful one used
  std::uint64_t events{};
  std::vector<net::LinkUse> links{}; // [link] of the fabric, where there is one
  std::uint64_t messages{};
  double max_bytes_sent{}; // by the rank that sends most
};
// By `method`, or (empty) the cheapest exact one per stage. Throws SimulationError where a method
// that is a formula only is asked for more, "ok_topk: only the closed form is available", and as
// the evaluators do.
[[nodiscard]] ExchangeTime exchange_time(const CompressedExchange& exchange,
                                         const Compression& compression,
                                         std::optional<Method> method);
// Closed forms of all stages, fixed_s and formula_s together; empty where a stage has no form.
[[nodiscard]] std::optional<double> closed_form_seconds(const CompressedExchange& exchange);

// What the ranks of the cluster send in all stages; zeros for a formula.
[[nodiscard]] Traffic exchange_traffic(const CompressedExchange& exchange);
// At most `limit` messages of all stages, timed by max_plus, each stage after the one before it;
// none for a formula. Throws SimulationError on a fabric and for a stage without a list of
// transfers (has_transfers).
[[nodiscard]] std::vector<TransferRecord> exchange_transfers(const CompressedExchange& exchange,
                                                             std::size_t limit);

// The work beside the wire, seconds per exchange (SPA 5, 8.2). One rank: no staging, merge and
// scatter; select and residual are still charged (SPA 13, decision 13). All 0 for a gradient
// without elements, and for dense methods and codecs.
struct CompressTimes {
  double select_s{}, residual_s{}, staging_s{}, merge_s{}, scatter_s{};
  [[nodiscard]] double compress_s() const { return select_s + residual_s; }
};
[[nodiscard]] CompressTimes compress_times(const Compression& compression,
                                           const CompressedExchange& exchange, std::uint32_t ranks);

// Seconds of the uncompressed ring all-reduce, with which a sparse exchange is compared.
[[nodiscard]] double dense_ring_seconds(const Compression& compression,
                                        const GradientPart& gradient, const Collective& base);

} // namespace stepsim::coll
