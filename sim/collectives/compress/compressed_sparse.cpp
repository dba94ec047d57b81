// The stages of methods that exchange lists of entries (SPA 3, 4, 11).
#include "collectives/compress/exchange_builder.hpp"

#include "base/error.hpp"
#include "collectives/compress/compressed_formulas.hpp"
#include "collectives/evaluate/link_costs.hpp"

namespace stepsim::collectives {
namespace {

constexpr double kListSizeBytes = 4; // where sizes are exchanged first

AlgorithmId gather_algorithm(const ExchangeBuilder& build, SparseAllgather asked) {
  switch (asked) {
  case SparseAllgather::automatic:
    return build.power_of_two() ? AlgorithmId::recursive_doubling : AlgorithmId::bruck;
  case SparseAllgather::recursive_doubling:
    if (!build.power_of_two()) {
      throw SimulationError("recursive_doubling needs a power-of-two rank count, got " +
                            std::to_string(build.base.ranks) + "; use bruck, ring or auto");
    }
    return AlgorithmId::recursive_doubling;
  case SparseAllgather::bruck:
    return AlgorithmId::bruck;
  case SparseAllgather::ring:
    return AlgorithmId::ring;
  }
  return AlgorithmId::ring;
}

// After every round, log2 P messages deep.
void add_barriers(const ExchangeBuilder& build, std::uint32_t rounds) {
  if (build.compression.round_barriers) {
    const double latency_s =
        build.base.links.fabric
            ? ring_cost(build.base.links, {.count = build.base.ranks}).startup_s()
            : build.base.links.all.startup_s();
    ExchangeStage& stage = build.exchange.stages.front();
    stage.rounds = rounds;
    stage.barrier_s = ceil_log2(build.base.ranks) * latency_s;
    build.exchange.fixed_s += rounds * stage.barrier_s;
  }
}

} // namespace

std::uint32_t selecting_shards(const Compression& compression, const Collective& base) {
  if (compression.method != CompressionMethod::hierarchical_topk) {
    return 1;
  }
  const std::uint32_t gpus = base.links.two_level ? base.links.two_level->gpus_per_node : 1;
  if (gpus < 2 || base.ranks < 2 * gpus) {
    throw SimulationError("hierarchical_topk needs at least 2 nodes and 2 GPUs per node");
  }
  if (!NodeRanks(base).equal() || !base.links.pairs.empty()) {
    throw SimulationError("hierarchical_topk needs equal nodes and equal links, got " +
                          std::to_string(base.ranks) + " ranks in nodes of " +
                          std::to_string(gpus));
  }
  if (base.links.fabric) { // its stages run on some ranks each
    throw SimulationError("hierarchical_topk is not defined on a topology");
  }
  return gpus;
}

void add_topk(const ExchangeBuilder& build) {
  const double ranks = build.base.ranks;
  if (build.compression.method == CompressionMethod::gaussian_k) {
    build.add(build.lists(Op::allgather, gather_algorithm(build, SparseAllgather::automatic),
                          ranks * kListSizeBytes));
  }
  const AlgorithmId algorithm = gather_algorithm(build, build.compression.allgather);
  if (build.compression.split_values_indices) {
    for (const std::int64_t size : {build.compression.value_bytes, build.compression.index_bytes}) {
      const auto bytes = static_cast<double>(build.exchange.entries * size);
      build.add(build.lists(Op::allgather, algorithm, ranks * bytes));
    }
  } else {
    build.add(build.lists(Op::allgather, algorithm, ranks * build.list_bytes()));
  }
  build.exchange.scattered = build.exchange.ranks * build.exchange.entries;
}

void add_tree(const ExchangeBuilder& build) {
  Collective reduce = build.lists(Op::reduce, AlgorithmId::mst, build.list_bytes());
  reduce.options.tree = TreeShape::near_first;
  build.add(std::move(reduce));
  Collective broadcast = build.lists(Op::broadcast, AlgorithmId::mst, build.list_bytes());
  if (build.compression.broadcast == SparseBroadcast::flat) {
    broadcast.options.tree = TreeShape::flat;
  }
  build.add(std::move(broadcast));
  build.exchange.merges = ceil_log2(build.base.ranks);
  build.exchange.scattered = build.exchange.entries;
  add_barriers(build, ceil_log2(build.base.ranks));
}

void add_butterfly(const ExchangeBuilder& build) {
  build.add(build.lists(Op::allreduce, AlgorithmId::recursive_doubling, build.list_bytes()));
  build.exchange.merges = floor_log2(build.base.ranks) + (build.power_of_two() ? 0 : 1);
  build.exchange.scattered = build.exchange.entries;
  add_barriers(build, floor_log2(build.base.ranks));
}

void add_sparcml(const ExchangeBuilder& build) {
  Collective collective =
      build.lists(Op::allreduce, AlgorithmId::recursive_doubling, build.list_bytes());
  for (std::uint32_t held = 1; held <= build.base.ranks; ++held) {
    collective.held_bytes.push_back(held_bytes(build.compression, build.exchange, held));
  }
  collective.bytes = collective.held_bytes.front();
  build.add(std::move(collective));
  build.exchange.merges = floor_log2(build.base.ranks) + (build.power_of_two() ? 0 : 1);
  build.exchange.scattered =
      std::llround(held_entries(build.compression, build.exchange, build.base.ranks));
}

// Three stages on parts of the ranks: groups of a node's ranks, then groups of equal local ranks.
void add_hierarchical(const ExchangeBuilder& build) {
  const std::uint32_t gpus =
      build.base.links.two_level ? build.base.links.two_level->gpus_per_node : 1;
  const std::uint32_t nodes = build.base.ranks / gpus;
  const LinkCost intra =
      build.base.links.two_level ? build.base.links.two_level->intra : LinkCost{};
  const std::vector<double> gammas = reduction_costs(build.base);
  const double gamma = *std::max_element(gammas.begin(), gammas.end());
  const auto on = [&](Collective collective, std::uint32_t ranks, const LinkCost& link) {
    collective.ranks = ranks;
    collective.links = Links{.all = link, .pairs = {}, .two_level = {}};
    collective.reduction_s_per_byte_rank.clear();
    return collective;
  };
  const auto in_nodes = [&](Collective collective) {
    build.exchange.stages.push_back({on(std::move(collective), gpus, intra), nodes, gpus, 1});
  };
  Collective sums = build.ring(Op::reduce_scatter, build.dense_bytes(), build.dense_value_bytes());
  sums.reduction_s_per_byte = gamma;
  in_nodes(std::move(sums));
  if (!build.base.enter_s.empty()) {
    const double last = *std::max_element(build.base.enter_s.begin(), build.base.enter_s.end());
    build.exchange.stages.front().collective.enter_s.assign(gpus, last);
  }
  const double gathered = nodes * build.list_bytes(); // of one shard
  Collective between = build.lists(Op::allgather, AlgorithmId::ring, gathered);
  build.exchange.stages.push_back(
      {on(std::move(between), nodes, build.base.links.all), gpus, 1, gpus});
  in_nodes(build.lists(Op::allgather, AlgorithmId::ring, gpus * gathered));
  build.exchange.scattered = build.exchange.ranks * build.exchange.entries;
}

} // namespace stepsim::collectives
