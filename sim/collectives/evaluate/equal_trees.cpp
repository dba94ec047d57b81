// Both trees slot by slot, as the general sweep plays them: in a slot every port serves one edge at
// most. Edges that begin in one slot, of one tree, stand in a row and carry the same block:
//     offset   0 0 0 0 | 1 1 | 2 2 | ...       in slot s the edges of offset o carry block (s - o)
//     / 2
// A port serves one edge of even and one of odd offsets, so that their last blocks tell when it is
// free. Where all edges carry whole blocks, two slots are a period. The blocks that reach a root
// are kept, because it sends them on much later.
#include "collectives/evaluate/streams.hpp"

#include "collectives/schedule/double_tree.hpp"

namespace stepsim::collectives {

namespace {

// Edges that begin in the same slot stand at the places [begin, end) of their pass.
struct EdgeRow {
  std::uint32_t begin{}, end{};
  Index offset{};
  std::uint32_t tree{};
};

// The edges towards the roots, or away from them, row by row. A row stands before the rows of its
// tree and parity that bring its blocks.
struct Pass {
  bool up{};
  Index slots{}; // of the first block
  std::vector<EdgeRow> rows;
  std::vector<std::uint32_t> places; // [edge of the trees]
  // [place] places of the edge of the same child in the other tree, of the other edge to the same
  // parent, and of the edge that brings the blocks
  std::vector<std::uint32_t> twins, siblings, brings;
  struct Root {
    std::uint32_t place{};
    Index offset{};
  };
  std::array<Root, 2> roots; // [tree] the edge that completes blocks at the root, or sends them

  // Places behind those of edges: of an edge that never carries a block, and of what the root of a
  // tree holds.
  [[nodiscard]] std::uint32_t never() const { return static_cast<std::uint32_t>(places.size()); }
  [[nodiscard]] std::uint32_t held_by_root(std::uint32_t tree) const { return never() + 1 + tree; }
};

void list_rows(Pass& pass, const DoubleTree& trees, std::uint8_t DoubleTreeEdge::*offset) {
  const auto slots = static_cast<std::uint32_t>(pass.slots);
  std::vector<EdgeRow> rows(4 * std::size_t{slots});
  const auto row_of = [&](const DoubleTreeEdge& edge) -> EdgeRow& {
    return rows[(edge.*offset % 2U * 2 + edge.tree) * slots + slots - 1 - edge.*offset];
  };
  for (const DoubleTreeEdge& edge : trees.edges) {
    EdgeRow& row = row_of(edge);
    ++row.end;
    row.offset = edge.*offset;
    row.tree = edge.tree;
  }
  std::uint32_t begin = 0;
  for (EdgeRow& row : rows) {
    row.begin = begin;
    begin += std::exchange(row.end, begin);
  }
  pass.places.reserve(trees.edges.size());
  for (const DoubleTreeEdge& edge : trees.edges) {
    pass.places.push_back(row_of(edge).end++);
  }
  std::erase_if(rows, [](const EdgeRow& row) { return row.begin == row.end; });
  pass.rows = std::move(rows);
}

Pass make_pass(const DoubleTree& trees, bool up) {
  Pass pass;
  pass.up = up;
  pass.slots = up ? trees.reduce_slots : trees.broadcast_slots;
  const auto offset = up ? &DoubleTreeEdge::reduce_offset : &DoubleTreeEdge::broadcast_offset;
  list_rows(pass, trees, offset);
  const auto place_of = [&](std::uint32_t edge) {
    return edge == DoubleTree::kNone ? pass.never() : pass.places[edge];
  };
  pass.twins.resize(pass.never());
  pass.siblings.resize(pass.never());
  pass.brings.assign(pass.never(), pass.never());
  for (std::uint32_t i = 0; i < trees.edges.size(); ++i) {
    const DoubleTreeEdge& edge = trees.edges[i];
    const std::uint32_t place = pass.places[i];
    const std::uint32_t above = trees.edge_of(edge.tree, edge.parent);
    pass.twins[place] = place_of(trees.edge_of(1U - edge.tree, edge.child));
    pass.siblings[place] = place_of(trees.siblings[i]);
    if (above == DoubleTree::kNone && edge.completes) {
      pass.roots[edge.tree] = {place, edge.*offset};
    }
    if (!up) {
      pass.brings[place] =
          above == DoubleTree::kNone ? pass.held_by_root(edge.tree) : pass.places[above];
    } else if (above != DoubleTree::kNone && edge.completes) {
      pass.brings[pass.places[above]] = place;
    }
  }
  return pass;
}

struct Passes {
  std::uint32_t ranks{};
  Pass up, down;
};

// The passes for a number of ranks: the last answer is kept, as double_tree() keeps its own.
const Passes& passes_for(std::uint32_t ranks) {
  thread_local Passes known;
  if (ranks != known.ranks) {
    const DoubleTree& trees = double_tree(ranks);
    known = {ranks, make_pass(trees, true), make_pass(trees, false)};
  }
  return known;
}

class TreeSweep {
public:
  TreeSweep(const Phase& phase, const TreePair& rule, const StreamCosts& costs)
      : phase_(phase), costs_(costs), blocks_{rule.blocks(0), rule.blocks(1)},
        passes_(passes_for(static_cast<std::uint32_t>(phase.layout.size))) {}

