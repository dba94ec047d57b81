// Both kinds keep the times of ports and additions of all ranks, as the sweep does. The pipeline
// goes pair by pair with the times of all blocks in a vector; trees go slot by slot.
#include "collectives/evaluate/unequal_streams.hpp"

#include <algorithm>
#include <array>
#include <concepts>
#include <functional>
#include <limits>
#include <utility>
#include <variant>
#include <vector>

#include "collectives/algorithms.hpp"
#include "collectives/evaluate/link_costs.hpp"
#include "collectives/formula/uniform.hpp"
#include "collectives/schedule/double_tree.hpp"

namespace stepsim::collectives {

namespace {

std::vector<double> block_bytes(const Partition& partition) {
  std::vector<double> bytes;
  for (Index block = 0; block < partition.parts(); ++block) {
    bytes.push_back(partition.bytes(block, 1));
  }
  return bytes;
}

// A rank and the next one, with the times at which their ports are free.
struct Pair {
  std::uint32_t src{}, dst{};
  double tx{}, rx{};
};

// What is the same for all blocks of a round: whether receivers add them, and whether the first one
// follows earlier blocks, so that it has the latency of a further block.
struct Round {
  bool reduce{}, follows{};
};

class UnequalChain {
public:
  UnequalChain(const Collective& collective, const Schedule& schedule, const AnyLinks& links)
      : phase_(schedule.phases.front()), links_(links), gamma_(reduction_costs(collective)),
        serial_(schedule.serial_additions ||
                collective.options.reduction_mode == ReductionMode::serial),
        finish_(entry_times(collective)), ready_(finish_), added_(finish_),
        size_(static_cast<std::size_t>(phase_.layout.size)), bytes_(block_bytes(phase_.partition)) {
    for (std::size_t local = 0; local < size_; ++local) {
      const std::uint32_t src = rank(local);
      const std::uint32_t dst = rank((local + 1) % size_);
      pairs_.push_back({src, dst, finish_[src], finish_[dst]});
    }
  }

  Evaluation run() {
    Evaluation result;
    has_.assign(bytes_.size(), finish_[pairs_.front().src]);
    const auto* ring = std::get_if<ChainRing>(&phase_.rule);
    const bool reduce = ring != nullptr || std::get<Chain>(phase_.rule).reduce;
    for (std::size_t local = 0; local + 1 < size_; ++local) {
      send(pairs_[local], {.reduce = reduce, .follows = false});
    }
    result.messages = size_ - 1;
    if (ring != nullptr) {
      send(pairs_.back(), {.reduce = false, .follows = false}); // the sums return to the head
      const auto hops = static_cast<std::size_t>(ring->last_hops());
      for (std::size_t local = 0; local < hops; ++local) {
        send(pairs_[local], {.reduce = false, .follows = true});
      }
      result.messages += 1 + hops;
    }
    result.messages *= bytes_.size();
    result.seconds = *std::ranges::max_element(finish_);
    result.ranks.finish_s = std::move(finish_);
    return result;
  }

private:
  [[nodiscard]] std::uint32_t rank(std::size_t local) const {
    return static_cast<std::uint32_t>(phase_.layout.rank(0, static_cast<Index>(local)));
  }

  // All blocks pass the pair. A block is sent when its rank has it and all blocks before it.
  void send(Pair& pair, const Round& round) {
    const LinkCost cost =
        std::visit([&](const auto& links) { return links.cost(pair.src, pair.dst); }, links_);
    double tx = pair.tx;
    double rx = pair.rx;
    double ready = ready_[pair.dst];
    double added = added_[pair.dst];
    double latency = round.follows ? cost.block_latency_s : cost.latency_s;
    for (std::size_t block = 0; block < bytes_.size(); ++block) {
      const double duration = latency + bytes_[block] * cost.per_byte_s;
      latency = cost.block_latency_s;
      tx = rx = std::max(std::max(tx, rx), has_[block]) + duration;
      double arrived = tx + cost.delay_s;
      if (round.reduce) {
        const double addition = bytes_[block] * gamma_[pair.dst];
        rx = serial_ ? tx + addition : tx;
        arrived = added = std::max(added, arrived) + addition;
      }
      has_[block] = ready = std::max(ready, arrived);
    }
    pair.tx = tx;
    pair.rx = rx;
    ready_[pair.dst] = ready;
    added_[pair.dst] = added;
    finish_[pair.src] = std::max(finish_[pair.src], tx);
    finish_[pair.dst] = std::max({finish_[pair.dst], rx, ready});
  }

