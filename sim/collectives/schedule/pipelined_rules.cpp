#include "collectives/schedule/pipelined_rules.hpp"

#include <cassert>

#include "collectives/schedule/double_tree.hpp"

namespace stepsim::collectives {

TreePair::TreePair(Index size, std::array<Index, 2> blocks) : size_(size), blocks_(blocks) {
  assert(blocks[0] >= blocks[1] && "tree 0 carries the larger half");
  const DoubleTree& trees = double_tree(static_cast<std::uint32_t>(size));
  if (blocks[0] > 0) {
    reduce_steps_ = 2 * (blocks[0] - 1) + trees.reduce_slots;
    broadcast_steps_ = 2 * (blocks[0] - 1) + trees.broadcast_slots;
  }
  std::ranges::copy(trees.roots, roots_.begin());
}

void TreePair::list_ports() const {
  const DoubleTree& trees = double_tree(static_cast<std::uint32_t>(size_));
  ports_.resize(static_cast<std::size_t>(size_));
  for (const DoubleTreeEdge& edge : trees.edges) {
    const std::size_t parity = edge.reduce_offset % 2;
    assert(edge.broadcast_offset % 2 == parity && "an edge keeps its colour");
    Port& up = ports_[edge.child].up[parity];
    Port& down = ports_[edge.parent].down[parity];
    assert(up.tree == kNoTree && down.tree == kNoTree && "one edge per port and slot");
    up = {edge.parent, edge.tree, edge.reduce_offset, edge.broadcast_offset, edge.completes};
    down = up;
    down.peer = edge.child;
  }
}

Index TreePair::edges(Index tree, Index rank) const {
  return double_tree_edges(static_cast<std::uint32_t>(tree), static_cast<std::uint32_t>(rank),
                           static_cast<std::uint32_t>(size_));
}

Index TreePair::cell(Index stream, Index block) const {
  for (const std::size_t tree : {0U, 1U}) {
    if (stream == reduced(static_cast<Index>(tree), roots_[tree])) {
      return 4 * size_ + (tree == 0 ? 0 : blocks_[0]) + block;
    }
  }
  return stream;
}

Index TreePair::block_in(const Port& port, Index slot, Index offset) const {
  if (port.tree == kNoTree || slot < offset) {
    return -1;
  }
  const Index block = (slot - offset) / 2;
  return block < blocks_[port.tree] ? block : -1;
}

Send TreePair::send(Index step, Index rank) const {
  const Ports& ports = this->ports(rank);
  const bool up = step < reduce_steps_;
  const Index slot = up ? step : step - reduce_steps_;
  const auto parity = static_cast<std::size_t>(slot % 2);
  const Port& port = up ? ports.up[parity] : ports.down[parity];
  const Index block = block_in(port, slot, up ? port.reduce_offset : port.broadcast_offset);
  if (block < 0) {
    return {};
  }
  const bool root = rank == roots_[port.tree];
  const bool leaf = up && ports.down[0].tree != port.tree && ports.down[1].tree != port.tree;
  return {.peer = port.peer,
          .first = (port.tree == 0 ? 0 : blocks_[0]) + block,
          .count = 1,
          .stream = up || root ? reduced(port.tree, rank) : broadcast(port.tree, rank),
          .block = block,
          .needs = leaf ? Needs::own : Needs::block,
          .reduce = up,
          .follow_up = block > 0};
}

Receive TreePair::receive(Index step, Index rank) const {
  const Ports& ports = this->ports(rank);
  const bool up = step < reduce_steps_;
  const Index slot = up ? step : step - reduce_steps_;
  const auto parity = static_cast<std::size_t>(slot % 2);
  const Port& port = up ? ports.down[parity] : ports.up[parity];
  const Index block = block_in(port, slot, up ? port.reduce_offset : port.broadcast_offset);
  if (block < 0) {
    return {};
  }
  if (up) {
    return {port.peer, port.completes ? reduced(port.tree, rank) : kNobody, block};
  }
  return {port.peer, broadcast(port.tree, rank), block};
}

} // namespace stepsim::collectives