  std::vector<double> run() {
    const DoubleTree& trees = double_tree(passes_.ranks);
    const bool adds = costs_.reduction_s_per_byte > 0;
    start_.assign(trees.edges.size(), costs_.enter_s);
    adds ? play<true>(passes_.up) : play<false>(passes_.up);
    // [rank] when its ports are free and its additions have ended
    std::vector<double> tx(passes_.ranks, costs_.enter_s);
    std::vector<double> rx = tx;
    std::vector<double> finish = tx;
    const std::vector<double>& added = adds ? ready_ : end_;
    const std::vector<double>& received = costs_.serial ? added : end_;
    for (std::size_t i = 0; i < trees.edges.size(); ++i) {
      const auto& [child, parent] = std::pair(trees.edges[i].child, trees.edges[i].parent);
      const std::uint32_t place = passes_.up.places[i];
      tx[child] = std::max(tx[child], end_[place]);
      rx[parent] = std::max(rx[parent], received[place]);
      finish[parent] = std::max(finish[parent], added[place]);
    }
    for (std::size_t i = 0; i < trees.edges.size(); ++i) {
      const DoubleTreeEdge& edge = trees.edges[i];
      start_[passes_.down.places[i]] = std::max(tx[edge.parent], rx[edge.child]);
    }
    play<false>(passes_.down);
    for (std::size_t i = 0; i < trees.edges.size(); ++i) {
      const DoubleTreeEdge& edge = trees.edges[i];
      const double end = end_[passes_.down.places[i]];
      finish[edge.parent] = std::max(finish[edge.parent], end);
      finish[edge.child] = std::max(finish[edge.child], end);
    }
    for (std::uint32_t rank = 0; rank < passes_.ranks; ++rank) {
      finish[rank] = std::max({finish[rank], tx[rank], rx[rank]});
    }
    return finish;
  }

private:
  // Times are compared with those of the period before only where skip() asks for it.
  template <bool kAdds> void play(const Pass& pass) {
    end_.assign(pass.never() + std::size_t{3}, costs_.enter_s);
    ready_ = kAdds ? end_ : std::vector<double>();
    const Index slots = pass.slots + 2 * (blocks_[0] - 1);
    for (Index slot = 0; slot < slots; ++slot) {
      if (slot % 2 == 0) {
        slot += 2 * skip<kAdds>(pass, slot);
      }
      if (!pass.up) {
        send_from_roots(pass, slot);
      }
      const bool compares = slot > pass.slots && periods_left(slot) > 0;
      for (const EdgeRow& row : pass.rows) {
        if (const Index block = block_in(slot, row.offset, row.tree); block >= 0) {
          compares ? carry<kAdds, true>(pass, row, block) : carry<kAdds, false>(pass, row, block);
        }
      }
      if (pass.up) {
        receive_at_roots(pass, slot);
      }
    }
  }

  // The block that edges of the offset carry in the slot, or -1.
  [[nodiscard]] Index block_in(Index slot, Index offset, std::uint32_t tree) const {
    const Index block = (slot - offset) / 2;
    const bool carries = slot >= offset && (slot - offset) % 2 == 0;
    return carries && block < blocks_[tree] ? block : -1;
  }
  [[nodiscard]] double bytes(std::uint32_t tree, Index block) const {
    return phase_.partition.bytes((tree == 0 ? 0 : blocks_[0]) + block, 1);
  }
  // Periods from the slot on in which both trees carry whole blocks.
  [[nodiscard]] Index periods_left(Index slot) const {
    return std::min(blocks_[0], blocks_[1]) - 2 - slot / 2;
  }

