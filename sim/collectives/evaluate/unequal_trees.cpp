// Trees go slot by slot and keep the times of ports and additions of all ranks, as the sweep does.
// Once a period of two slots has moved all times alike, further ones are added at once.
#include "collectives/evaluate/streams.hpp"

#include <functional>

#include "collectives/formula/uniform.hpp"
#include "collectives/schedule/double_tree.hpp"

namespace stepsim::collectives {

namespace {

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
  double port_s{}, end_s{}, ready_s{}; // of its last block: ports free, sent, there and added

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
      const Index first = slots - later;
      for (Index slot = 0; slot < slots; ++slot) {
        if (slot % 2 == 0) {
          slot += 2 * skip(parities, slot, first, up);
        }
        Parity& parity = parities[static_cast<std::size_t>(slot % 2)];
        begin(parity, slot);
        if (slot > first && periods_left(slot) > 0) {
          play<true>(parity.active, slot, up);
        } else {
          play<false>(parity.active, slot, up);
        }
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
  // Times are compared with those of the period before only where skip() asks for it.
  template <bool kCompares> void play(const std::vector<StreamEdge*>& active, Index slot, bool up) {
    for (StreamEdge* const edge : active) {
      const auto block = static_cast<std::size_t>((slot - edge->offset) / 2);
      const double bytes = bytes_[edge->first_part + block];
      const double latency = block > 0 ? edge->cost.block_latency_s : edge->cost.latency_s;
      double& tx = tx_[edge->src];
      double& rx = rx_[edge->dst];
      const double data = std::max(enter_[edge->src], cells_[edge->read + block * edge->read_step]);
      edge->port_s = std::max(tx, rx);
      tx = rx = std::max(edge->port_s, data) + (latency + bytes * edge->per_byte_s);
      double ready = tx + edge->cost.delay_s;
      if (up) {
        const double addition = bytes * edge->addition_s_per_byte;
        rx += serial_ ? addition : 0;
        double& added = added_[edge->dst];
        added = ready = std::max(added, ready) + addition;
      }
      if constexpr (kCompares) {
        low_ = std::min({low_, tx - edge->end_s, ready - edge->ready_s});
        high_ = std::max({high_, tx - edge->end_s, ready - edge->ready_s});
      }
      edge->end_s = tx;
      edge->ready_s = ready;
      cells_[edge->write + block * edge->write_step] = edge->ready_s;
    }
  }

  // Periods from the slot on in which both trees carry whole blocks.
  [[nodiscard]] Index periods_left(Index slot) const {
    return std::min(rule_.blocks(0), rule_.blocks(1)) - 2 - slot / 2;
  }

  // Before an even slot: adds as many periods as there are, if the last one moved all times alike.
  // `first` is the number of slots of the first block. Returns their number.
  Index skip(std::array<Parity, 2>& parities, Index slot, Index first, bool up) {
    const double low = std::exchange(low_, std::numeric_limits<double>::infinity());
    const double high = std::exchange(high_, 0);
    Index periods = periods_left(slot);
    if (slot < first + 3 || periods <= 0 ||
        !same_advance(low, high, *std::ranges::max_element(tx_))) {
      return 0;
    }
    const double period = (low + high) / 2;
    const auto last_of = [&](const StreamEdge& edge, std::size_t step) {
      return static_cast<std::size_t>((slot - 1 - edge.offset) / 2) * step;
    };
    // Roots go on as in the last period while their blocks are there before their ports are free.
    for (const Parity& parity : parities) {
      for (const StreamEdge& edge : parity.edges) {
        const std::size_t last = edge.read + last_of(edge, edge.read_step);
        for (Index k = 0; edge.read_step > 0 && k <= periods; ++k) {
          if (cells_[last + static_cast<std::size_t>(k)] >
              edge.port_s + static_cast<double>(k) * period) {
            periods = std::max<Index>(k - 1, 0);
          }
        }
      }
    }
    const double more = static_cast<double>(periods) * period;
    std::vector<double> sent(tx_.size()), received(tx_.size());
    for (Parity& parity : parities) {
      for (StreamEdge& edge : parity.edges) {
        sent[edge.src] = received[edge.dst] = more;
        const std::size_t last = edge.write + last_of(edge, edge.write_step);
        for (Index k = 1; edge.write_step > 0 && k <= periods; ++k) {
          cells_[last + static_cast<std::size_t>(k)] =
              edge.ready_s + static_cast<double>(k) * period;
        }
        cells_[last] += edge.write_step > 0 ? 0 : more;
        edge.end_s += more;
        edge.ready_s += more;
      }
    }
    for (std::size_t rank = 0; rank < tx_.size(); ++rank) {
      tx_[rank] += sent[rank];
      rx_[rank] += received[rank];
      added_[rank] += up ? received[rank] : 0;
    }
    return periods;
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
  double low_ = 0, high_ = 0; // by how much later each edge ended than one period before
};

} // namespace

std::vector<double> block_bytes(const Partition& partition) {
  std::vector<double> bytes;
  for (Index block = 0; block < partition.parts(); ++block) {
    bytes.push_back(partition.bytes(block, 1));
  }
  return bytes;
}

Evaluation unequal_trees(const Collective& collective, const Schedule& schedule,
                         const AnyLinks& any_links) {
  return std::visit(
      [&](const auto& links) { return UnequalTrees(collective, schedule, links).run(); },
      any_links);
}

} // namespace stepsim::collectives
