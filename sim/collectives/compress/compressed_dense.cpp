// The stages of methods that send every value in fewer bits, or factors (SPA 11; PIP 6).
#include "collectives/compress/exchange_builder.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "collectives/choose.hpp"

namespace stepsim::collectives {
namespace {

double low_rank(const Compression& compression, const MatrixShape& shape) {
  return static_cast<double>(std::min({compression.rank, shape.rows, shape.columns}));
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
  Collective collective = with_chosen_algorithm(build.dense(bytes));
  collective.options.element_bytes = 1;
  const bool server = collective.algorithm == AlgorithmId::parameter_server;
  const double hop = server ? decode : decode + encode; // a server encodes the sum once
  const double ratio = build.dense_bytes() / bytes;
  collective.reduction_s_per_byte = ratio * (build.base.reduction_s_per_byte + hop);
  for (double& gamma : collective.reduction_s_per_byte_rank) {
    gamma = ratio * (gamma + hop);
  }
  if (server) {
    const double servers = collective.options.placement == Placement::sharded
                               ? build.base.ranks
                               : collective.options.servers;
    build.exchange.fixed_s += build.dense_bytes() * encode / servers;
  }
  ExchangeStage stage{.collective = std::move(collective)};
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

} // namespace stepsim::collectives