  // A serial addition holds the receive port, which is then free when the sum is ready.
  template <bool kAdds, bool kCompares>
  void carry(const Pass& pass, const EdgeRow& row, Index block) {
    const double bytes = this->bytes(row.tree, block);
    const double duration =
        (block > 0 ? costs_.block_latency_s : costs_.latency_s) + bytes * costs_.per_byte_s;
    const double addition = bytes * costs_.reduction_s_per_byte;
    double* const end = end_.data();
    double* const ready = kAdds ? ready_.data() : end;
    const double* const rx = costs_.serial ? ready : end;
    const double* const before = block == 0 ? start_.data() : rx;
    // The two edges to the parents of a rank share its send port if they go up, else its receive
    // port; the two edges to its children share the other one.
    const std::uint32_t* const twins = pass.twins.data();
    const std::uint32_t* const siblings = pass.siblings.data();
    const std::uint32_t* const brings = pass.brings.data();
    const double* const at_child = pass.up ? end : rx;
    const double* const at_parent = pass.up ? rx : end;
    double low = low_;
    double high = high_;
    for (std::uint32_t i = row.begin; i < row.end; ++i) {
      const std::uint32_t sibling = siblings[i];
      const double port = std::max(std::max(before[i], at_child[twins[i]]), at_parent[sibling]);
      const double sent = std::max(port, ready[brings[i]]) + duration;
      if constexpr (kCompares) {
        low = std::min(low, sent - end[i]);
        high = std::max(high, sent - end[i]);
      }
      end[i] = sent;
      if constexpr (kAdds) {
        const double added = std::max(std::max(ready[i], ready[sibling]), sent) + addition;
        if constexpr (kCompares) {
          low = std::min(low, added - ready[i]);
          high = std::max(high, added - ready[i]);
        }
        ready[i] = added;
      }
    }
    low_ = low;
    high_ = high;
  }

  void receive_at_roots(const Pass& pass, Index slot) {
    for (const std::uint32_t tree : {0U, 1U}) {
      const auto& [place, offset] = pass.roots[tree];
      if (block_in(slot, offset, tree) >= 0) {
        at_root_[tree].push_back((ready_.empty() ? end_ : ready_)[place]);
      }
    }
  }

  void send_from_roots(const Pass& pass, Index slot) {
    for (const std::uint32_t tree : {0U, 1U}) {
      const auto& [place, offset] = pass.roots[tree];
      if (const Index block = block_in(slot, offset, tree); block >= 0) {
        end_[pass.held_by_root(tree)] = at_root_[tree][static_cast<std::size_t>(block)];
        root_port_[tree] = std::max({block == 0 ? start_[place] : end_[place],
                                     end_[pass.twins[place]], end_[pass.siblings[place]]});
      }
    }
  }

  // Before an even slot: adds as many periods as there are, if the last one moved all times alike.
  // Returns their number.
  template <bool kAdds> Index skip(const Pass& pass, Index slot) {
    const double low = std::exchange(low_, std::numeric_limits<double>::infinity());
    const double high = std::exchange(high_, 0);
    Index periods = periods_left(slot);
    if (slot < pass.slots + 3 || periods <= 0 ||
        !same_advance(low, high, *std::ranges::max_element(end_))) {
      return 0;
    }
    const double period = (low + high) / 2;
    if (!pass.up) {
      periods = sent_by_roots(pass, slot, periods, period);
    }
    const double more = static_cast<double>(periods) * period;
    for (std::uint32_t place = 0; place < pass.never(); ++place) {
      end_[place] += more;
      if constexpr (kAdds) {
        ready_[place] += more;
      }
    }
    for (Index k = 1; pass.up && k <= periods; ++k) {
      for (const std::uint32_t tree : {0U, 1U}) {
        at_root_[tree].push_back((kAdds ? ready_ : end_)[pass.roots[tree].place] +
                                 static_cast<double>(k - periods) * period);
      }
    }
    return periods;
  }

  // For how many of the periods the roots can go on as in the last one: their blocks are there
  // before their ports are free.
  [[nodiscard]] Index sent_by_roots(const Pass& pass, Index slot, Index periods,
                                    double period) const {
    for (const std::uint32_t tree : {0U, 1U}) {
      const auto sent_last = static_cast<std::size_t>((slot - 1 - pass.roots[tree].offset) / 2);
      for (Index k = 0; k <= periods; ++k) {
        if (at_root_[tree][sent_last + static_cast<std::size_t>(k)] >
            root_port_[tree] + static_cast<double>(k) * period) {
          periods = std::max<Index>(k - 1, 0);
        }
      }
    }
    return periods;
  }

  const Phase& phase_;
  const StreamCosts& costs_;
  std::array<Index, 2> blocks_;
  const Passes& passes_;
  // [place] when its ports are free in the first slot, its last block has been sent, and has been
  // added; the last is empty where additions take no time
  std::vector<double> start_, end_, ready_;
  std::array<std::vector<double>, 2> at_root_; // [tree] when its root has the blocks
  std::array<double, 2> root_port_{};          // [tree] when the root could send its last block
  double low_ = 0, high_ = 0; // by how much later each edge ended than one period before
};

} // namespace

std::vector<double> equal_trees(const Phase& phase, const StreamCosts& costs) {
  return TreeSweep(phase, std::get<TreePair>(phase.rule), costs).run();
}

} // namespace stepsim::collectives
