// The stages of methods that send every value in fewer bits, or factors (SPA 11; PIP 6).

#include "collectives/compress/exchange_builder.hpp"

#include "base/error.hpp"
#include "collectives/evaluate/link_costs.hpp"
#include "collectives/method.hpp"

namespace stepsim::collectives {

namespace {

double low_rank(const Compression& compression, const MatrixShape& shape) {
  return static_cast<double>(std::min({compression.rank, shape.rows, shape.columns}));
}

// The stages of methods that exchange lists of entries (SPA 3, 4, 11).

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

LowRankWork low_rank_work(const Compression& compression, const GradientPart& gradient) {
  const double w = dense_bytes(compression, gradient) / static_cast<double>(gradient.elements);
  const auto v = static_cast<double>(compression.value_bytes);
  LowRankWork work;
  const auto add = [](Work& to, double flops, double bytes) {
    to.flops += flops;
    to.bytes += bytes;
  };
  for (const MatrixShape& shape : gradient.shapes) {
    if (shape.columns > 1) {
      const auto n = static_cast<double>(shape.rows);
      const auto c = static_cast<double>(shape.columns);
      const double r = low_rank(compression, shape);
      add(work.encode, 4 * r * n * c + 2 * n * r * r,
          2 * n * c * w + 2 * r * (n + c) * v + 2 * n * r * v);
      add(work.feedback, 0, 5 * n * c * w);
      add(work.decode, 2 * r * n * c, 4 * n * c * w + r * (n + c) * v);
    }
  }
  return work;
}

void add_powersgd(const ExchangeBuilder& build) {
  double left = 0; // values of the factors
  double right = 0;
  double flat = 0;
  for (const MatrixShape& shape : build.gradient.shapes) {
    if (shape.columns > 1) {
      const auto n = static_cast<double>(shape.rows);
      const auto c = static_cast<double>(shape.columns);
      const double r = low_rank(build.compression, shape);
      left += r * n;
      right += r * c;
    } else {
      flat += static_cast<double>(shape.rows);
    }
  }
  if (build.gradient.shapes.empty()) {
    flat = static_cast<double>(build.gradient.elements);
  }
  for (const double values : {left, right}) { // of the factors, whose size is the method's own
    if (values > 0) {
      const std::int64_t size = build.compression.value_bytes;
      build.add(build.ring(Op::allreduce, values * static_cast<double>(size), size));
    }
  }
  if (flat > 0) { // as the gradient has them
    const double each = build.dense_bytes() / static_cast<double>(build.gradient.elements);
    build.add(build.ring(Op::allreduce, flat * each, build.dense_value_bytes()));
  }
  build.exchange.scattered = build.gradient.elements;
}

// Everybody's whole gradient in fewer bits, around a ring.
void add_packed(const ExchangeBuilder& build, double bytes_per_rank) {
  build.add(build.lists(Op::allgather, AlgorithmId::ring, build.base.ranks * bytes_per_rank));
  build.exchange.scattered = build.exchange.ranks * build.gradient.elements;
}

void add_fp16(const ExchangeBuilder& build) {
  constexpr double kHalf = 2; // bytes per value; narrower ones stay
  const double bytes =
      std::min(kHalf * static_cast<double>(build.gradient.elements), build.dense_bytes());
  Collective collective = build.dense(bytes);
  const double element = static_cast<double>(collective.options.element_bytes);
  collective.options.element_bytes =
      std::max<std::int64_t>(1, static_cast<std::int64_t>(element * bytes / build.dense_bytes()));
  build.add(with_chosen_algorithm(std::move(collective)));
  build.exchange.scattered = build.gradient.elements;
}

// Per uncompressed byte of a part: decode, add, encode. The wire carries 1/r of it, so that the
// cost of a byte added there is r times as much. With agreed scales codes are added as they are.
void add_codec(const ExchangeBuilder& build) {
  const auto per_byte = [](double rate) { return rate > 0 ? 1 / rate : 0; };
  const double encode =
      build.compression.scale_agreement ? 0 : per_byte(build.compression.encode_Bps);
  const double decode =
      build.compression.scale_agreement ? 0 : per_byte(build.compression.decode_Bps);
  if (build.compression.scale_agreement) {
    const std::size_t tensors = std::max<std::size_t>(1, build.gradient.shapes.size());
    Collective scales = build.ring(Op::allreduce, kScaleBytes * static_cast<double>(tensors), 4);
    scales.reduction_s_per_byte = 0;
    scales.reduction_s_per_byte_rank.clear();
    build.add(std::move(scales));
  }
  double bytes = build.dense_bytes() / build.compression.ratio;
  if (build.base.options.chunking == Chunking::integer) {
    bytes = std::ceil(bytes);
  }
  Collective collective = build.dense(bytes);
  collective.options.element_bytes = 1;
  const bool server = collective.algorithm == AlgorithmId::parameter_server;
  const double hop = server ? decode : decode + encode; // a server encodes the sum once
  const double ratio = build.dense_bytes() / bytes;
  collective.reduction_s_per_byte = ratio * (build.base.reduction_s_per_byte + hop);
  for (double& gamma : collective.reduction_s_per_byte_rank) {
    gamma = ratio * (gamma + hop);
  }
  collective.sum_s_per_byte = server ? ratio * encode : 0;
  ExchangeStage stage{.collective = with_chosen_algorithm(std::move(collective))};
  if (build.compression.count_scale_bytes) {
    stage.header_bytes = kScaleBytes;
    const auto lengthen = [](LinkCost& link) {
      link.latency_s += kScaleBytes * link.per_byte_s;
      link.block_latency_s += kScaleBytes * link.per_byte_s;
    };
    Links& links = stage.collective.links;
    lengthen(links.all);
    std::ranges::for_each(links.pairs, lengthen, &PairCost::cost);
    if (links.two_level) {
      lengthen(links.two_level->intra);
    }
  }
  build.exchange.stages.push_back(std::move(stage));
}

void add_custom(const ExchangeBuilder& build) {
  const CustomCompressor& custom = build.compression.custom;
  double bytes = custom_value(custom, &CustomCompressor::bytes_per_worker, build.gradient.elements,
                              build.base.ranks, build.compression.density.value_or(1));
  if (build.base.options.chunking == Chunking::integer) {
    bytes = std::ceil(bytes);
  }
  // One byte is one element: a message has no values that parts must respect.
  switch (custom.exchange) {
  case CustomExchange::ring:
    return build.add(build.lists(Op::allreduce, AlgorithmId::ring, bytes));
  case CustomExchange::allgather:
    return build.add(build.lists(Op::allgather, AlgorithmId::ring, build.base.ranks * bytes));
  case CustomExchange::tree:
    build.add(build.lists(Op::reduce, AlgorithmId::mst, bytes));
    return build.add(build.lists(Op::broadcast, AlgorithmId::mst, bytes));
  case CustomExchange::server:
    if (build.base.links.fabric) { // whose hosts are those of the ranks
      throw SimulationError("exchange server of custom is not defined on a topology");
    }
    Collective server = build.lists(Op::allreduce, AlgorithmId::parameter_server, bytes);
    server.options.placement = Placement::dedicated;
    server.options.servers = 1;
    return build.add(std::move(server));
  }
}

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
