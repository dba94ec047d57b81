#pragma once
// Time of a compressed exchange: time and traffic on the wire, summed over its stages, and the time
// of local work of the ranks. A stage begins when all ranks have finished the previous stage.
#include <cstdint>
#include <optional>
#include <vector>

#include "collectives/collective.hpp"
#include "collectives/compress/compressed_exchange.hpp"
#include "collectives/evaluate/max_plus.hpp"
#include "collectives/evaluate/sent_bytes.hpp"
#include "collectives/evaluate/traffic.hpp"
#include "links/flow/link_use.hpp"

namespace stepsim::collectives {

struct ExchangeTime {
  double seconds{}; // from time 0; the first stage has the entry times
  Method method{};  // the most detailed method of the stages
  std::uint64_t events{};
  std::vector<links::LinkUse> links{}; // [link] of the fabric, if there is one
};
// Times the exchange by `method`, or if empty by the cheapest exact method per stage. Throws
// SimulationError if only the closed form exists and `method` is another ("ok_topk: only the closed
// form is available"), and where the evaluator of a stage throws it (max_plus.hpp, events.hpp).
[[nodiscard]] ExchangeTime exchange_time(const CompressedExchange& exchange,
                                         const Compression& compression,
                                         std::optional<Method> method);
// Returns the CPU seconds that exchange_time() is estimated to take: the sum over the stages, each
// as collectives/work.hpp estimates it.
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
// Returns at most `limit` messages of all stages, timed by max_plus, each stage after the previous
// one; none for a formula. Throws SimulationError on a fabric and for a stage without a list of
// transfers (has_transfers).
[[nodiscard]] std::vector<TransferRecord> exchange_transfers(const CompressedExchange& exchange,
                                                             std::size_t limit);

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

// Returns the seconds of the uncompressed ring all-reduce, with which a sparse exchange is
// compared.
[[nodiscard]] double dense_ring_seconds(const Compression& compression,
                                        const GradientPart& gradient, const Collective& base);

} // namespace stepsim::collectives
