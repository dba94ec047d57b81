// Which collectives each compression method is made of (SPA 3, 4, 11; PIP 6).
#include "collectives/compress/compressed_exchange.hpp"

#include <algorithm>

#include "collectives/choose.hpp"
#include "collectives/compress/compressed_formulas.hpp"
#include "collectives/compress/exchange_builder.hpp"

namespace stepsim::collectives {
namespace {

// Whole bytes, or buckets, rounded up.
double divided_up(std::int64_t a, std::int64_t b) { return static_cast<double>((a + b - 1) / b); }

// max(1, floor(density m / shards)); of a given k, its share.
std::int64_t entries_per_shard(const Compression& compression, std::int64_t elements,
                               std::uint32_t shards) {
  if (shards == 1 || elements == 0) {
    return selected_entries(compression, elements);
  }
  const double all = compression.k ? static_cast<double>(*compression.k)
                                   : *compression.density * static_cast<double>(elements);
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::floor(all / shards)));
}

void add_stages(const ExchangeBuilder& build) {
  switch (build.compression.method) {
  case CompressionMethod::none:
    return build.add(with_chosen_algorithm(build.dense(build.dense_bytes())));
  case CompressionMethod::fp16:
    return add_fp16(build);
  case CompressionMethod::truncate16:
  case CompressionMethod::quantize8:
  case CompressionMethod::custom_codec:
    return add_codec(build);
  case CompressionMethod::custom:
    return add_custom(build);
  case CompressionMethod::topk:
  case CompressionMethod::dgc:
  case CompressionMethod::gaussian_k:
  case CompressionMethod::gtopk_exact:
    return add_topk(build);
  case CompressionMethod::gtopk_tree:
    return add_tree(build);
  case CompressionMethod::gtopk_butterfly:
    return add_butterfly(build);
  case CompressionMethod::sparcml_rd:
    return add_sparcml(build);
  case CompressionMethod::hierarchical_topk:
    return add_hierarchical(build);
  case CompressionMethod::powersgd:
    return add_powersgd(build);
  case CompressionMethod::qsgd:
    return add_packed(build, divided_up(build.gradient.elements * build.compression.bits, 8) +
                                 kScaleBytes *
                                     divided_up(build.gradient.elements, build.compression.bucket));
  case CompressionMethod::signsgd:
    return add_packed(build, divided_up(build.gradient.elements, 8));
  case CompressionMethod::sparcml_split:
  case CompressionMethod::topk_dsa:
  case CompressionMethod::ok_topk:
  case CompressionMethod::omnireduce:
    return add_formula(build.compression, build.base, build.exchange);
  }
}

} // namespace

double dense_bytes(const Compression& compression, const GradientPart& gradient) {
  return gradient.bytes.value_or(static_cast<double>(gradient.elements) *
                                 static_cast<double>(compression.value_bytes));
}

CompressedExchange compressed_exchange(const Compression& compression, const GradientPart& gradient,
                                       const Collective& base) {
  CompressedExchange exchange;
  exchange.ranks = base.ranks;
  exchange.elements = gradient.elements;
  exchange.dense_bytes = dense_bytes(compression, gradient);
  // With hierarchical_topk a rank selects from the shard of the sum that its node gave it.
  const std::uint32_t shards = selecting_shards(compression, base);
  exchange.searched = (gradient.elements + shards - 1) / shards;
  if (row(compression.method).kind == CompressionKind::sparse) {
    exchange.k = entries_per_shard(compression, gradient.elements, shards);
    const double sent = static_cast<double>(exchange.k) * compression.selected_ratio;
    exchange.entries = std::min<std::int64_t>(std::llround(sent), gradient.elements);
  }
  // A worker alone sends nothing, unless a server of its own adds for it.
  const CompressionKind kind = row(compression.method).kind;
  const bool server = (kind == CompressionKind::dense || kind == CompressionKind::codec) &&
                      base.algorithm == AlgorithmId::parameter_server &&
                      base.options.placement == Placement::dedicated;
  if ((base.ranks > 1 || server) && gradient.elements > 0) {
    add_stages({compression, gradient, base, exchange});
  }
  return exchange;
}

} // namespace stepsim::collectives
