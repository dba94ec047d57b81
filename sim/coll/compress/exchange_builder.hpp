#pragma once
// How the stages of a compressed exchange are made from the collective that the user asks for.
// Internal to coll.
#include <bit>
#include <cmath>
#include <utility>

#include "coll/compress/compressed_exchange.hpp"

namespace stepsim::coll {

inline constexpr double kScaleBytes = 4; // of quantised values, per part, tensor or bucket

// Ranks that one rank's gradient is split over before it selects: those of a node for
// hierarchical_topk, else 1. Throws SimulationError where they do not suit the method.
[[nodiscard]] std::uint32_t selecting_shards(const Compression& compression,
                                             const Collective& base);

// FLOP of powersgd: two products with the gradient's matrix, and making one factor orthogonal.
[[nodiscard]] double low_rank_flops(const Compression& compression, const GradientPart& gradient);

class ExchangeBuilder {
public:
  ExchangeBuilder(const Compression& compression, const GradientPart& gradient,
                  const Collective& base, CompressedExchange& exchange)
      : compression_(compression), gradient_(gradient), base_(base), exchange_(exchange) {}

  void add_method();

private:
  // compressed_sparse.cpp
  void add_topk();
  void add_tree();
  void add_butterfly();
  void add_sparcml();
  void add_hierarchical();
  // compressed_dense.cpp
  void add_powersgd();
  void add_packed(double bytes_per_rank);
  void add_fp16();
  void add_codec();

  [[nodiscard]] double dense_bytes() const { return exchange_.dense_bytes; } // M
  // Of one value of the dense gradient; 1 where values differ.
  [[nodiscard]] std::int64_t dense_value_bytes() const {
    const double each = dense_bytes() / static_cast<double>(gradient_.elements);
    return each == std::floor(each) ? static_cast<std::int64_t>(each) : 1;
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
  // Values of `value_bytes` around a ring, whatever algorithm the base asks for.
  [[nodiscard]] Collective ring(Op op, double bytes, std::int64_t value_bytes) const {
    Collective collective = dense(bytes);
    collective.op = op;
    collective.algorithm = AlgorithmId::ring;
    collective.options = Options{};
    collective.options.chunking = base_.options.chunking;
    collective.options.reduction_mode = base_.options.reduction_mode;
    collective.options.element_bytes = value_bytes;
    return collective;
  }
  // Lists: an empty one is sent too, adding costs nothing.
  [[nodiscard]] Collective lists(Op op, AlgorithmId algorithm, double bytes) const {
    Collective collective = ring(op, bytes, 1);
    collective.algorithm = algorithm;
    collective.options.empty_messages = true;
    collective.reduction_s_per_byte = 0;
    collective.reduction_s_per_byte_rank.clear();
    return collective;
  }
  void add(Collective collective) {
    exchange_.stages.push_back({.collective = std::move(collective)});
  }
  [[nodiscard]] AlgorithmId allgather(SparseAllgather asked) const;
  void add_barriers(std::uint32_t rounds);

  const Compression& compression_;
  const GradientPart& gradient_;
  const Collective& base_;
  CompressedExchange& exchange_;
};

} // namespace stepsim::coll
