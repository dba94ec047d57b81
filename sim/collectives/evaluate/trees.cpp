// Both trees slot by slot, as the general sweep plays them: in a slot every port serves one edge at
// most, and the edges that carry a block share the interfaces of the node they leave. Edges that
// begin in one slot, of one tree, stand in a row and carry the same block:
//     offset   0 0 0 0 | 1 1 | 2 2 | ...       in slot s the edges of offset o carry block (s - o)
//     / 2
// A port serves one edge of even and one of odd offsets, so that their last blocks tell when it is
// free. Where all edges carry whole blocks, two slots are a period. The blocks that reach a root
// are kept, because it sends them on much later.
#include "collectives/evaluate/streams.hpp"

#include "collectives/formula/uniform.hpp"
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

// The edges of a pass by place, with what they cost.
struct EdgeCosts {
  static constexpr std::uint32_t kInside = ~std::uint32_t{0};
  std::vector<LinkCost> links;             // per_byte_s with the share of the interface
  std::vector<double> gamma, own_per_byte; // the latter without that share
  std::vector<std::uint32_t> node; // whose interfaces it leaves by, or kInside; empty: all inside
};

class TreeSweep {
public:
  TreeSweep(const Collective& collective, const Schedule& schedule, const AnyLinks& links)
      : phase_(schedule.phases.front()), links_(links),
        passes_(passes_for(static_cast<std::uint32_t>(phase_.layout.size))),
        gamma_(reduction_costs(collective)),
        serial_(schedule.serial_additions ||
                collective.options.reduction_mode == ReductionMode::serial),
        tx_(entry_times(collective)), rx_(tx_), finish_(tx_) {
    const auto& rule = std::get<TreePair>(phase_.rule);
    blocks_ = {rule.blocks(0), rule.blocks(1)};
    for (Index local = 0; local < phase_.layout.size; ++local) {
      ranks_.push_back(static_cast<std::uint32_t>(phase_.layout.rank(0, local)));
    }
  }

