// Which collectives each compression method is made of (SPA 3, 4, 11; PIP 6).
#include "coll/compressed_exchange.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include "base/error.hpp"
#include "coll/closed_form.hpp"
#include "coll/compressed_formulas.hpp"
#include "coll/link_costs.hpp"

namespace stepsim::coll {
namespace {

using Id = CompressionMethod;

constexpr double kListSizeBytes = 4; // where sizes are exchanged first
constexpr double kScaleBytes = 4;    // of a codec, per part or tensor

double divided_up(std::int64_t a, std::int64_t b) { return static_cast<double>((a + b - 1) / b); }

double low_rank(const Compression& compression, const MatrixShape& shape) {
  return static_cast<double>(std::min({compression.rank, shape.rows, shape.columns}));
}

// Two products with the gradient's matrix, and making one factor orthogonal.
double low_rank_flops(const Compression& compression, const GradientPart& gradient) {
  double flops = 0;
  for (const MatrixShape& shape : gradient.shapes) {
    if (shape.columns > 1) {
      const auto n = static_cast<double>(shape.rows);
      const double r = low_rank(compression, shape);
      flops += 6 * r * n * static_cast<double>(shape.columns) + 2 * n * r * r;
    }
  }
  return flops;
}

class Builder {
public:
  Builder(const Compression& compression, const GradientPart& gradient, const Collective& base,
          CompressedExchange& exchange)
      : compression_(compression), gradient_(gradient), base_(base), exchange_(exchange) {}

  void add_method();

private:
  void add_topk();
  void add_tree();
  void add_butterfly();
  void add_sparcml();
  void add_hierarchical();
  void add_powersgd();
  void add_packed(double bytes_per_rank);
  void add_fp16();
  void add_codec();

  [[nodiscard]] double dense_bytes() const { // M
    return static_cast<double>(gradient_.elements * compression_.value_bytes);
  }
  [[nodiscard]] double list_bytes() const { // k E
    const std::int64_t entry = compression_.index_bytes + compression_.value_bytes;
    return static_cast<double>(exchange_.entries * entry);
  }
  [[nodiscard]] bool power_of_two() const { return std::has_single_bit(base_.ranks); }

  // An all-reduce as the base asks for it.
  [[nodiscard]] Collective dense(double bytes) const {
    Collective collective = base_;
    collective.op = Op::allreduce;
    collective.bytes = bytes;
    collective.root = 0;
    collective.sizes.clear();
    collective.held_bytes.clear();
    if (!exchange_.stages.empty()) {
      collective.enter_s.clear(); // all ranks leave the stage before together
    }
    return collective;
  }
  // Dense values around a ring, whatever algorithm the base asks for.
  [[nodiscard]] Collective ring(Op op, double bytes) const {
    Collective collective = dense(bytes);
    collective.op = op;
    collective.algorithm = AlgorithmId::ring;
    collective.options = Options{};
    collective.options.chunking = base_.options.chunking;
    collective.options.reduction_mode = base_.options.reduction_mode;
    collective.options.element_bytes = compression_.value_bytes;
    return collective;
  }
  // Lists: an empty one is sent too, adding costs nothing.
  [[nodiscard]] Collective lists(Op op, AlgorithmId algorithm, double bytes) const {
    Collective collective = ring(op, bytes);
    collective.algorithm = algorithm;
    collective.options.element_bytes = 1;
    collective.options.empty_messages = true;
    collective.reduction_s_per_byte = 0;
    collective.reduction_s_per_byte_rank.clear();
    return collective;
  }
  void add(Collective collective) {
    exchange_.stages.push_back({.collective = std::move(collective)});
  }
  [[nodiscard]] AlgorithmId allgather(SparseAllgather asked) const;
  void add_barriers(std::uint32_t rounds) {
    if (compression_.round_barriers) {
      exchange_.fixed_s += rounds * ceil_log2(base_.ranks) * base_.links.all.latency_s;
    }
  }

