// The stages of methods that send every value in fewer bits, or factors (SPA 11; PIP 6).
#include <algorithm>
#include <cmath>

#include "coll/compress/exchange_builder.hpp"

namespace stepsim::coll {
namespace {

double low_rank(const Compression& compression, const MatrixShape& shape) {
  return static_cast<double>(std::min({compression.rank, shape.rows, shape.columns}));
}

} // namespace

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

void ExchangeBuilder::add_powersgd() {
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
  for (const double values : {left, right}) { // of the factors, whose size is the method's own
    if (values > 0) {
      const std::int64_t size = compression_.value_bytes;
      add(ring(Op::allreduce, values * static_cast<double>(size), size));
    }
  }
  if (flat > 0) { // as the gradient has them
    const double each = dense_bytes() / static_cast<double>(gradient_.elements);
    add(ring(Op::allreduce, flat * each, dense_value_bytes()));
  }
  exchange_.scattered = gradient_.elements;
}

// Everybody's whole gradient in fewer bits, around a ring.
void ExchangeBuilder::add_packed(double bytes_per_rank) {
  add(lists(Op::allgather, AlgorithmId::ring, base_.ranks * bytes_per_rank));
  exchange_.scattered = exchange_.ranks * gradient_.elements;
}

void ExchangeBuilder::add_fp16() {
  constexpr double kHalf = 2; // bytes per value; narrower ones stay
  const double bytes = std::min(kHalf * static_cast<double>(gradient_.elements), dense_bytes());
  Collective collective = dense(bytes);
  const double element = static_cast<double>(collective.options.element_bytes);
  collective.options.element_bytes =
      std::max<std::int64_t>(1, static_cast<std::int64_t>(element * bytes / dense_bytes()));
  add(with_chosen_algorithm(collective));
  exchange_.scattered = gradient_.elements;
}

// Per uncompressed byte of a part: decode, add, encode. The wire carries 1/r of it, so that the
// cost of a byte added there is r times as much. With agreed scales codes are added as they are.
void ExchangeBuilder::add_codec() {
  const auto per_byte = [](double rate) { return rate > 0 ? 1 / rate : 0; };
  const double encode = compression_.scale_agreement ? 0 : per_byte(compression_.encode_Bps);
  const double decode = compression_.scale_agreement ? 0 : per_byte(compression_.decode_Bps);
  if (compression_.scale_agreement) {
    const std::size_t tensors = std::max<std::size_t>(1, gradient_.shapes.size());
    Collective scales = ring(Op::allreduce, kScaleBytes * static_cast<double>(tensors), 4);
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

} // namespace stepsim::coll
