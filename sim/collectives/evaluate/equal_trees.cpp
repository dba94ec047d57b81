// Both trees slot by slot, as the general sweep plays them: in a slot every port serves one edge at
// most. Edges that begin in one slot, of one tree, stand in a row and carry the same block:
//     offset   0 0 0 0 | 1 1 | 2 2 | ...       in slot s the edges of offset o carry block (s - o)
//     / 2
// Where all edges carry whole blocks, two slots are a period. The blocks that reach a root are
// kept, because it sends them on much later.
#include "collectives/evaluate/equal_trees.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <variant>

#include "collectives/schedule/double_tree.hpp"

namespace stepsim::collectives {

namespace {

// Places of `ready`: a rank in a tree; then one that is never written, for what leaves send, and
// one that is never read.
struct Edge {
  std::uint32_t src{}, dst{};
  std::uint32_t read{}, write{};
  double end_s{}, ready_s{}; // of the last block
};

struct EdgeRow {
  std::size_t begin{}, end{};
  Index offset{};
  std::uint32_t tree{};
  bool at_root{}; // reduce: the root receives the last part of its blocks; broadcast: it sends them
};

struct Pass {
  std::vector<Edge> edges;
  std::vector<EdgeRow> rows;
  Index slots{}; // of the first block
};

// The edges towards the roots, or away from them, ordered by parity, tree and offset.
Pass make_pass(std::uint32_t size, bool up) {
  const std::uint32_t leaf = 2 * size;
  const std::uint32_t nowhere = leaf + 1;
  const DoubleTree& trees = double_tree(size);
  Pass pass;
  pass.slots = up ? trees.reduce_slots : trees.broadcast_slots;
  // [tree x ranks + rank] the last of its children to send a block up, and its offset.
  std::vector<std::uint32_t> completes(leaf, nowhere), latest(leaf);
  std::vector<std::uint32_t> parents(leaf, nowhere);
  for (const DoubleTreeEdge& edge : trees.edges) {
    const std::uint32_t place = edge.tree * size + edge.parent;
    parents[edge.tree * size + edge.child] = edge.parent;
    if (completes[place] == nowhere || edge.reduce_offset > latest[place]) {
      completes[place] = edge.child;
      latest[place] = edge.reduce_offset;
    }
  }
  struct Key {
    std::uint32_t order{}, index{};
  };
  std::vector<Key> keys;
  keys.reserve(trees.edges.size());
  const std::uint32_t offsets = static_cast<std::uint32_t>(pass.slots);
  std::vector<Edge> edges;
  edges.reserve(trees.edges.size());
  for (const DoubleTreeEdge& edge : trees.edges) {
    const std::uint32_t child = edge.tree * size + edge.child;
    const std::uint32_t parent = edge.tree * size + edge.parent;
    const std::uint32_t offset = up ? edge.reduce_offset : edge.broadcast_offset;
    const bool root = parents[parent] == nowhere;
    const bool at_root = root && (!up || completes[parent] == edge.child);
    keys.push_back({((offset % 2 * 2 + edge.tree) * offsets + offset) * 2 + (at_root ? 1U : 0U),
                    static_cast<std::uint32_t>(edges.size())});
    if (up) {
      edges.push_back({edge.child, edge.parent, completes[child] == nowhere ? leaf : child,
                       completes[parent] == edge.child ? parent : nowhere});
    } else {
      edges.push_back({edge.parent, edge.child, parent, child});
    }
  }
  pass.edges.reserve(edges.size());
  std::ranges::stable_sort(keys, {}, &Key::order);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::uint32_t order = keys[i].order;
    if (i == 0 || keys[i - 1].order != order) {
      pass.rows.push_back({i, i, order / 2 % offsets, order / 2 / offsets % 2, order % 2 == 1});
    }
    pass.rows.back().end = i + 1;
    pass.edges.push_back(edges[keys[i].index]);
  }
  return pass;
}

// Both passes for a number of ranks, with all times 0: the last answer is kept, as double_tree()
// keeps its own, and used up by the sweep.
std::array<Pass, 2>& fresh_passes(std::uint32_t size) {
  thread_local std::uint32_t known_size = 0;
  thread_local std::array<Pass, 2> known;
  if (size != known_size) {
    known = {make_pass(size, true), make_pass(size, false)};
    known_size = size;
  }
  for (Pass& pass : known) {
    for (Edge& edge : pass.edges) {
      edge.end_s = edge.ready_s = 0;
    }
  }
  return known;
}

class TreeSweep {
public:
  TreeSweep(const Phase& phase, const TreePair& rule, const StreamCosts& costs)
      : phase_(phase), costs_(costs), blocks_{rule.blocks(0), rule.blocks(1)},
        size_(static_cast<std::uint32_t>(phase.layout.size)), tx_(size_, costs.enter_s),
        rx_(size_, costs.enter_s), added_(size_, costs.enter_s),
        ready_(2 * std::size_t{size_} + 2, costs.enter_s) {}

