#pragma once
// Builds the stages of a compressed exchange from the collective that the user asks for. A builder
// holds this collective and the exchange to extend; every method has a function that adds its
// stages.
//
//     void add_fp16(const ExchangeBuilder& build) {
//       build.add(build.dense(build.dense_bytes() / 2));      // an all-reduce of 2-byte values
//     }

#include "collectives/compress/compressed_exchange.hpp"
#include "collectives/formula/uniform.hpp"

#include <bit>
#include <cmath>

namespace stepsim::collectives {

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
  void add(Collective&& collective) const { exchange.stages.emplace_back(std::move(collective)); }
};

// The stages of methods that send every value, in fewer bits or as factors (SPA 11; PIP 6), and of
// custom compressors.

// powersgd: adds all-reduces of the n x r left factors, the c x r right factors and the
// one-dimensional tensors. A gradient without shapes counts as one such tensor.
void add_powersgd(const ExchangeBuilder& build);
// qsgd, signsgd: adds an all-gather around a ring, of `bytes_per_rank` from every rank for its
// whole gradient in few bits or signs.
void add_packed(const ExchangeBuilder& build, double bytes_per_rank);
// fp16: adds the dense all-reduce with values of at most 2 bytes.
void add_fp16(const ExchangeBuilder& build);
// truncate16, quantize8, custom_codec: adds the dense all-reduce of M / ratio bytes, where M are
// the bytes of the gradient. Every hop decodes, adds and encodes again, which the cost of adding
// contains. A parameter server decodes and adds every push, and encodes the sum once. With
// `scale_agreement`, an all-reduce of one scale per tensor comes first, and codes are added without
// decoding.
void add_codec(const ExchangeBuilder& build);
// custom: adds the exchange of the compressor with the bytes of its formula, without the cost of
// merging. Throws SimulationError for its exchange `server` on a fabric.
void add_custom(const ExchangeBuilder& build);

// The stages of methods that exchange lists of entries (SPA 3, 4, 11). Every rank sends k' entries,
// each an index and a value (CompressedExchange::entries).

// Returns the number of ranks that split a gradient before each selects from its shard: the ranks
// of a node for hierarchical_topk, else 1. Throws SimulationError if ranks or links do not suit
// hierarchical_topk.
[[nodiscard]] std::uint32_t selecting_shards(const Compression& compression,
                                             const Collective& base);

// topk, dgc, gaussian_k, gtopk_exact: adds an all-gather of P lists, or two if values and indices
// are split; gaussian_k gathers the list sizes first. Throws SimulationError if recursive_doubling
// is asked for and P is not a power of two.
void add_topk(const ExchangeBuilder& build);
// gtopk_tree: adds a reduce of one list, neighbours first, and a broadcast of the merged list.
void add_tree(const ExchangeBuilder& build);
// gtopk_butterfly: adds floor(log2 P) exchanges of one list, which is merged and cut to k entries
// after each. If P is not a power of two, one more round comes before them and one after.
void add_butterfly(const ExchangeBuilder& build);
// sparcml_rd: adds recursive doubling, whose messages grow with the lists summed, at most to the
// dense size.
void add_sparcml(const ExchangeBuilder& build);
// hierarchical_topk: adds a dense reduce-scatter in nodes, an all-gather of the shards' lists
// between nodes, and an all-gather of these lists in nodes.
void add_hierarchical(const ExchangeBuilder& build);

// Formulas of SPA 11 that are not collectives: how lists grow when they are summed, and the times
// of methods without a schedule. A bucket has m elements, and M bytes if it is dense; every rank
// sends a list of k' = exchange.entries entries of E = index_bytes + value_bytes each.

// Returns n(c), the expected number of entries in the sum of the lists of c ranks. It depends on
// how the positions that the ranks select overlap (support_overlap):
//   full k'      disjoint min(k' c, m)      random m (1 - (1 - k'/m)^c)
[[nodiscard]] double held_entries(const Compression& compression,
                                  const CompressedExchange& exchange, std::uint32_t ranks);
// Returns min(n(c) E, M): a list that would be longer than the dense gradient is sent dense.
[[nodiscard]] double held_bytes(const Compression& compression, const CompressedExchange& exchange,
                                std::uint32_t ranks);

// Returns the fraction of the blocks of `block` elements that hold at least one entry, if a
// fraction `density` of all elements are entries at random positions: 1 - (1 - density)^block.
[[nodiscard]] double nonzero_blocks(double density, std::int64_t block);

// Returns the link cost for the formulas, which support one kind of link only. On nodes with
// several ranks each rank has a fixed share of an interface, so that a node never sends more than
// its interfaces carry. Empty if ranks or links differ.
[[nodiscard]] std::optional<UniformCost> formula_cost(const Collective& base);

// Sets formula_s, scattered and, for topk_dsa, formula_range_s of a method without a schedule.
// Times count from time 0, and so include the entry time if all ranks enter later together. Throws
// SimulationError if ranks or links differ.
void add_formula(const Compression& compression, const Collective& base,
                 CompressedExchange& exchange);

} // namespace stepsim::collectives
