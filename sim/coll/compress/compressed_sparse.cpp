// The stages of methods that exchange lists of entries (SPA 3, 4, 11).
#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.hpp"
#include "coll/compress/compressed_formulas.hpp"
#include "coll/compress/exchange_builder.hpp"
#include "coll/evaluate/fabric_links.hpp"
#include "coll/evaluate/link_costs.hpp"
#include "coll/formula/closed_form.hpp"

namespace stepsim::coll {
namespace {
constexpr double kListSizeBytes = 4; // where sizes are exchanged first
}

std::uint32_t selecting_shards(const Compression& compression, const Collective& base) {
  if (compression.method != CompressionMethod::hierarchical_topk) {
    return 1;
  }
  const std::uint32_t gpus = base.links.two_level ? base.links.two_level->gpus_per_node : 1;
  if (gpus < 2 || base.ranks < 2 * gpus) {
    throw SimulationError("hierarchical_topk needs at least 2 nodes and 2 GPUs per node");
  }
  if (base.ranks % gpus != 0 || !base.links.pairs.empty()) {
    throw SimulationError("hierarchical_topk needs equal nodes and equal links, got " +
                          std::to_string(base.ranks) + " ranks in nodes of " +
                          std::to_string(gpus));
  }
  if (base.links.fabric) { // its stages run on some ranks each
    throw SimulationError("hierarchical_topk is not defined on a topology");
  }
  return gpus;
}

AlgorithmId ExchangeBuilder::allgather(SparseAllgather asked) const {
  switch (asked) {
  case SparseAllgather::automatic:
    return power_of_two() ? AlgorithmId::recursive_doubling : AlgorithmId::bruck;
  case SparseAllgather::recursive_doubling:
    if (!power_of_two()) {
      throw SimulationError("recursive_doubling needs a power-of-two rank count, got " +
                            std::to_string(base_.ranks) + "; use bruck, ring or auto");
    }
    return AlgorithmId::recursive_doubling;
  case SparseAllgather::bruck:
    return AlgorithmId::bruck;
  case SparseAllgather::ring:
    return AlgorithmId::ring;
  }
  return AlgorithmId::ring;
}

void ExchangeBuilder::add_topk() {
  const double ranks = base_.ranks;
  if (compression_.method == CompressionMethod::gaussian_k) {
    add(lists(Op::allgather, allgather(SparseAllgather::automatic), ranks * kListSizeBytes));
  }
  const AlgorithmId algorithm = allgather(compression_.allgather);
  if (compression_.split_values_indices) {
    for (const std::int64_t size : {compression_.value_bytes, compression_.index_bytes}) {
      const auto bytes = static_cast<double>(exchange_.entries * size);
      add(lists(Op::allgather, algorithm, ranks * bytes));
    }
  } else {
    add(lists(Op::allgather, algorithm, ranks * list_bytes()));
  }
  exchange_.scattered = exchange_.ranks * exchange_.entries;
}

void ExchangeBuilder::add_tree() {
  Collective reduce = lists(Op::reduce, AlgorithmId::mst, list_bytes());
  reduce.options.tree = TreeShape::near_first;
  add(std::move(reduce));
  Collective broadcast = lists(Op::broadcast, AlgorithmId::mst, list_bytes());
  if (compression_.broadcast == SparseBroadcast::flat) {
    broadcast.options.tree = TreeShape::flat;
  }
  add(std::move(broadcast));
  exchange_.merges = ceil_log2(base_.ranks);
  exchange_.scattered = exchange_.entries;
  add_barriers(ceil_log2(base_.ranks));
}

void ExchangeBuilder::add_butterfly() {
  add(lists(Op::allreduce, AlgorithmId::recursive_doubling, list_bytes()));
  exchange_.merges = floor_log2(base_.ranks) + (power_of_two() ? 0 : 1);
  exchange_.scattered = exchange_.entries;
  add_barriers(floor_log2(base_.ranks));
}

void ExchangeBuilder::add_sparcml() {
  Collective collective = lists(Op::allreduce, AlgorithmId::recursive_doubling, list_bytes());
  for (std::uint32_t held = 1; held <= base_.ranks; ++held) {
    collective.held_bytes.push_back(held_bytes(compression_, exchange_, held));
  }
  collective.bytes = collective.held_bytes.front();
  add(std::move(collective));
  exchange_.merges = floor_log2(base_.ranks) + (power_of_two() ? 0 : 1);
  exchange_.scattered = std::llround(held_entries(compression_, exchange_, base_.ranks));
}

void ExchangeBuilder::add_hierarchical() {
  const std::uint32_t gpus = base_.links.two_level ? base_.links.two_level->gpus_per_node : 1;
  const std::uint32_t nodes = base_.ranks / gpus;
  const LinkCost intra = base_.links.two_level ? base_.links.two_level->intra : LinkCost{};
  const std::vector<double> gammas = reduction_costs(base_);
  const double gamma = *std::max_element(gammas.begin(), gammas.end());
  const auto on = [&](Collective collective, std::uint32_t ranks, const LinkCost& link) {
    collective.ranks = ranks;
    collective.links = Links{.all = link, .pairs = {}, .two_level = {}};
    collective.reduction_s_per_byte_rank.clear();
    return collective;
  };
  const auto in_nodes = [&](Collective collective) {
    exchange_.stages.push_back({on(std::move(collective), gpus, intra), nodes, gpus, 1});
  };
  Collective sums = ring(Op::reduce_scatter, dense_bytes(), dense_value_bytes());
  sums.reduction_s_per_byte = gamma;
  in_nodes(std::move(sums));
  if (!base_.enter_s.empty()) {
    const double last = *std::max_element(base_.enter_s.begin(), base_.enter_s.end());
    exchange_.stages.front().collective.enter_s.assign(gpus, last);
  }
  const double gathered = nodes * list_bytes(); // of one shard
  Collective between = lists(Op::allgather, AlgorithmId::ring, gathered);
  exchange_.stages.push_back({on(std::move(between), nodes, base_.links.all), gpus, 1, gpus});
  in_nodes(lists(Op::allgather, AlgorithmId::ring, gpus * gathered));
  exchange_.scattered = exchange_.ranks * exchange_.entries;
}

// After every round, log2 P messages deep.
void ExchangeBuilder::add_barriers(std::uint32_t rounds) {
  if (compression_.round_barriers) {
    const double latency = base_.links.fabric
                               ? ring_cost(base_.links, {.count = base_.ranks}).latency_s
                               : base_.links.all.latency_s;
    exchange_.fixed_s += rounds * ceil_log2(base_.ranks) * latency;
  }
}

} // namespace stepsim::coll
