// The flat algorithms as phases (COL 5.1 to 5.8).
#include <bit>
#include <cassert>
#include <cmath>
#include <string>

#include "base/error.hpp"
#include "coll/schedule/schedule_parts.hpp"

namespace stepsim::coll {
namespace {

class FlatPhases {
public:
  explicit FlatPhases(PhaseList& list)
      : list_(list), size_(list.layout.size),
        core_(static_cast<Index>(std::bit_floor(static_cast<std::uint64_t>(size_)))) {}

  bool mst(Op op);
  bool be(Op op);
  bool bruck(Op op);
  bool ring(Op op);
  bool recursive_doubling(Op op);
  bool lp(Op op);
  bool double_binary_tree(Op op);

private:
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

  void tree(Direction direction) {
    const TreeShape shape = list_.options.tree;
    if (shape == TreeShape::flat) {
      add(FlatTree{size_, direction}, whole(), size_);
    } else if (shape == TreeShape::near_first && direction == Direction::collect) {
      add(NearTree{size_}, whole(), size_);
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

  PhaseList& list_;
  Index size_;
  Index core_; // largest power of two
};

bool FlatPhases::mst(Op op) {
  switch (op) {
  case Op::broadcast:
    tree(Direction::spread);
    return true;
  case Op::reduce:
    tree(Direction::collect);
    return true;
  case Op::allreduce:
    tree(Direction::collect);
    tree(Direction::spread);
    return true;
  case Op::reduce_scatter:
    tree(Direction::collect);
    split(Direction::spread);
    return true;
  case Op::allgather:
    split(Direction::collect);
    tree(Direction::spread);
    return true;
  case Op::allgatherv:
    return false;
  }
  return false;
}

bool FlatPhases::be(Op op) {
  switch (op) {
  case Op::broadcast:
    split(Direction::spread);
    pass(false);
    return true;
  case Op::reduce:
    fold(Direction::collect);
    halve();
    add(BinomialSplit{core_, Direction::collect}, parts(core_), core_);
    return true;
  case Op::allreduce:
    fold(Direction::collect);
    halve();
    double_up();
    fold(Direction::spread);
    return true;
  case Op::reduce_scatter:
    core_ == size_ ? halve() : rotate(true);
    return true;
  case Op::allgather:
  case Op::allgatherv:
    core_ == size_ ? double_up() : rotate(false);
    return true;
  }
  return false;
}

bool FlatPhases::bruck(Op op) {
  if (op == Op::broadcast || op == Op::reduce) {
    return false;
  }
  if (op == Op::allreduce || op == Op::reduce_scatter) {
    rotate(true);
  }
  if (op != Op::reduce_scatter) {
    rotate(false);
  }
  return true;
}

bool FlatPhases::ring(Op op) {
  if (op == Op::broadcast || op == Op::reduce) {
    return false;
  }
  if (op == Op::allreduce || op == Op::reduce_scatter) {
    pass(true);
  }
  if (op != Op::reduce_scatter) {
    pass(false);
  }
  return true;
}

bool FlatPhases::recursive_doubling(Op op) {
  if (op == Op::allgather) {
    return be(op);
  }
  if (op != Op::allreduce) {
    return false;
  }
  fold(Direction::collect);
  add(FullExchange{core_, grows(), size_ - core_}, messages(), core_);
  fold(Direction::spread);
  return true;
}

bool FlatPhases::lp(Op op) {
  if (op != Op::broadcast && op != Op::reduce && op != Op::allreduce) {
    return false;
  }
  Partition split = blocks(list_.bytes, 0);
  const Index count = split.parts();
  if (op == Op::allreduce) {
    add(ChainRing{size_, count, list_.options.lp_last_hop}, std::move(split), size_);
  } else {
    add(Chain{size_, count, op == Op::reduce}, std::move(split), size_);
  }
  return true;
}

bool FlatPhases::double_binary_tree(Op op) {
  if (op != Op::allreduce) {
    return false;
  }
  double half = list_.bytes / 2;
  if (list_.options.chunking == Chunking::integer) {
    const auto element = static_cast<double>(list_.options.element_bytes);
    half = std::ceil(half / element) * element;
  }
  Partition split = blocks(half, list_.bytes - half);
  const std::array<Index, 2> counts{split.blocks_of(0), split.blocks_of(1)};
  add(TreePair(size_, counts), std::move(split), size_);
  return true;
}

bool add_named(FlatPhases&& phases, Op op, AlgorithmId algorithm) {
  switch (algorithm) {
  case AlgorithmId::mst:
    return phases.mst(op);
  case AlgorithmId::be:
    return phases.be(op);
  case AlgorithmId::bruck:
    return phases.bruck(op);
  case AlgorithmId::ring:
    return phases.ring(op);
  case AlgorithmId::recursive_doubling:
    return phases.recursive_doubling(op);
  case AlgorithmId::lp:
    return phases.lp(op);
  case AlgorithmId::double_binary_tree:
    return phases.double_binary_tree(op);
  case AlgorithmId::hierarchical:
  case AlgorithmId::hierarchical_leader:
  case AlgorithmId::parameter_server:
  case AlgorithmId::automatic:
    return false;
  }
  return false;
}

} // namespace

void add_flat_phases(PhaseList& list, Op op, AlgorithmId algorithm) {
  if (!add_named(FlatPhases(list), op, algorithm)) {
    throw SimulationError(std::string(name(op)) + " has no flat algorithm " +
                          std::string(name(algorithm)));
  }
}

} // namespace stepsim::coll
