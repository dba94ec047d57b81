// The flat algorithms as phases (COL 5.1 to 5.8).
#include "collectives/schedule/flat_phases.hpp"

#include <cmath>

#include "base/error.hpp"
#include "collectives/algorithms.hpp"

namespace stepsim::collectives {

bool mst_phases(FlatPhases& phases, Op op) {
  switch (op) {
  case Op::broadcast:
    phases.tree(Direction::spread);
    return true;
  case Op::reduce:
    phases.tree(Direction::collect);
    return true;
  case Op::allreduce:
    phases.tree(Direction::collect);
    phases.tree(Direction::spread);
    return true;
  case Op::reduce_scatter:
    phases.tree(Direction::collect);
    phases.split(Direction::spread);
    return true;
  case Op::allgather:
    phases.split(Direction::collect);
    phases.tree(Direction::spread);
    return true;
  case Op::allgatherv:
  case Op::alltoall:
    return false;
  }
  return false;
}

bool be_phases(FlatPhases& phases, Op op) {
  switch (op) {
  case Op::broadcast:
    phases.split(Direction::spread);
    phases.pass(false);
    return true;
  case Op::reduce:
    phases.fold(Direction::collect);
    phases.halve();
    phases.add(BinomialSplit{phases.core(), Direction::collect}, phases.parts(phases.core()),
               phases.core());
    return true;
  case Op::allreduce:
    phases.fold(Direction::collect);
    phases.halve();
    phases.double_up();
    phases.fold(Direction::spread);
    return true;
  case Op::reduce_scatter:
    phases.core() == phases.size() ? phases.halve() : phases.rotate(true);
    return true;
  case Op::allgather:
  case Op::allgatherv:
    phases.core() == phases.size() ? phases.double_up() : phases.rotate(false);
    return true;
  case Op::alltoall:
    return false;
  }
  return false;
}

bool bruck_phases(FlatPhases& phases, Op op) {
  if (op == Op::broadcast || op == Op::reduce || op == Op::alltoall) {
    return false;
  }
  if (op == Op::allreduce || op == Op::reduce_scatter) {
    phases.rotate(true);
  }
  if (op != Op::reduce_scatter) {
    phases.rotate(false);
  }
  return true;
}

bool ring_phases(FlatPhases& phases, Op op) {
  if (op == Op::broadcast || op == Op::reduce || op == Op::alltoall) {
    return false;
  }
  if (op == Op::allreduce || op == Op::reduce_scatter) {
    phases.pass(true);
  }
  if (op != Op::reduce_scatter) {
    phases.pass(false);
  }
  return true;
}

bool recursive_doubling_phases(FlatPhases& phases, Op op) {
  if (op == Op::allgather) {
    return be_phases(phases, op);
  }
  if (op != Op::allreduce) {
    return false;
  }
  phases.fold(Direction::collect);
  phases.add(FullExchange{phases.core(), phases.grows(), phases.size() - phases.core()},
             phases.messages(), phases.core());
  phases.fold(Direction::spread);
  return true;
}

bool lp_phases(FlatPhases& phases, Op op) {
  if (op != Op::broadcast && op != Op::reduce && op != Op::allreduce) {
    return false;
  }
  Partition split = phases.blocks(phases.list().bytes, 0);
  const Index count = split.parts();
  if (op == Op::allreduce) {
    phases.add(ChainRing{phases.size(), count, phases.list().options.lp_last_hop}, std::move(split),
               phases.size());
  } else {
    phases.add(Chain{phases.size(), count, op == Op::reduce}, std::move(split), phases.size());
  }
  return true;
}

bool double_tree_phases(FlatPhases& phases, Op op) {
  if (op != Op::allreduce) {
    return false;
  }
  // Tree 0 carries the larger half where the elements do not divide by two.
  double half = phases.list().bytes / 2;
  if (phases.list().options.chunking == Chunking::integer) {
    const auto element = static_cast<double>(phases.list().options.element_bytes);
    half = std::min(std::ceil(half / element) * element, phases.list().bytes);
  }
  Partition split = phases.blocks(half, phases.list().bytes - half);
  const std::array<Index, 2> counts{split.blocks_of(0), split.blocks_of(1)};
  phases.add(TreePair(phases.size(), counts), std::move(split), phases.size());
  return true;
}

// The table knows the function; this is the only place that calls it.
void add_flat_phases(PhaseList& list, Op op, AlgorithmId id) {
  const Algorithm& row = algorithm(id);
  FlatPhases phases(list);
  if (row.phases == nullptr || !row.phases(phases, op)) {
    throw SimulationError(std::string(name(op)) + " has no flat algorithm " +
                          std::string(name(id)));
  }
}

} // namespace stepsim::collectives