  const Phase& phase_;
  const AnyLinks& links_;
  std::vector<double> gamma_;
  bool serial_;
  std::vector<double> finish_, ready_, added_; // [rank] as in SweepState
  std::size_t size_;
  std::vector<double> bytes_; // [block]
  std::vector<double> has_;   // [block] when the rank at which the blocks are has it
  std::vector<Pair> pairs_;   // by the position of src in the chain
};

// An edge of one tree in one direction.
struct StreamEdge {
  std::uint32_t src{}, dst{};
  std::uint32_t node = kInside; // whose interfaces the edge leaves by
  Index offset{}, blocks{};     // first slot; one block in every second slot from there
  std::size_t first_part{};
  // Where block 0 is read from and written to in `cells_`, and the distance to the next block's
  // place: 1 at the roots, which keep all blocks, else 0.
  std::size_t read{}, read_step{}, write{}, write_step{};
  LinkCost cost;
  double per_byte_s{}; // with the share of the interface
  double addition_s_per_byte{};
  double ready_s{}; // its last block is there, and added

  static constexpr std::uint32_t kInside = ~std::uint32_t{0};
};

template <class Links> class UnequalTrees {
public:
  UnequalTrees(const Collective& collective, const Schedule& schedule, const Links& links)
      : phase_(schedule.phases.front()), rule_(std::get<TreePair>(phase_.rule)), links_(links),
        gamma_(reduction_costs(collective)),
        serial_(schedule.serial_additions ||
                collective.options.reduction_mode == ReductionMode::serial),
        enter_(entry_times(collective)), tx_(enter_), rx_(enter_), added_(enter_), finish_(enter_),
        cells_(static_cast<std::size_t>(rule_.cells()) + 2), bytes_(block_bytes(phase_.partition)) {
  }

  Evaluation run() {
    const DoubleTree& trees = double_tree(static_cast<std::uint32_t>(phase_.layout.size));
    const Index later = 2 * (rule_.blocks(0) - 1); // slots of the blocks behind the first
    Evaluation result;
    for (const bool up : {true, false}) {
      std::array<Parity, 2> parities;
      for (const DoubleTreeEdge& edge : trees.edges) {
        if (rule_.blocks(edge.tree) > 0) {
          const Index offset = up ? edge.reduce_offset : edge.broadcast_offset;
          parities[static_cast<std::size_t>(offset % 2)].edges.push_back(
              edge_of(edge, up, up ? offset : later + trees.reduce_slots + offset, offset));
          result.messages += static_cast<std::uint64_t>(rule_.blocks(edge.tree));
        }
      }
      for (Parity& parity : parities) {
        std::ranges::stable_sort(parity.edges, std::ranges::greater{}, &StreamEdge::offset);
      }
      const Index slots = later + (up ? trees.reduce_slots : trees.broadcast_slots);
      for (Index slot = 0; slot < slots; ++slot) {
        Parity& parity = parities[static_cast<std::size_t>(slot % 2)];
        begin(parity, slot);
        play(parity.active, slot, up);
      }
      for (const Parity& parity : parities) {
        for (const StreamEdge& edge : parity.edges) {
          finish_[edge.dst] = std::max(finish_[edge.dst], edge.ready_s);
        }
      }
    }
    for (std::size_t rank = 0; rank < finish_.size(); ++rank) {
      finish_[rank] = std::max({finish_[rank], tx_[rank], rx_[rank]});
    }
    result.seconds = *std::ranges::max_element(finish_);
    result.ranks.finish_s = std::move(finish_);
    return result;
  }

private:
  // The edge that sends its first block in `step` of the rule.
  [[nodiscard]] StreamEdge edge_of(const DoubleTreeEdge& of, bool up, Index step,
                                   Index offset) const {
    const Index from = up ? of.child : of.parent;
    const Index to = up ? of.parent : of.child;
    const Send send = rule_.send(step, from);
    const Receive receive = rule_.receive(step, to);
    const auto cell = [&](Index stream, Index block, std::size_t otherwise) {
      return stream == kNobody ? cells_.size() - otherwise
                               : static_cast<std::size_t>(rule_.cell(stream, block));
    };
    StreamEdge edge;
    edge.src = static_cast<std::uint32_t>(phase_.layout.rank(0, from));
    edge.dst = static_cast<std::uint32_t>(phase_.layout.rank(0, to));
    edge.offset = offset;
    edge.blocks = rule_.blocks(of.tree);
    edge.first_part = static_cast<std::size_t>(send.first);
    const Index read = send.needs == Needs::own ? kNobody : send.stream;
    edge.read = cell(read, 0, kAlways);
    edge.read_step = cell(read, 1, kAlways) - edge.read;
    edge.write = cell(receive.stream, 0, kNever);
    edge.write_step = cell(receive.stream, 1, kNever) - edge.write;
    edge.cost = links_.cost(edge.src, edge.dst);
    edge.per_byte_s = edge.cost.per_byte_s;
    edge.addition_s_per_byte = up ? gamma_[edge.dst] : 0;
    if constexpr (std::same_as<Links, TwoLevelLinks>) {
      edge.node = links_.shared(edge.src, edge.dst) ? links_.node(edge.src) : StreamEdge::kInside;
    }
    return edge;
  }

  // Edges whose slots are all even, or all odd, by descending offset: an edge comes before the one
  // that brings its blocks.
  struct Parity {
    std::vector<StreamEdge> edges;
    std::vector<StreamEdge*> active; // those with a block in the slot
    Index change = 0;                // the first slot in which they are others
  };

  // Finds the edges with a block in the slot. While they are the same, their shares stay.
  void begin(Parity& parity, Index slot) {
    if (slot < parity.change) {
      return;
    }
    parity.active.clear();
    parity.change = std::numeric_limits<Index>::max();
    for (StreamEdge& edge : parity.edges) {
      const Index end = edge.offset + 2 * edge.blocks;
      if (slot >= edge.offset && slot < end) {
        parity.active.push_back(&edge);
      }
      if (slot < end) {
        parity.change = std::min(parity.change, slot < edge.offset ? edge.offset : end);
      }
    }
    share_interfaces(parity.active);
  }

  // Nobody uses a port twice in a slot, and an edge sends before its next block arrives.
  void play(const std::vector<StreamEdge*>& active, Index slot, bool up) {
    for (StreamEdge* const edge : active) {
      const auto block = static_cast<std::size_t>((slot - edge->offset) / 2);
      const double bytes = bytes_[edge->first_part + block];
      const double latency = block > 0 ? edge->cost.block_latency_s : edge->cost.latency_s;
      double& tx = tx_[edge->src];
      double& rx = rx_[edge->dst];
      const double data = std::max(enter_[edge->src], cells_[edge->read + block * edge->read_step]);
      tx = rx = std::max(std::max(tx, rx), data) + (latency + bytes * edge->per_byte_s);
      edge->ready_s = tx + edge->cost.delay_s;
      if (up) {
        const double addition = bytes * edge->addition_s_per_byte;
        rx += serial_ ? addition : 0;
        double& added = added_[edge->dst];
        added = edge->ready_s = std::max(added, edge->ready_s) + addition;
      }
      cells_[edge->write + block * edge->write_step] = edge->ready_s;
    }
  }

  // Sends that leave a node in one slot share its interfaces equally.
  void share_interfaces(const std::vector<StreamEdge*>& active) {
    if constexpr (std::same_as<Links, TwoLevelLinks>) {
      leaving_.assign(links_.nodes(), 0);
      for (const StreamEdge* const edge : active) {
        if (edge->node != StreamEdge::kInside) {
          ++leaving_[edge->node];
        }
      }
      const std::uint32_t nics = links_.nics_per_node();
      for (StreamEdge* const edge : active) {
        if (edge->node != StreamEdge::kInside) {
          edge->per_byte_s = (leaving_[edge->node] + nics - 1) / nics * edge->cost.per_byte_s;
        }
      }
    }
  }

  // Places from the end of `cells_`: one that is never written, and one that is never read.
  static constexpr std::size_t kAlways = 1;
  static constexpr std::size_t kNever = 2;

  const Phase& phase_;
  const TreePair& rule_;
  const Links& links_;
  std::vector<double> gamma_;
  bool serial_;
  std::vector<double> enter_, tx_, rx_, added_, finish_; // [rank] as in SweepState
  std::vector<double> cells_;                            // when blocks are complete at ranks
  std::vector<double> bytes_;                            // [block]
  std::vector<std::uint32_t> leaving_;
};

// Whether no two pairs of the ring of all ranks can ever share an interface.
bool interfaces_suffice(const Phase& phase, const AnyLinks& any_links) {
  const auto* links = std::get_if<TwoLevelLinks>(&any_links);
  if (links == nullptr) {
    return true;
  }
  std::vector<std::uint32_t> leaving(links->nodes());
  for (Index local = 0; local < phase.layout.size; ++local) {
    const auto src = static_cast<std::uint32_t>(phase.layout.rank(0, local));
    const auto dst =
        static_cast<std::uint32_t>(phase.layout.rank(0, (local + 1) % phase.layout.size));
    leaving[links->node(src)] += links->shared(src, dst) ? 1 : 0;
  }
  return std::ranges::max(leaving) <= links->nics_per_node();
}

} // namespace

bool has_unequal_streams(const Collective& collective) {
  const bool pipeline = collective.algorithm == AlgorithmId::lp;
  const bool leaves_nodes_often =
      pipeline && collective.links.two_level && !collective.chain.empty();
  return algorithm(collective.algorithm).block_streams > 0 && !is_empty(collective) &&
         !collective.links.fabric && !collective.links.pairs_only && !leaves_nodes_often;
}

std::optional<Evaluation> unequal_streams(const Collective& collective, const Schedule& schedule) {
  if (schedule.phases.size() != 1 || schedule.lanes.size() != 1) {
    return std::nullopt;
  }
  const Phase& phase = schedule.phases.front();
  const bool trees = std::holds_alternative<TreePair>(phase.rule);
  const bool chain =
      std::holds_alternative<Chain>(phase.rule) || std::holds_alternative<ChainRing>(phase.rule);
  const bool alone = !collective.links.pairs_only && phase.layout.groups == 1 &&
                     phase.layout.size == collective.ranks && phase.partition.parts() > 0 &&
                     schedule.lanes.front().cards == 0 && phase.nic_share == 0 &&
                     phase.inner_share == 1 && schedule.data_sets == 1;
  if (!alone || !(trees || chain)) {
    return std::nullopt;
  }
  const AnyLinks links = make_links(collective.links, collective.ranks);
  if (trees) {
    return std::visit([&](const auto& of) { return UnequalTrees(collective, schedule, of).run(); },
                      links);
  }
  if (!interfaces_suffice(phase, links)) {
    return std::nullopt;
  }
  return UnequalChain(collective, schedule, links).run();
}

} // namespace stepsim::collectives