  Evaluation run() {
    const DoubleTree& trees = double_tree(passes_.ranks);
    Evaluation result;
    for (const Pass* pass : {&passes_.up, &passes_.down}) {
      EdgeCosts costs = costs_of(*pass);
      const bool later = std::ranges::max(costs.gamma) > 0 ||
                         std::ranges::max(costs.links, {}, &LinkCost::delay_s).delay_s > 0;
      later ? play<true>(*pass, costs) : play<false>(*pass, costs);
      for (std::size_t i = 0; i < trees.edges.size(); ++i) {
        const auto [src, dst] = ends_of(*pass, trees.edges[i]);
        const std::uint32_t place = pass->places[i];
        tx_[src] = std::max(tx_[src], end_[place]);
        rx_[dst] = std::max(rx_[dst], free()[place]);
        finish_[dst] = std::max(finish_[dst], ready()[place]);
        result.messages += static_cast<std::uint64_t>(blocks_[trees.edges[i].tree]);
      }
    }
    for (std::size_t rank = 0; rank < finish_.size(); ++rank) {
      finish_[rank] = std::max({finish_[rank], tx_[rank], rx_[rank]});
      result.seconds = std::max(result.seconds, finish_[rank]);
    }
    result.ranks.finish_s = std::move(finish_);
    return result;
  }

private:
  // The ranks that send and receive on the edge.
  [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> ends_of(const Pass& pass,
                                                                const DoubleTreeEdge& edge) const {
    return pass.up ? std::pair(ranks_[edge.child], ranks_[edge.parent])
                   : std::pair(ranks_[edge.parent], ranks_[edge.child]);
  }

  // Also sets when the ports of each edge are free in its first slot.
  [[nodiscard]] EdgeCosts costs_of(const Pass& pass) {
    const DoubleTree& trees = double_tree(passes_.ranks);
    EdgeCosts costs;
    costs.links.resize(pass.never());
    costs.gamma.resize(pass.never());
    start_.resize(pass.never());
    std::visit(
        [&](const auto& links) {
          for (std::size_t i = 0; i < trees.edges.size(); ++i) {
            const auto [src, dst] = ends_of(pass, trees.edges[i]);
            const std::uint32_t place = pass.places[i];
            costs.links[place] = links.cost(src, dst);
            costs.gamma[place] = pass.up ? gamma_[dst] : 0;
            start_[place] = std::max(tx_[src], rx_[dst]);
            if constexpr (std::same_as<std::decay_t<decltype(links)>, TwoLevelLinks>) {
              costs.node.resize(pass.never());
              costs.node[place] = links.shared(src, dst) ? links.node(src) : EdgeCosts::kInside;
            }
          }
        },
        links_);
    for (std::size_t i = 0; i < costs.node.size(); ++i) {
      costs.own_per_byte.push_back(costs.links[i].per_byte_s);
    }
    return costs;
  }

  // When the receive port of each edge is free, and its last block is there and added.
  [[nodiscard]] std::vector<double>& free() { return ready_.empty() ? end_ : free_; }
  [[nodiscard]] std::vector<double>& ready() { return ready_.empty() ? end_ : ready_; }

  // With kLater, blocks are delayed or added.
  template <bool kLater> void play(const Pass& pass, EdgeCosts& costs) {
    end_.assign(pass.never() + std::size_t{3}, 0);
    free_ = ready_ = kLater ? end_ : std::vector<double>();
    const Index slots = pass.slots + 2 * (blocks_[0] - 1);
    for (Index slot = 0; slot < slots; ++slot) {
      if (slot % 2 == 0) {
        slot += 2 * skip(pass, slot);
      }
      if (!pass.up) {
        send_from_roots(pass, slot);
      }
      if (!costs.node.empty()) {
        share_interfaces(pass, costs, slot);
      }
      const bool compares = slot > pass.slots && periods_left(slot) > 0; // where skip() asks for it
      for (const EdgeRow& row : pass.rows) {
        if (const Index block = block_in(slot, row.offset, row.tree); block >= 0) {
          compares ? carry<kLater, true>(pass, costs, row, block)
                   : carry<kLater, false>(pass, costs, row, block);
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
  // Periods from the slot on in which both trees carry whole blocks.
  [[nodiscard]] Index periods_left(Index slot) const {
    return std::min(blocks_[0], blocks_[1]) - 2 - slot / 2;
  }

  // Sends that leave a node in one slot share its interfaces equally. Every second slot has the
  // same ones until a row begins or has ended.
  void share_interfaces(const Pass& pass, EdgeCosts& costs, Index slot) const {
    if (std::ranges::none_of(pass.rows, [&](const EdgeRow& row) {
          return slot == row.offset || slot == row.offset + 2 * blocks_[row.tree];
        })) {
      return;
    }
    const TwoLevelLinks& links = std::get<TwoLevelLinks>(links_);
    std::vector<std::uint32_t> sends(links.nodes()), edges;
    for (const EdgeRow& row : pass.rows) {
      const bool carries = block_in(slot, row.offset, row.tree) >= 0;
      for (std::uint32_t i = row.begin; carries && i < row.end; ++i) {
        if (costs.node[i] != EdgeCosts::kInside) {
          ++sends[costs.node[i]];
          edges.push_back(i);
        }
      }
    }
    for (const std::uint32_t nics = links.nics_per_node(); const std::uint32_t edge : edges) {
      costs.links[edge].per_byte_s =
          (sends[costs.node[edge]] + nics - 1) / nics * costs.own_per_byte[edge];
    }
  }

  // A serial addition holds the receive port.
  template <bool kLater, bool kCompares>
  void carry(const Pass& pass, const EdgeCosts& costs, const EdgeRow& row, Index block) {
    const double bytes = phase_.partition.bytes((row.tree == 0 ? 0 : blocks_[0]) + block, 1);
    const auto latency = block > 0 ? &LinkCost::block_latency_s : &LinkCost::latency_s;
    double* const end = end_.data();
    double* const rx = free().data();
    double* const ready = this->ready().data();
    const double* const before = block == 0 ? start_.data() : rx;
    // The two edges to the parents of a rank share its send port upwards, else its receive port;
    // the two edges to its children share the other one.
    const double* const at_child = pass.up ? end : rx;
    const double* const at_parent = pass.up ? rx : end;
    double low = low_;
    double high = high_;
    for (std::uint32_t i = row.begin; i < row.end; ++i) {
      const std::uint32_t sibling = pass.siblings[i];
      const double port =
          std::max(std::max(before[i], at_child[pass.twins[i]]), at_parent[sibling]);
      const LinkCost& link = costs.links[i];
      const double sent =
          std::max(port, ready[pass.brings[i]]) + (link.*latency + bytes * link.per_byte_s);
      if constexpr (kCompares) {
        low = std::min(low, sent - end[i]);
        high = std::max(high, sent - end[i]);
      }
      end[i] = sent;
      if constexpr (kLater) {
        const double addition = bytes * costs.gamma[i];
        rx[i] = serial_ ? sent + addition : sent;
        const double engine = pass.up ? std::max(ready[i], ready[sibling]) : 0;
        const double there = std::max(engine, sent + link.delay_s) + addition;
        if constexpr (kCompares) {
          low = std::min(low, there - ready[i]);
          high = std::max(high, there - ready[i]);
        }
        ready[i] = there;
      }
    }
    low_ = low;
    high_ = high;
  }

  void receive_at_roots(const Pass& pass, Index slot) {
    for (const std::uint32_t tree : {0U, 1U}) {
      const auto& [place, offset] = pass.roots[tree];
      if (block_in(slot, offset, tree) >= 0) {
        at_root_[tree].push_back(ready()[place]);
      }
    }
  }

  void send_from_roots(const Pass& pass, Index slot) {
    for (const std::uint32_t tree : {0U, 1U}) {
      const auto& [place, offset] = pass.roots[tree];
      if (const Index block = block_in(slot, offset, tree); block >= 0) {
        ready()[pass.held_by_root(tree)] = at_root_[tree][static_cast<std::size_t>(block)];
        root_port_[tree] = std::max({block == 0 ? start_[place] : free()[place],
                                     free()[pass.twins[place]], end_[pass.siblings[place]]});
      }
    }
  }

  // Before an even slot: adds as many periods as there are, if the last one moved all times alike.
  // Returns their number.
  Index skip(const Pass& pass, Index slot) {
    const double low = std::exchange(low_, std::numeric_limits<double>::infinity());
    const double high = std::exchange(high_, 0);
    Index periods = periods_left(slot);
    if (slot < pass.slots + 3 || periods <= 0 || !same_advance(low, high, std::ranges::max(end_))) {
      return 0;
    }
    const double period = (low + high) / 2;
    if (!pass.up) {
      periods = sent_by_roots(pass, slot, periods, period);
    }
    const double more = static_cast<double>(periods) * period;
    for (std::vector<double>* const times : {&end_, &free_, &ready_}) {
      for (std::uint32_t place = 0; place < pass.never() && !times->empty(); ++place) {
        (*times)[place] += more;
      }
    }
    for (Index k = 1; pass.up && k <= periods; ++k) {
      for (const std::uint32_t tree : {0U, 1U}) {
        at_root_[tree].push_back(ready()[pass.roots[tree].place] +
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
  const AnyLinks& links_;
  std::array<Index, 2> blocks_{};
  const Passes& passes_;
  std::vector<std::uint32_t> ranks_; // [local rank]
  std::vector<double> gamma_;
  bool serial_;
  std::vector<double> tx_, rx_, finish_; // [rank] as in SweepState
  // [place] when its ports are free in the first slot; when its last block has been sent, no longer
  // holds the receive port, and is there and added; these two are empty where they equal the first
  std::vector<double> start_, end_, free_, ready_;
  std::array<std::vector<double>, 2> at_root_; // [tree] when its root has the blocks
  std::array<double, 2> root_port_{};          // [tree] when the root could send its last block
  double low_ = 0, high_ = 0; // by how much later each edge ended than one period before
};

} // namespace

Evaluation double_trees(const Collective& collective, const Schedule& schedule,
                        const AnyLinks& links) {
  return TreeSweep(collective, schedule, links).run();
}

} // namespace stepsim::collectives
