// The record of a compressed exchange (SPA 1, 11).
#include "collectives/compress/compressed_record.hpp"

namespace stepsim::collectives {
namespace {

// Ends and busy times over all stages, the ranks of a stage starting together.
PerRank per_rank(const CompressedExchange& exchange, const Collective& base, bool by_events) {
  PerRank ranks;
  ranks.enter_s = base.enter_s;
  ranks.enter_s.resize(exchange.ranks, 0);
  ranks.finish_s = ranks.enter_s;
  ranks.transfer_s.resize(exchange.ranks, 0);
  double start = exchange.fixed_s; // all ranks end after it, whichever stage it is part of
  for (const ExchangeStage& stage : exchange.stages) {
    const Evaluation result =
        by_events ? events(stage.collective, true) : max_plus(stage.collective, true);
    for (std::uint32_t group = 0; group < stage.groups; ++group) {
      for (std::uint32_t local = 0; local < stage.collective.ranks; ++local) {
        const std::size_t rank = group * stage.group_stride + local * stage.rank_stride;
        ranks.transfer_s[rank] += result.ranks.transfer_s[local];
        ranks.finish_s[rank] = start + result.ranks.finish_s[local]; // no rank idles in a stage
      }
    }
    start += result.seconds;
  }
  for (std::size_t rank = 0; rank < exchange.ranks; ++rank) {
    ranks.wait_s.push_back(ranks.finish_s[rank] - ranks.enter_s[rank] - ranks.transfer_s[rank]);
  }
  return ranks;
}

CompressedRecord compressed_part(const Compression& compression,
                                 const CompressedExchange& exchange) {
  CompressedRecord part;
  part.method = compression.method;
  part.elements = exchange.elements;
  part.closed_form_range_s = exchange.formula_range_s;
  if (row(compression.method).kind == CompressionKind::sparse) {
    part.k = exchange.k;
    part.density = compression.density;
    if (!part.density && exchange.elements > 0) {
      part.density = static_cast<double>(*compression.k) / static_cast<double>(exchange.elements);
    }
  }
  return part;
}

} // namespace

CollectiveRecord make_record(const Compression& compression, const GradientPart& gradient,
                             const Collective& base, AskedMethod asked, bool with_ranks) {
  const CompressedExchange exchange = compressed_exchange(compression, gradient, base);
  const CompressionRow& method = row(compression.method);
  CollectiveRecord record;
  record.op = Op::allreduce;
  record.algorithm = base.algorithm;
  record.ranks = base.ranks;
  record.bytes = base.bytes;
  record.traffic = exchange_traffic(exchange);
  record.compressed = compressed_part(compression, exchange);
  fill_inputs(record, base);

  record.closed_form_s = closed_form_seconds(exchange);
  const ExchangeTime cheapest = exchange_time(
      exchange, compression,
      asked == AskedMethod::closed_form ? std::optional(Method::closed_form) : std::nullopt);
  record.seconds = cheapest.seconds;
  record.method = cheapest.method;
  const auto run = [&](Method by) -> std::optional<double> {
    const bool all_of_it = asked == AskedMethod::all && !method.simulated;
    if (all_of_it || !wants(asked, by, cheapest.method)) {
      return std::nullopt;
    }
    record.method = by;
    record.seconds = exchange_time(exchange, compression, by).seconds;
    return record.seconds;
  };
  record.max_plus_s = run(Method::max_plus);
  record.events_s = run(Method::events);
  if (with_ranks && method.simulated) {
    record.per_rank = per_rank(exchange, base, record.method == Method::events);
  }
  fill_comparison(record);
  record.busbw_Bps = std::nullopt;
  if (method.kind == CompressionKind::sparse && base.ranks > 1 && exchange.elements > 0 &&
      !base.links.pairs_only && record.seconds >= dense_ring_seconds(compression, gradient, base)) {
    record.warnings.emplace_back("sparse exchange is slower than dense at this density");
  }
  return record;
}

} // namespace stepsim::collectives
