// Formulas of methods whose messages depend on where entries fall: the number of entries is an
// expectation over random positions, and the time is that of the published cost model with these
// numbers.
#include "collectives/compress/exchange_builder.hpp"

#include <cassert>

#include "base/error.hpp"

namespace stepsim::collectives {
namespace {

double entry_bytes(const Compression& compression) { // E
  return static_cast<double>(compression.index_bytes + compression.value_bytes);
}

} // namespace

double held_entries(const Compression& compression, const CompressedExchange& exchange,
                    std::uint32_t ranks) {
  const auto entries = static_cast<double>(exchange.entries);
  const auto elements = static_cast<double>(exchange.elements);
  switch (compression.support_overlap) {
  case SupportOverlap::full:
    return entries;
  case SupportOverlap::disjoint:
    return std::min(entries * ranks, elements);
  case SupportOverlap::random:
    // m (1 - (1 - x)^c) without cancelling for small x; exactly k' for one rank.
    return ranks == 1 ? entries : -elements * std::expm1(ranks * std::log1p(-entries / elements));
  }
  return entries;
}

double held_bytes(const Compression& compression, const CompressedExchange& exchange,
                  std::uint32_t ranks) {
  return std::min(held_entries(compression, exchange, ranks) * entry_bytes(compression),
                  exchange.dense_bytes);
}

// 1 - (1 - D)^block without cancelling for small densities.
double nonzero_blocks(double density, std::int64_t block) {
  return -std::expm1(static_cast<double>(block) * std::log1p(-density));
}

// A probe collective that always has something to send tells whether ranks and links are alike.
std::optional<UniformCost> formula_cost(const Collective& base) {
  Collective probe = base;
  probe.op = Op::allreduce;
  probe.algorithm = AlgorithmId::ring;
  probe.bytes = 1;
  if (const auto& two = base.links.two_level; two && base.ranks > two->gpus_per_node) {
    probe.links.all.per_byte_s *= ranks_per_interface(base);
    probe.links.two_level.reset();
  }
  return uniform_cost(probe);
}

void add_formula(const Compression& compression, const Collective& base,
                 CompressedExchange& exchange) {
  const std::optional<UniformCost> cost = formula_cost(base);
  if (!cost) {
    throw SimulationError(std::string(row(compression.method).name) +
                          ": the closed form needs identical ranks entering together");
  }
  const double alpha = cost->link.startup_s();
  const double beta = cost->link.per_byte_s;
  const double P = base.ranks;
  const double L = ceil_log2(base.ranks);
  const double share = (P - 1) / P;
  const double list = static_cast<double>(exchange.entries) * entry_bytes(compression); // k E
  const double dense = exchange.dense_bytes;                                            // M
  const double held = held_entries(compression, exchange, base.ranks);
  double seconds = 0;
  if (compression.method == CompressionMethod::sparcml_split) {
    const double gathered = held_bytes(compression, exchange, base.ranks) / P; // g
    seconds = (P - 1 + L) * alpha + (list * share + (P - 1) * gathered) * beta;
    exchange.scattered = std::llround(held);
  } else if (compression.method == CompressionMethod::topk_dsa) {
    const double sparse = (P + 2 * L) * alpha + 2 * list * share * beta;
    const double filled = (P + 2 * L) * alpha + (list + dense) * share * beta;
    const auto [low, high] = std::minmax(sparse, filled);
    exchange.formula_range_s = {low + cost->enter_s, high + cost->enter_s};
    seconds = high;
    exchange.scattered = std::min(exchange.elements, exchange.ranks * exchange.entries);
  } else if (compression.method == CompressionMethod::ok_topk) {
    seconds = (2 * P + 2 * L) * alpha + 3 * list * share * beta;
    exchange.scattered = exchange.entries;
  } else {
    assert(compression.method == CompressionMethod::omnireduce && "a method without a schedule");
    const auto elements = static_cast<double>(exchange.elements);
    const double density = compression.density.value_or(static_cast<double>(exchange.k) / elements);
    const double blocks = nonzero_blocks(density, compression.block);
    seconds = alpha + blocks * dense * beta;
    exchange.scattered = std::llround(blocks * elements);
  }
  seconds += cost->enter_s;
  exchange.formula_s = seconds;
}

} // namespace stepsim::collectives