  std::vector<double> run() {
    auto& [up, down] = fresh_passes(size_);
    play<true>(up);
    play<false>(down);
    for (std::uint32_t rank = 0; rank < size_; ++rank) {
      tx_[rank] = std::max({tx_[rank], rx_[rank], added_[rank]});
    }
    return std::move(tx_);
  }

private:
  // Times are compared with those of the period before only where skip() asks for it.
  template <bool kUp> void play(Pass& pass) {
    const Index slots = pass.slots + 2 * (blocks_[0] - 1);
    for (Index slot = 0; slot < slots; ++slot) {
      if (slot % 2 == 0) {
        slot += 2 * skip<kUp>(pass, slot);
      }
      if (slot > pass.slots && periods_left(slot) > 0) {
        play_slot<kUp, true>(pass, slot);
      } else {
        play_slot<kUp, false>(pass, slot);
      }
    }
  }

  template <bool kUp, bool kCompares> void play_slot(Pass& pass, Index slot) {
    for (const EdgeRow& row : pass.rows) {
      if (const Index block = block_of(row, slot); block >= 0) {
        send<kUp, kCompares>(pass, row, block);
      }
    }
    for (const EdgeRow& row : pass.rows) {
      if (const Index block = block_of(row, slot); block >= 0) {
        receive<kUp, kCompares>(pass, row, block);
      }
    }
  }

  // The block that the edges carry in the slot, or -1.
  [[nodiscard]] Index block_of(const EdgeRow& row, Index slot) const {
    const Index block = (slot - row.offset) / 2;
    const bool carries = slot >= row.offset && (slot - row.offset) % 2 == 0;
    return carries && block < blocks_[row.tree] ? block : -1;
  }
  [[nodiscard]] double bytes(std::uint32_t tree, Index block) const {
    return phase_.partition.bytes((tree == 0 ? 0 : blocks_[0]) + block, 1);
  }
  // Periods from the slot on in which both trees carry whole blocks.
  [[nodiscard]] Index periods_left(Index slot) const {
    return std::min(blocks_[0], blocks_[1]) - 2 - slot / 2;
  }

  template <bool kUp, bool kCompares> void send(Pass& pass, const EdgeRow& row, Index block) {
    const double duration = (block > 0 ? costs_.block_latency_s : costs_.latency_s) +
                            bytes(row.tree, block) * costs_.per_byte_s;
    double low = low_;
    double high = high_;
    const bool from_root = !kUp && row.at_root;
    const double at_root = from_root ? at_root_[row.tree][static_cast<std::size_t>(block)] : 0;
    for (std::size_t i = row.begin; i < row.end; ++i) {
      Edge& edge = pass.edges[i];
      const double port = std::max(tx_[edge.src], rx_[edge.dst]);
      const double end = std::max(port, from_root ? at_root : ready_[edge.read]) + duration;
      if constexpr (kCompares) {
        low = std::min(low, end - edge.end_s);
        high = std::max(high, end - edge.end_s);
      }
      edge.end_s = end;
      if (from_root) {
        edge.ready_s = port; // which nobody else asks for
      }
    }
    low_ = low;
    high_ = high;
  }

