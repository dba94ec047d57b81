// The linear pipeline, rank by rank: a vector holds the times of all blocks at one rank. Once a
// rank moves them all by the same time, the ranks between it and the tail do, too. In the second
// round of an all-reduce every block but the last takes the same time, so that a longest path into
// it is known: it turns from one rank to the next wherever it likes.

#include "collectives/evaluate/streams.hpp"

#include "collectives/algorithms.hpp"
#include "collectives/formula/uniform.hpp"

namespace stepsim::collectives {

namespace {

// Seconds of block j of the stream; the last one may be shorter than the others.
class BlockCosts {
public:
  BlockCosts(const Phase& phase, const StreamCosts& costs, bool reduce)
      : costs_(costs), last_(static_cast<std::size_t>(phase.partition.parts()) - 1),
        whole_bytes_(phase.partition.bytes(0, 1)),
        last_bytes_(phase.partition.bytes(phase.partition.parts() - 1, 1)),
        gamma_(reduce ? costs.reduction_s_per_byte : 0) {}

  [[nodiscard]] std::size_t last() const { return last_; }
  [[nodiscard]] double bytes(std::size_t j) const {
    return j == last_ ? last_bytes_ : whole_bytes_;
  }
  [[nodiscard]] double hop(std::size_t j) const {
    return (j == 0 ? costs_.latency_s : costs_.block_latency_s) + bytes(j) * costs_.per_byte_s;
  }
  [[nodiscard]] double later_hop(std::size_t j) const { // of a block that is never the first
    return costs_.block_latency_s + bytes(j) * costs_.per_byte_s;
  }
  [[nodiscard]] double addition(std::size_t j) const { return bytes(j) * gamma_; }
  // For which the receive port is held after block j.
  [[nodiscard]] double held(std::size_t j) const { return costs_.serial ? addition(j) : 0; }

private:
  const StreamCosts& costs_;
  std::size_t last_;
  double whole_bytes_, last_bytes_, gamma_;
};

// All ranks but the tail send every block once, and add what they receive in a reduce.
struct FirstRound {
  std::vector<double> sent;      // [rank] the end of its last send
  std::vector<double> delivered; // [block] when the tail has it, added
};

FirstRound first_round(const BlockCosts& costs, double enter_s, std::size_t ranks) {
  const std::size_t blocks = costs.last() + 1;
  std::vector<double> ends(blocks); // of the sends of one rank
  double port_s = enter_s;
  for (std::size_t j = 0; j < blocks; ++j) {
    ends[j] = port_s + costs.hop(j);
    port_s = ends[j] + costs.held(j);
  }
  FirstRound round;
  round.sent.push_back(ends.back());
  while (round.sent.size() + 1 < ranks) {
    double low = std::numeric_limits<double>::infinity();
    double high = 0;
    double added_s = enter_s;
    port_s = enter_s;
    for (std::size_t j = 0; j < blocks; ++j) {
      added_s = std::max(added_s, ends[j]) + costs.addition(j);
      const double end = std::max(port_s, added_s) + costs.hop(j);
      low = std::min(low, end - ends[j]);
      high = std::max(high, end - ends[j]);
      ends[j] = end;
      port_s = end + costs.held(j);
    }
    round.sent.push_back(ends.back());
    if (same_advance(low, high, ends.back())) {
      const std::size_t left = ranks - 1 - round.sent.size();
      const double hop_s = (low + high) / 2;
      for (std::size_t k = 1; k <= left; ++k) {
        round.sent.push_back(ends.back() + static_cast<double>(k) * hop_s);
      }
      for (double& end : ends) {
        end += static_cast<double>(left) * hop_s;
      }
    }
  }
  double added_s = enter_s;
  for (std::size_t j = 0; j < blocks; ++j) {
    added_s = std::max(added_s, ends[j]) + costs.addition(j);
    ends[j] = added_s;
  }
  round.delivered = std::move(ends);
  return round;
}

// The tail returns the sums to the head, which sends them on over `hops` hops. Returns when each
// rank has finished. A rank sends nothing of this round before the blocks of the first one.
std::vector<double> second_round(const BlockCosts& costs, FirstRound first, double enter_s,
                                 std::size_t hops) {
  const std::size_t last = costs.last();
  const double hop_s = costs.later_hop(0); // of all blocks but the last
  double returned_s = enter_s;
  double by_return_s = -std::numeric_limits<double>::infinity(); // less the hops of earlier blocks
  for (std::size_t j = 0; j <= last; ++j) {
    returned_s = std::max(returned_s, first.delivered[j]) + costs.hop(j);
    if (j < last) {
      by_return_s = std::max(by_return_s, returned_s - static_cast<double>(j) * hop_s);
    }
  }
  std::vector<double>& finish = first.sent;
  finish.push_back(std::max(first.delivered.back(), returned_s));
  double end_s = returned_s; // of the last block at the rank before
  for (std::size_t rank = 0; rank < hops; ++rank) {
    double start_s = finish[rank] + costs.held(last); // its ports are free
    if (last > 0) {
      by_return_s = std::max(by_return_s, start_s - static_cast<double>(rank) * hop_s);
      start_s = by_return_s + static_cast<double>(last + rank) * hop_s;
    }
    end_s = std::max(start_s, end_s) + costs.later_hop(last);
    finish[rank] = end_s;
  }
  finish[hops] = std::max(finish[hops], end_s);
  return std::move(finish);
}

// The pipeline goes pair by pair with the times of all blocks in a vector, and keeps the times of
// ports and additions of all ranks, as the sweep does.

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

bool has_equal_streams(const Collective& collective) {
  if (algorithm(collective.algorithm).block_streams == 0 || collective.ranks < 2 ||
      collective.bytes <= 0) {
    return false;
  }
  const std::optional<UniformCost> cost = uniform_cost(collective);
  return cost && cost->link.delay_s == 0;
}

std::optional<Evaluation> equal_streams(const Collective& collective, const Schedule& schedule) {
  if (!has_equal_streams(collective)) {
    return std::nullopt;
  }
  assert(schedule.phases.size() == 1 && "streams are one phase");
  const UniformCost cost = *uniform_cost(collective);
  const StreamCosts costs{.enter_s = cost.enter_s,
                          .latency_s = cost.link.latency_s,
                          .block_latency_s = cost.link.block_latency_s,
                          .per_byte_s = cost.link.per_byte_s,
                          .reduction_s_per_byte = cost.reduction_s_per_byte,
                          .serial = schedule.serial_additions ||
                                    collective.options.reduction_mode == ReductionMode::serial};
  const Phase& phase = schedule.phases.front();
  const std::uint64_t ranks = collective.ranks;
  const auto blocks = static_cast<std::uint64_t>(phase.partition.parts());
  std::uint64_t sums = (ranks - 1) * blocks; // messages that are added
  Evaluation result;
  std::vector<double> finish; // by local rank
  if (const auto* ring = std::get_if<ChainRing>(&phase.rule)) {
    const BlockCosts block(phase, costs, true);
    const auto hops = static_cast<std::size_t>(ring->last_hops());
    finish = second_round(block, first_round(block, cost.enter_s, ranks), cost.enter_s, hops);
    result.messages = sums + (1 + hops) * blocks;
  } else if (const auto* chain = std::get_if<Chain>(&phase.rule)) {
    FirstRound round = first_round(BlockCosts(phase, costs, chain->reduce), cost.enter_s, ranks);
    finish = std::move(round.sent);
    finish.push_back(round.delivered.back());
    result.messages = sums;
    sums = chain->reduce ? sums : 0;
  } else {
    finish = equal_trees(phase, costs);
    result.messages = 2 * sums;
  }
  result.ranks.finish_s.resize(ranks);
  for (std::size_t local = 0; local < finish.size(); ++local) {
    const Index rank = phase.layout.rank(0, static_cast<Index>(local));
    result.ranks.finish_s[static_cast<std::size_t>(rank)] = finish[local];
  }
  result.seconds = *std::ranges::max_element(finish);
  result.events = ranks + result.messages + (cost.reduction_s_per_byte > 0 ? sums : 0);
  return result;
}

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