  const Compression& compression_;
  const GradientPart& gradient_;
  const Collective& base_;
  CompressedExchange& exchange_;
};

AlgorithmId Builder::allgather(SparseAllgather asked) const {
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

void Builder::add_topk() {
  const double ranks = base_.ranks;
  if (compression_.method == Id::gaussian_k) {
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

void Builder::add_tree() {
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

void Builder::add_butterfly() {
  add(lists(Op::allreduce, AlgorithmId::recursive_doubling, list_bytes()));
  exchange_.merges = floor_log2(base_.ranks) + (power_of_two() ? 0 : 1);
  exchange_.scattered = exchange_.entries;
  add_barriers(floor_log2(base_.ranks));
}

void Builder::add_sparcml() {
  Collective collective = lists(Op::allreduce, AlgorithmId::recursive_doubling, list_bytes());
  for (std::uint32_t held = 1; held <= base_.ranks; ++held) {
    collective.held_bytes.push_back(held_bytes(compression_, exchange_, held));
  }
  collective.bytes = collective.held_bytes.front();
  add(std::move(collective));
  exchange_.merges = floor_log2(base_.ranks) + (power_of_two() ? 0 : 1);
  exchange_.scattered = std::llround(held_entries(compression_, exchange_, base_.ranks));
}

void Builder::add_hierarchical() {
  const std::uint32_t gpus = base_.links.two_level ? base_.links.two_level->gpus_per_node : 1;
  const std::uint32_t nodes = base_.ranks / gpus;
  const LinkCost intra = base_.links.two_level ? base_.links.two_level->intra : LinkCost{};
  const std::vector<double> gammas = reduction_costs(base_);
  const double gamma = *std::max_element(gammas.begin(), gammas.end());
  const auto on = [&](Collective collective, std::uint32_t ranks, const LinkCost& link) {
    collective.ranks = ranks;
    collective.links = Links{.all = link, .pairs = {}, .two_level = {}};
    collective.enter_s.clear();
    collective.reduction_s_per_byte_rank.clear();
    return collective;
  };
  const auto in_nodes = [&](Collective collective) {
    exchange_.stages.push_back({on(std::move(collective), gpus, intra), nodes, gpus, 1});
  };
  Collective sums = ring(Op::reduce_scatter, dense_bytes());
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

void Builder::add_powersgd() {
  double left = 0; // values of the factors
  double right = 0;
  double flat = 0;
  for (const MatrixShape& shape : gradient_.shapes) {
    if (shape.columns > 1) {
      const auto n = static_cast<double>(shape.rows);
      const auto c = static_cast<double>(shape.columns);
      const double r = low_rank(compression_, shape);
      left += r * n;
      right += r * c;
    } else {
      flat += static_cast<double>(shape.rows);
    }
  }
  if (gradient_.shapes.empty()) {
    flat = static_cast<double>(gradient_.elements);
  }
  for (const double values : {left, right, flat}) {
    if (values > 0) {
      add(ring(Op::allreduce, values * static_cast<double>(compression_.value_bytes)));
    }
  }
  exchange_.scattered = gradient_.elements;
}

// Everybody's whole gradient in fewer bits, around a ring.
void Builder::add_packed(double bytes_per_rank) {
  add(lists(Op::allgather, AlgorithmId::ring, base_.ranks * bytes_per_rank));
  exchange_.scattered = exchange_.ranks * gradient_.elements;
}

void Builder::add_fp16() {
  constexpr std::int64_t kHalf = 2; // bytes per value
  Collective collective = dense(static_cast<double>(kHalf * gradient_.elements));
  collective.options.element_bytes = std::max<std::int64_t>(
      1, collective.options.element_bytes * kHalf / compression_.value_bytes);
  add(with_chosen_algorithm(collective));
  exchange_.scattered = gradient_.elements;
}

// Per uncompressed byte of a part: decode, add, encode. The wire carries 1/r of it, so that the
// cost of a byte added there is r times as much. With agreed scales codes are added as they are.
void Builder::add_codec() {
  const auto per_byte = [](double rate) { return rate > 0 ? 1 / rate : 0; };
  const double encode = compression_.scale_agreement ? 0 : per_byte(compression_.encode_Bps);
  const double decode = compression_.scale_agreement ? 0 : per_byte(compression_.decode_Bps);
  if (compression_.scale_agreement) {
    const std::size_t tensors = std::max<std::size_t>(1, gradient_.shapes.size());
    Collective scales = ring(Op::allreduce, kScaleBytes * static_cast<double>(tensors));
    scales.reduction_s_per_byte = 0;
    scales.reduction_s_per_byte_rank.clear();
    add(std::move(scales));
  }
  double bytes = dense_bytes() / compression_.ratio;
  if (base_.options.chunking == Chunking::integer) {
    bytes = std::ceil(bytes);
  }
  Collective collective = with_chosen_algorithm(dense(bytes));
  collective.options.element_bytes = 1;
  const bool server = collective.algorithm == AlgorithmId::parameter_server;
  const double hop = server ? decode : decode + encode; // a server encodes the sum once
  const double ratio = dense_bytes() / bytes;
  collective.reduction_s_per_byte = ratio * (base_.reduction_s_per_byte + hop);
  for (double& gamma : collective.reduction_s_per_byte_rank) {
    gamma = ratio * (gamma + hop);
  }
  if (server) {
    const double servers = collective.options.placement == Placement::sharded
                               ? base_.ranks
                               : collective.options.servers;
    exchange_.fixed_s += dense_bytes() * encode / servers;
  }
  ExchangeStage stage{.collective = std::move(collective)};
  if (compression_.count_scale_bytes) {
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
  exchange_.stages.push_back(std::move(stage));
}

void Builder::add_method() {
  switch (compression_.method) {
  case Id::none:
    return add(with_chosen_algorithm(dense(dense_bytes())));
  case Id::fp16:
    return add_fp16();
  case Id::truncate16:
  case Id::quantize8:
  case Id::custom:
    return add_codec();
  case Id::topk:
  case Id::dgc:
  case Id::gaussian_k:
  case Id::gtopk_exact:
    return add_topk();
  case Id::gtopk_tree:
    return add_tree();
  case Id::gtopk_butterfly:
    return add_butterfly();
  case Id::sparcml_rd:
    return add_sparcml();
  case Id::hierarchical_topk:
    return add_hierarchical();
  case Id::powersgd:
    return add_powersgd();
  case Id::qsgd:
    return add_packed(divided_up(gradient_.elements * compression_.bits, 8) +
                      kScaleBytes * divided_up(gradient_.elements, compression_.bucket));
  case Id::signsgd:
    return add_packed(divided_up(gradient_.elements, 8));
  case Id::sparcml_split:
  case Id::topk_dsa:
  case Id::ok_topk:
  case Id::omnireduce:
    return add_formula(compression_, base_, exchange_);
  }
}

// Ranks of a node, each of which selects from its shard; 1 but for hierarchical_topk.
std::uint32_t selecting_shards(const Compression& compression, const Collective& base) {
  if (compression.method != Id::hierarchical_topk) {
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
  return gpus;
}

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

} // namespace

CompressedExchange compressed_exchange(const Compression& compression, const GradientPart& gradient,
                                       const Collective& base) {
  CompressedExchange exchange;
  exchange.ranks = base.ranks;
  exchange.elements = gradient.elements;
  const std::uint32_t shards = selecting_shards(compression, base);
  exchange.searched = (gradient.elements + shards - 1) / shards;
  if (row(compression.method).kind == CompressionKind::sparse) {
    exchange.k = entries_per_shard(compression, gradient.elements, shards);
    const double sent = static_cast<double>(exchange.k) * compression.selected_ratio;
    exchange.entries = std::min<std::int64_t>(std::llround(sent), gradient.elements);
  }
  if (compression.method == Id::powersgd) {
    exchange.flops = low_rank_flops(compression, gradient);
  }
  // A worker alone sends nothing, unless a server of its own adds for it.
  const CompressionKind kind = row(compression.method).kind;
  const bool server = (kind == CompressionKind::dense || kind == CompressionKind::codec) &&
                      base.algorithm == AlgorithmId::parameter_server &&
                      base.options.placement == Placement::dedicated;
  if ((base.ranks > 1 || server) && gradient.elements > 0) {
    Builder(compression, gradient, base, exchange).add_method();
  }
  return exchange;
}

} // namespace stepsim::coll
