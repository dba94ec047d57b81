// The pipeline goes pair by pair with the times of all blocks in a vector, and keeps the times of
// ports and additions of all ranks, as the sweep does.
#include "collectives/evaluate/streams.hpp"

#include "collectives/algorithms.hpp"
#include "collectives/formula/uniform.hpp"

namespace stepsim::collectives {

namespace {

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
    double port = std::max(pair.tx, pair.rx); // whose rx is never before tx after a block
    double ready = ready_[pair.dst];
    double added = added_[pair.dst];
    const double gamma = round.reduce ? gamma_[pair.dst] : 0;
    double latency = round.follows ? cost.block_latency_s : cost.latency_s;
    for (std::size_t block = 0; block < bytes_.size(); ++block) {
      const double duration = latency + bytes_[block] * cost.per_byte_s;
      latency = cost.block_latency_s;
      const double has = has_[block];
      tx = (port < has ? has : port) + duration;
      double arrived = tx + cost.delay_s;
      port = tx;
      if (round.reduce) {
        const double addition = bytes_[block] * gamma;
        port = serial_ ? tx + addition : tx;
        arrived = added = (added < arrived ? arrived : added) + addition;
      }
      has_[block] = ready = ready < arrived ? arrived : ready;
    }
    pair.tx = tx;
    pair.rx = port;
    ready_[pair.dst] = ready;
    added_[pair.dst] = added;
    finish_[pair.src] = std::max(finish_[pair.src], tx);
    finish_[pair.dst] = std::max({finish_[pair.dst], port, ready});
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
    return unequal_trees(collective, schedule, links);
  }
  if (!interfaces_suffice(phase, links)) {
    return std::nullopt;
  }
  return UnequalChain(collective, schedule, links).run();
}

} // namespace stepsim::collectives
