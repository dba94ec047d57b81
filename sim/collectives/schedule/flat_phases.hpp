#pragma once
// Building blocks of the flat algorithms (COL 5.1 to 5.8): `FlatPhases` appends one phase after the
// other to a list. An algorithm is a function that appends its phases for an operation, and returns
// false for operations that it does not offer.
//
//     bool ring_phases(FlatPhases& phases, Op op) {   // an all-reduce
//       phases.pass(true);                            // reduce-scatter around the ring
//       phases.pass(false);                           // all-gather
//       return true;
//     }
#include <utility>

#include "collectives/schedule/schedule.hpp"

namespace stepsim::collectives {

// The list that the phases of one algorithm are appended to, and its groups of ranks. Two-level
// algorithms consist of flat ones, with one list per level.
struct PhaseList {
  std::vector<Phase>& phases; // appended to
  Layout layout;
  const Options& options;
  double bytes = 0;                  // size of the range that one group works on
  double block_bytes = 0;            // size of a block of pipelined algorithms; else unused
  std::optional<Partition> split{};  // one part per rank; empty: equal parts of `bytes`
  std::optional<Partition> held{};   // [c - 1] bytes of a growing message of c contributions
  double offset = 0;                 // as in Phase
  double group_bytes = 0;            // as in Phase
  std::uint32_t nic_share = 0;       // as in Phase
  std::optional<Index> first_step{}; // step of the next phase; empty: after all phases so far
};

class FlatPhases {
public:
  explicit FlatPhases(PhaseList& list)
      : list_(list), size_(list.layout.size),
        core_(static_cast<Index>(std::bit_floor(static_cast<std::uint64_t>(size_)))) {}

  void add(Rule rule, Partition partition, Index size) {
    Phase phase{.layout = list_.layout, .rule = std::move(rule), .partition = std::move(partition)};
    phase.layout.size = size;
    phase.offset = list_.offset;
    phase.group_bytes = list_.group_bytes;
    phase.nic_share = list_.nic_share;
    phase.first_step = list_.first_step.value_or(end_step(list_.phases));
    list_.first_step = phase.first_step + phase.steps();
    list_.phases.push_back(std::move(phase));
  }
  // Partitions that phases use: whole() is everything as one part; messages() has one part per
  // number of contributions if the message grows, else is whole(); parts() are `count` parts; and
  // blocks() are the blocks of two sections of `first` and `second` bytes.
  [[nodiscard]] Partition whole() const {
    return Partition::equal(list_.split ? list_.split->total() : list_.bytes, 1, list_.options);
  }
  [[nodiscard]] bool grows() const { return list_.held.has_value(); }
  [[nodiscard]] Partition messages() const { return list_.held.value_or(whole()); }
  [[nodiscard]] Partition parts(Index count) const {
    return list_.split ? *list_.split : Partition::equal(list_.bytes, count, list_.options);
  }
  [[nodiscard]] Partition blocks(double first, double second) const {
    return Partition::blocks({first, second}, list_.block_bytes);
  }

  // Phases that several algorithms share, over all ranks of the group or over its largest power of
  // two.
  void tree(Direction direction) {
    const TreeShape shape = list_.options.tree;
    if (shape == TreeShape::flat) {
      add(FlatTree{size_, direction}, whole(), size_);
    } else if (shape == TreeShape::near_first && direction == Direction::collect) {
      add(NearTree{size_, direction}, whole(), size_);
    } else {
      add(BinomialTree{size_, direction}, whole(), size_);
    }
  }
  void split(Direction direction) { add(BinomialSplit{size_, direction}, parts(size_), size_); }
  void pass(bool reduce) { add(RingPass{size_, reduce}, parts(size_), size_); }
  void rotate(bool reduce) { add(Bruck{size_, reduce}, parts(size_), size_); }
  void fold(Direction direction) {
    if (core_ != size_) {
      add(Fold{size_, core_, direction, grows()}, messages(), size_);
    }
  }
  void halve() { add(Halving{core_}, parts(core_), core_); }
  void double_up() { add(Doubling{core_}, parts(core_), core_); }

  [[nodiscard]] const PhaseList& list() const { return list_; }
  [[nodiscard]] Index size() const { return size_; }
  [[nodiscard]] Index core() const { return core_; } // largest power of two <= size()

private:
  PhaseList& list_;
  Index size_;
  Index core_;
};

// Appends the phases of a flat algorithm, whose row in the table names the function. Throws
// SimulationError if the algorithm does not offer the operation.
void add_flat_phases(PhaseList& list, Op op, AlgorithmId algorithm);

// One function per algorithm; the table of algorithms lists them.
[[nodiscard]] bool mst_phases(FlatPhases& phases, Op op);
[[nodiscard]] bool be_phases(FlatPhases& phases, Op op);
[[nodiscard]] bool bruck_phases(FlatPhases& phases, Op op);
[[nodiscard]] bool ring_phases(FlatPhases& phases, Op op);
[[nodiscard]] bool recursive_doubling_phases(FlatPhases& phases, Op op);
[[nodiscard]] bool lp_phases(FlatPhases& phases, Op op);
[[nodiscard]] bool double_tree_phases(FlatPhases& phases, Op op);

} // namespace stepsim::collectives
