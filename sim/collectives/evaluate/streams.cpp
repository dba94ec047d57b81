// The linear pipeline, pair by pair of neighbours: a vector holds the times of all blocks at one
// rank, and ports and additions have the times of the sweep. A pair that finds all times as the
// pair before found them, later by one constant, leaves them later by the same.

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
  friend bool operator==(const Round&, const Round&) = default;
};

class ChainSweep {
public:
  ChainSweep(const Collective& collective, const Schedule& schedule, const AnyLinks& links)
      : phase_(schedule.phases.front()), links_(links), gamma_(reduction_costs(collective)),
        serial_(schedule.serial_additions ||
                collective.options.reduction_mode == ReductionMode::serial),
        finish_(entry_times(collective)), ready_(finish_), added_(finish_),
        size_(static_cast<std::size_t>(phase_.layout.size)) {
    for (Index block = 0; block < phase_.partition.parts(); ++block) {
      bytes_.push_back(phase_.partition.bytes(block, 1));
    }
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

  // What a pair reads and writes beside the times of the blocks.
  struct Times {
    double tx{}, port{}, ready{}, added{};
    [[nodiscard]] Times later(double by) const {
      return {tx + by, port + by, ready + by, added + by};
    }
  };

  // A pair that all blocks have passed. By how much later they were there behind it than before it
  // lies between `low` and `high`.
  struct Passed {
    LinkCost cost{};
    double gamma{};
    Round round{};
    Times before{}, after{};
    double low{}, high{};
  };

  // All blocks pass the pair. A block is sent when its rank has it and all blocks before it. No
  // time before that of the first block matters.
  void send(Pair& pair, const Round& round) {
    const LinkCost cost =
        std::visit([&](const auto& links) { return links.cost(pair.src, pair.dst); }, links_);
    const double first = has_.front() + later_;
    Passed now{.cost = cost, .gamma = round.reduce ? gamma_[pair.dst] : 0, .round = round};
    now.before = {.tx = first,
                  .port = std::max({pair.tx, pair.rx, first}),
                  .ready = std::max(ready_[pair.dst], first),
                  .added = std::max(added_[pair.dst], first)};
    if (last_ && same(now, *last_)) {
      const double moved = (last_->low + last_->high) / 2;
      now.after = last_->after.later(moved);
      now.low = last_->low;
      now.high = last_->high;
      later_ += moved;
    } else {
      pass(now);
    }
    last_ = now;
    pair.tx = now.after.tx;
    pair.rx = now.after.port;
    ready_[pair.dst] = now.after.ready;
    added_[pair.dst] = round.reduce ? now.after.added : added_[pair.dst];
    finish_[pair.src] = std::max(finish_[pair.src], pair.tx);
    finish_[pair.dst] = std::max({finish_[pair.dst], pair.rx, now.after.ready});
  }

  // Whether the pair finds what the last one found, later by as much as that one took.
  [[nodiscard]] static bool same(const Passed& now, const Passed& last) {
    const auto moved = [&](double Times::*time) {
      const double by = now.before.*time - last.before.*time;
      return same_advance(std::min(last.low, by), std::max(last.high, by), last.after.ready);
    };
    return now.cost == last.cost && now.gamma == last.gamma && now.round == last.round &&
           moved(&Times::tx) && moved(&Times::port) && moved(&Times::ready) &&
           (!now.round.reduce || moved(&Times::added));
  }

  void pass(Passed& now) {
    const LinkCost& cost = now.cost;
    auto [tx, port, ready, added] = now.before;
    double latency = now.round.follows ? cost.block_latency_s : cost.latency_s;
    double low = std::numeric_limits<double>::infinity();
    double high = 0;
    for (std::size_t block = 0; block < bytes_.size(); ++block) {
      const double duration = latency + bytes_[block] * cost.per_byte_s;
      latency = cost.block_latency_s;
      const double has = has_[block] + later_;
      tx = (port < has ? has : port) + duration;
      double arrived = tx + cost.delay_s;
      port = tx;
      if (now.round.reduce) {
        const double addition = bytes_[block] * now.gamma;
        port = serial_ ? tx + addition : tx;
        arrived = added = (added < arrived ? arrived : added) + addition;
      }
      has_[block] = ready = ready < arrived ? arrived : ready;
      low = std::min(low, ready - has);
      high = std::max(high, ready - has);
    }
    later_ = 0;
    now.after = {tx, port, ready, added};
    now.low = low;
    now.high = high;
  }

  const Phase& phase_;
  const AnyLinks& links_;
  std::vector<double> gamma_;
  bool serial_;
  std::vector<double> finish_, ready_, added_; // [rank] as in SweepState
  std::size_t size_;
  std::vector<double> bytes_; // [block]
  std::vector<double> has_;   // [block] when the rank at which the blocks are has it, less later_
  double later_ = 0;
  std::optional<Passed> last_;
  std::vector<Pair> pairs_; // by the position of src in the chain
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

bool has_streams(const Collective& collective) {
  const bool pipeline = collective.algorithm == AlgorithmId::lp;
  const bool leaves_nodes_often =
      pipeline && collective.links.two_level && !collective.chain.empty();
  return algorithm(collective.algorithm).block_streams > 0 && !is_empty(collective) &&
         !collective.links.fabric && !collective.links.pairs_only && !leaves_nodes_often;
}

bool has_equal_streams(const Collective& collective) {
  const std::optional<UniformCost> cost =
      has_streams(collective) && collective.bytes > 0 ? uniform_cost(collective) : std::nullopt;
  return cost && cost->link.delay_s == 0;
}

std::optional<Evaluation> streams(const Collective& collective, const Schedule& schedule) {
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
  if (chain && !interfaces_suffice(phase, links)) {
    return std::nullopt;
  }
  Evaluation result = trees ? double_trees(collective, schedule, links)
                            : ChainSweep(collective, schedule, links).run();
  const auto* one_way = std::get_if<Chain>(&phase.rule);
  const bool adds = (one_way == nullptr || one_way->reduce) && collective.reduction_s_per_byte > 0;
  const auto sums =
      (collective.ranks - std::uint64_t{1}) * static_cast<std::uint64_t>(phase.partition.parts());
  result.events = collective.ranks + result.messages + (adds ? sums : 0);
  return result;
}

} // namespace stepsim::collectives
