#pragma once
// Builds the stages of a compressed exchange from the collective that the user asks for. A builder
// holds this collective and the exchange to extend; every method has a function that adds its
// stages (compressed_sparse.hpp, compressed_dense.hpp).
//
//     void add_fp16(const ExchangeBuilder& build) {
//       build.add(build.dense(build.dense_bytes() / 2));      // an all-reduce of 2-byte values
//     }
#include <bit>
#include <cmath>
#include <utility>

#include "coll/compress/compressed_exchange.hpp"

namespace stepsim::coll {

inline constexpr double kScaleBytes = 4; // scale of a quantised part, tensor or bucket

struct ExchangeBuilder {
  const Compression& compression;
  const GradientPart& gradient;
  const Collective& base;
  CompressedExchange& exchange; // stages are appended to it

  [[nodiscard]] double dense_bytes() const { return exchange.dense_bytes; } // M
  // Returns the bytes of one value of the dense gradient; 1 if M / elements is not a whole number.
  [[nodiscard]] std::int64_t dense_value_bytes() const {
    const double each = dense_bytes() / static_cast<double>(gradient.elements);
    return each == std::floor(each) ? static_cast<std::int64_t>(each) : 1;
  }
  [[nodiscard]] double list_bytes() const { // k' E, see compressed_exchange.hpp
    const std::int64_t entry = compression.index_bytes + compression.value_bytes;
    return static_cast<double>(exchange.entries * entry);
  }
  [[nodiscard]] bool power_of_two() const { return std::has_single_bit(base.ranks); }

  // Returns an all-reduce with the algorithm and options of `base`; if other stages come first, all
  // ranks enter at 0.
  [[nodiscard]] Collective dense(double bytes) const {
    Collective collective = base;
    collective.op = Op::allreduce;
    collective.bytes = bytes;
    collective.root = 0;
    collective.sizes.clear();
    collective.held_bytes.clear();
    if (!exchange.stages.empty()) {
      collective.enter_s.clear(); // all ranks finish the previous stage together
    }
    return collective;
  }
  // Returns a collective around a ring, whatever algorithm `base` has, in values of `value_bytes`.
  [[nodiscard]] Collective ring(Op op, double bytes, std::int64_t value_bytes) const {
    Collective collective = dense(bytes);
    collective.op = op;
    collective.algorithm = AlgorithmId::ring;
    collective.options = Options{};
    collective.options.chunking = base.options.chunking;
    collective.options.reduction_mode = base.options.reduction_mode;
    collective.options.element_bytes = value_bytes;
    return collective;
  }
  // Returns a collective of lists of entries: an empty list is sent, too, and adding costs nothing.
  [[nodiscard]] Collective lists(Op op, AlgorithmId algorithm, double bytes) const {
    Collective collective = ring(op, bytes, 1);
    collective.algorithm = algorithm;
    collective.options.empty_messages = true;
    collective.reduction_s_per_byte = 0;
    collective.reduction_s_per_byte_rank.clear();
    return collective;
  }
  void add(Collective collective) const {
    exchange.stages.push_back({.collective = std::move(collective)});
  }
};

} // namespace stepsim::coll
