#pragma once
// Rules of phases that send streams of blocks (COL 5.6, 5.7). Steps are slots in which every port
// serves at most one block; the slots of a port ascend in program order.
//   Chain       linear pipeline (lp), broadcast and reduce: block i goes h -> h+1 in slot i + h
//   ChainRing   lp allreduce: reduce blocks as Chain, block i returns P-1 -> 0 in slot P-1+i and is
//               broadcast h -> h+1 in slot max(m, P) + i + h
//   TreePair    double binary tree: block i of an edge in slot 2 i + offset, first all reduce
//               slots, then all broadcast slots
//
// A returning block must not wait for the newest block, so these rules name the block of a stream
// that a send needs. A stream keeps one cell per block if its reader may lag many slots behind its
// writer (the head of the ring, the roots of the trees), else only the last block. Memory O(P + m)
// for m blocks.
#include <algorithm>
#include <array>
#include <vector>

#include "collectives/schedule/operation.hpp"

namespace stepsim::collectives {

struct Chain {
  Index size{};
  Index blocks{};
  bool reduce{};
  [[nodiscard]] Index steps() const { return blocks == 0 ? 0 : blocks + size - 2; }
  [[nodiscard]] Send send(Index step, Index rank) const {
    const Index block = step - rank;
    const bool sends = rank + 1 < size && block >= 0 && block < blocks;
    return {.peer = sends ? rank + 1 : kNobody,
            .first = block,
            .count = 1,
            .reduce = reduce,
            .follow_up = block > 0};
  }
  [[nodiscard]] Receive receive(Index step, Index rank) const {
    const Index block = step - (rank - 1);
    return {.peer = rank > 0 && block >= 0 && block < blocks ? rank - 1 : kNobody};
  }
};

struct ChainRing {
  Index size{};
  Index blocks{};
  bool last_hop{}; // the sum also goes P-2 -> P-1, which has it already
  [[nodiscard]] Index steps() const {
    if (blocks == 0) {
      return 0;
    }
    const Index hops = last_hops();
    return hops == 0 ? size - 1 + blocks : turn() + blocks + hops - 1;
  }
  [[nodiscard]] Index streams() const { return 1; } // the returned blocks at rank 0
  [[nodiscard]] Index cells() const { return blocks; }
  [[nodiscard]] Index cell(Index /*stream*/, Index block) const { return block; }
  // Returns the hops of a block in the broadcast; the last hop may be skipped, because the tail has
  // the sum.
  [[nodiscard]] Index last_hops() const { return last_hop ? size - 1 : size - 2; }

  [[nodiscard]] Send send(Index step, Index rank) const {
    if (rank == size - 1) {
      const Index block = step - (size - 1);
      return {.peer = block >= 0 && block < blocks ? 0 : kNobody,
              .first = block,
              .count = 1,
              .follow_up = block > 0};
    }
    const Index reduced = step - rank;
    if (reduced >= 0 && reduced < blocks) {
      return {.peer = rank + 1,
              .first = reduced,
              .count = 1,
              .needs = rank == 0 ? Needs::own : Needs::all,
              .reduce = true,
              .follow_up = reduced > 0};
    }
    const Index block = step - turn() - rank;
    if (block >= 0 && block < blocks && rank < last_hops()) {
      return {.peer = rank + 1,
              .first = block,
              .count = 1,
              .stream = rank == 0 ? 0 : kNobody,
              .block = block,
              .needs = rank == 0 ? Needs::block : Needs::all,
              .follow_up = true};
    }
    return {};
  }
  [[nodiscard]] Receive receive(Index step, Index rank) const {
    if (rank == 0) {
      const Index block = step - (size - 1);
      return block >= 0 && block < blocks ? Receive{size - 1, 0, block} : Receive{};
    }
    return {.peer = send(step, rank - 1).peer == rank ? rank - 1 : kNobody};
  }

private:
  [[nodiscard]] Index turn() const { return std::max(blocks, size); }
};

class TreePair {
public:
  // blocks[t] is the number of blocks of tree t; blocks[0] >= blocks[1] (asserted).
  TreePair(Index size, std::array<Index, 2> blocks);

  [[nodiscard]] Index steps() const { return reduce_steps_ + broadcast_steps_; }
  // Returns the blocks of tree 0 or 1, and the number of its edges at a rank. Every edge is used in
  // both directions; the rank sends in one of them.
  [[nodiscard]] Index blocks(Index tree) const { return blocks_[static_cast<std::size_t>(tree)]; }
  [[nodiscard]] Index edges(Index tree, Index rank) const;
  [[nodiscard]] Index streams() const { return 4 * size_; }
  [[nodiscard]] Index cells() const { return 4 * size_ + blocks_[0] + blocks_[1]; }
  [[nodiscard]] Index cell(Index stream, Index block) const;
  [[nodiscard]] Send send(Index step, Index rank) const;
  [[nodiscard]] Receive receive(Index step, Index rank) const;

private:
  // An edge, seen from one of its two ranks; of no tree if there is none. Small, as there are many.
  struct Port {
    std::uint32_t peer{};
    std::uint8_t tree = kNoTree;
    std::uint8_t reduce_offset{};
    std::uint8_t broadcast_offset{};
    bool completes = false; // down: this child is the last to send a block to the rank
  };
  static constexpr std::uint8_t kNoTree = 2;
  // The edges of a rank, by parity of their slots.
  struct Ports {
    std::array<Port, 2> up;   // to its parents
    std::array<Port, 2> down; // to its children
  };
  [[nodiscard]] Index reduced(Index tree, Index rank) const { return tree * size_ + rank; }
  [[nodiscard]] Index broadcast(Index tree, Index rank) const { return (2 + tree) * size_ + rank; }
  // Returns the edges of a rank. They are listed at the first call, as nobody asks for a send where
  // a few slots tell what all do; hence one thread at a time.
  [[nodiscard]] const Ports& ports(Index rank) const {
    if (ports_.empty()) {
      list_ports();
    }
    return ports_[static_cast<std::size_t>(rank)];
  }
  void list_ports() const;
  // Returns the block that the edge carries in this slot of its half, or -1.
  [[nodiscard]] Index block_in(const Port& port, Index slot, Index offset) const;

  Index size_;
  std::array<Index, 2> blocks_;
  std::array<Index, 2> roots_{};
  Index reduce_steps_{};
  Index broadcast_steps_{};
  mutable std::vector<Ports> ports_; // [rank], or empty: not listed yet
};

} // namespace stepsim::collectives