  template <bool kUp, bool kCompares> void receive(Pass& pass, const EdgeRow& row, Index block) {
    const double addition = kUp ? bytes(row.tree, block) * costs_.reduction_s_per_byte : 0;
    const double held = costs_.serial ? addition : 0;
    double low = low_;
    double high = high_;
    for (std::size_t i = row.begin; i < row.end; ++i) {
      Edge& edge = pass.edges[i];
      tx_[edge.src] = edge.end_s;
      rx_[edge.dst] = edge.end_s + held;
      double ready = edge.end_s;
      if constexpr (kUp) {
        ready = std::max(added_[edge.dst], ready) + addition;
        if constexpr (kCompares) {
          low = std::min(low, ready - edge.ready_s);
          high = std::max(high, ready - edge.ready_s);
        }
        edge.ready_s = ready;
        added_[edge.dst] = ready;
      }
      ready_[edge.write] = ready;
    }
    low_ = low;
    high_ = high;
    if (kUp && row.at_root) {
      at_root_[row.tree].push_back(pass.edges[row.begin].ready_s);
    }
  }

  // Before an even slot: adds as many periods as there are, if the last one moved all times alike.
  // Returns their number.
  template <bool kUp> Index skip(Pass& pass, Index slot) {
    const double low = std::exchange(low_, std::numeric_limits<double>::infinity());
    const double high = std::exchange(high_, 0);
    Index periods = periods_left(slot);
    if (slot < pass.slots + 3 || periods <= 0 ||
        !same_advance(low, high, *std::ranges::max_element(tx_))) {
      return 0;
    }
    const double period = (low + high) / 2;
    if constexpr (!kUp) {
      periods = sent_by_roots(pass, slot, periods, period);
    }
    const double more = static_cast<double>(periods) * period;
    std::vector<double> sent(size_), received(size_);
    for (Edge& edge : pass.edges) {
      sent[edge.src] = received[edge.dst] = more;
      edge.end_s += more;
      edge.ready_s += more;
    }
    for (std::uint32_t rank = 0; rank < size_; ++rank) {
      tx_[rank] += sent[rank];
      rx_[rank] += received[rank];
      added_[rank] += kUp ? received[rank] : 0;
    }
    for (const EdgeRow& row : pass.rows) {
      for (std::size_t i = row.begin; i < row.end; ++i) {
        ready_[pass.edges[i].write] += more;
      }
      for (Index k = 1; kUp && row.at_root && k <= periods; ++k) {
        std::vector<double>& blocks = at_root_[row.tree];
        blocks.push_back(pass.edges[row.begin].ready_s + static_cast<double>(k - periods) * period);
      }
    }
    return periods;
  }

  // For how many of the periods the roots can go on as in the last one: their blocks are there
  // before their ports are free.
  [[nodiscard]] Index sent_by_roots(const Pass& pass, Index slot, Index periods,
                                    double period) const {
    for (const EdgeRow& row : pass.rows) {
      if (!row.at_root) {
        continue;
      }
      const std::vector<double>& blocks = at_root_[row.tree];
      const auto block = static_cast<std::size_t>((slot - 1 - row.offset) / 2); // sent last
      for (std::size_t i = row.begin; i < row.end; ++i) {
        const double port = pass.edges[i].ready_s;
        for (Index k = 0; k <= periods; ++k) {
          const double start = port + static_cast<double>(k) * period;
          if (blocks[block + static_cast<std::size_t>(k)] > start) {
            periods = std::max<Index>(k - 1, 0);
          }
        }
      }
    }
    return periods;
  }

  const Phase& phase_;
  const StreamCosts& costs_;
  std::array<Index, 2> blocks_;
  std::uint32_t size_;
  // [rank] times at which its ports are free and its last addition has ended
  std::vector<double> tx_, rx_, added_;
  std::vector<double> ready_;                  // see Edge
  std::array<std::vector<double>, 2> at_root_; // [tree] the blocks that its root has
  double low_ = 0, high_ = 0; // by how much later each edge ended than one period before
};

} // namespace

std::vector<double> equal_trees(const Phase& phase, const StreamCosts& costs) {
  return TreeSweep(phase, std::get<TreePair>(phase.rule), costs).run();
}

} // namespace stepsim::collectives
