#pragma once
// The max-plus sweep (COL 3): all operations in program order, step by step. In a step every port
// has at most one operation, so every start follows from the state before the step:
//     start = max(tx[from], rx[to], data), end = start + latency + bytes * per_byte
// The ports `from` of src and `to` of dst are free at `end`; with serial additions `to` is free
// only after the addition. The data arrives a delay after `end`. Memory is O(ports), and one cell
// per block if the rule has a stream (pipelined_rules.hpp). `Observer::seen(Operation)` is called
// for every operation in program order; the sweep stops when `Observer::done()`.

#include "collectives/evaluate/link_costs.hpp"
#include "collectives/evaluate/ring_pass.hpp"
#include "collectives/schedule/schedule.hpp"

namespace stepsim::collectives {

struct Operation {
  Index step{};
  std::uint32_t src{};
  std::uint32_t dst{};
  std::uint32_t port{}; // from which it is sent
  double offset{};
  double bytes{};
  bool reduce{};
  double start_s{};
  double end_s{};       // time at which the send port of src is free
  double port_free_s{}; // time at which the receive port of dst is free
  double addition_s{};  // duration of the addition at dst; 0 without
  double ready_s{};     // time at which the data has arrived at dst and has been added
};

// No observer: a ring phase may skip per-transfer bookkeeping.
struct NoObserver {
  static constexpr bool kWatches = false;
  void seen(const Operation& /*operation*/) {}
  [[nodiscard]] static bool done() { return false; }
};

// All times are in seconds from time 0.
struct SweepState {
  // [port] times at which the send port is free, the receive port is free, all additions are done.
  std::vector<double> tx, rx, reduced;
  std::vector<double> ready;  // [set of data x ranks + rank] when the rank has all received data
  std::vector<double> finish; // [rank] end of its last send, receive or addition
  std::uint64_t messages = 0;
};

template <class Links, class Observer> class Sweep {
public:
  Sweep(const Collective& collective, const Links& links, Observer& observer)
      : links_(links), observer_(observer), mode_(collective.options.reduction_mode),
        gamma_(reduction_costs(collective)), enter_(entry_times(collective)) {
    state_.finish = enter_;
  }

  void run(const Schedule& schedule) {
    schedule_ = &schedule;
    mode_ = schedule.serial_additions ? ReductionMode::serial : mode_;
    for (std::uint32_t set = 0; set < schedule.data_sets; ++set) {
      state_.ready.insert(state_.ready.end(), enter_.begin(), enter_.end());
    }
    state_.tx = port_entries(schedule);
    state_.rx = state_.reduced = state_.tx;
    for (const Phase& phase : schedule.phases) {
      std::visit([&](const auto& rule) { run_phase(phase, rule); }, phase.rule);
    }
  }
  [[nodiscard]] const SweepState& state() const { return state_; }

private:
  struct Pending {
    Operation operation{};
    std::uint32_t from{}, to{}; // ports
    std::size_t read = kNoCell;
    std::size_t write = kNoCell;
    Needs needs{};
    bool follow_up{};
  };
  struct Arrival {
    std::size_t data{}, write{}; // places in `ready` and in `cells_`
    double ready_s{};
  };
  static constexpr std::size_t kNoCell = ~std::size_t{0};
  static constexpr bool kSharesInterfaces = std::same_as<Links, TwoLevelLinks>;

  // Returns the times at which ports become free: when their rank enters, or 0 for ports that
  // several ranks share. On shared ports (Needs::entry) every transfer waits until its own ranks
  // have entered.
  [[nodiscard]] std::vector<double> port_entries(const Schedule& schedule) const {
    std::vector<double> entries;
    for (const Lane& lane : schedule.lanes) {
      entries.insert(entries.end(), enter_.begin(), enter_.end());
      if (lane.cards > 0) {
        std::fill(entries.end() - static_cast<std::ptrdiff_t>(enter_.size()), entries.end(), 0.0);
      }
    }
    return entries;
  }

  // Runs a phase step by step. A port serves one send of a step, so that sends are timed and
  // applied one by one, but for the data that they bring: a rank that sends and receives in one
  // step must not see the other half of the step. Where sends have to know how many others share
  // their interface, they are collected first.
  template <class R> void run_phase(const Phase& phase, const R& rule) {
    if constexpr (!Observer::kWatches && std::same_as<R, RingPass>) {
      run_ring(phase, rule);
      return;
    }
    if constexpr (StreamRule<R> || std::same_as<R, FunctionRule>) {
      own_ = state_.ready;
    }
    if constexpr (StreamRule<R>) {
      cells_.assign(static_cast<std::size_t>(phase.layout.groups * rule.cells()), 0.0);
    }
    for (Index step = 0; step < rule.steps() && !observer_.done(); ++step) {
      arrivals_.clear();
      if constexpr (kSharesInterfaces) {
        collect(phase, rule, step);
        count_leaving(phase);
        for (Pending& pending : pending_) {
          play(pending, phase);
        }
      } else {
        each_send(phase, rule, step, [&](Pending& pending) { play(pending, phase); });
      }
      for (const Arrival& arrival : arrivals_) {
        double& ready = state_.ready[arrival.data];
        ready = std::max(ready, arrival.ready_s);
        if constexpr (StreamRule<R>) {
          if (arrival.write != kNoCell) {
            cells_[arrival.write] = arrival.ready_s;
          }
        }
      }
    }
  }

  // Returns the index in `ready` for the data of a rank.
  [[nodiscard]] std::size_t data_of(const Phase& phase, std::uint32_t rank) const {
    return std::size_t{phase.data} * enter_.size() + rank;
  }

  template <class R> void collect(const Phase& phase, const R& rule, Index step) {
    pending_.clear();
    each_send(phase, rule, step, [&](const Pending& pending) { pending_.push_back(pending); });
  }

  // Calls `use` for all sends of a step.
  template <class R, class Use>
  void each_send(const Phase& phase, const R& rule, Index step, const Use& use) const {
    for (Index group = 0; group < phase.layout.groups; ++group) {
      for (Index local = 0; local < phase.layout.size; ++local) {
        const Send send = rule.send(step, local);
        if (send.peer == kNobody) {
          continue;
        }
        Pending pending{.needs = send.needs, .follow_up = send.follow_up};
        Operation& operation = pending.operation;
        operation.step = phase.first_step + step;
        operation.src = static_cast<std::uint32_t>(phase.layout.rank(group, local));
        operation.dst = static_cast<std::uint32_t>(phase.layout.rank(group, send.peer));
        pending.from = schedule_->port(phase.lane, operation.src);
        pending.to = schedule_->port(phase.lane, operation.dst);
        operation.bytes = phase.partition.bytes(send.first, send.count);
        operation.reduce = send.reduce;
        if constexpr (Observer::kWatches) {
          operation.offset = phase.offset + static_cast<double>(group) * phase.group_bytes +
                             phase.partition.begin(send.first);
        }
        if constexpr (StreamRule<R>) {
          const auto cell = [&](Index stream, Index block) {
            return stream == kNobody
                       ? kNoCell
                       : static_cast<std::size_t>(group * rule.cells() + rule.cell(stream, block));
          };
          const Receive receive = rule.receive(step, send.peer);
          pending.read = cell(send.stream, send.block);
          pending.write = cell(receive.stream, receive.block);
        }
        use(pending);
      }
    }
  }

  // Counts the sends per node that leave it in this step.
  void count_leaving(const Phase& phase) {
    if constexpr (kSharesInterfaces) {
      if (phase.nic_share == 0) {
        leaving_.assign(links_.nodes(), 0);
        for (const Pending& pending : pending_) {
          if (links_.shared(pending.operation.src, pending.operation.dst)) {
            ++leaving_[links_.node(pending.operation.src)];
          }
        }
      }
    }
  }

  [[nodiscard]] double per_byte(std::uint32_t src, std::uint32_t dst, const LinkCost& cost,
                                const Phase& phase) const {
    if constexpr (kSharesInterfaces) {
      std::uint32_t on_nic = phase.nic_share;
      if (on_nic == 0 && links_.shared(src, dst)) {
        const std::uint32_t nics = links_.nics_per_node();
        on_nic = (leaving_[links_.node(src)] + nics - 1) / nics;
      }
      return links_.static_share(src, dst, on_nic, phase.inner_share) * cost.per_byte_s;
    }
    return cost.per_byte_s;
  }

  // Applies the equations of the evaluator. With serial additions, the addition holds the receive
  // port; with overlapped additions, it holds only the reduction engine behind the port, which
  // works in order.
  void play(Pending& pending, const Phase& phase) {
    Operation& operation = pending.operation;
    const LinkCost& cost = links_.cost(operation.src, operation.dst);
    double data = 0;
    switch (pending.needs) {
    case Needs::all:
      data = state_.ready[data_of(phase, operation.src)];
      break;
    case Needs::own:
      data = own_[data_of(phase, operation.src)];
      break;
    case Needs::block:
      data = std::max(own_[data_of(phase, operation.src)], cells_[pending.read]);
      break;
    case Needs::entry:
      data = std::max(enter_[operation.src], enter_[operation.dst]);
      break;
    }
    const double latency = pending.follow_up ? cost.block_latency_s : cost.latency_s;
    const double duration =
        latency + operation.bytes * per_byte(operation.src, operation.dst, cost, phase);
    operation.start_s = std::max(std::max(state_.tx[pending.from], state_.rx[pending.to]), data);
    operation.end_s = operation.start_s + duration;
    operation.port_free_s = operation.end_s;
    operation.ready_s = operation.end_s + cost.delay_s;
    if (operation.reduce) {
      const double addition = operation.bytes * gamma_[operation.dst] * phase.inner_share;
      operation.addition_s = addition;
      if (mode_ == ReductionMode::serial) {
        operation.port_free_s = operation.end_s + addition;
      }
      operation.ready_s = std::max(state_.reduced[pending.to], operation.ready_s) + addition;
    }
    state_.tx[pending.from] = operation.end_s;
    state_.rx[pending.to] = operation.port_free_s;
    if (operation.reduce) {
      state_.reduced[pending.to] = operation.ready_s;
    }
    arrivals_.push_back({data_of(phase, operation.dst), pending.write, operation.ready_s});
    double& sent = state_.finish[operation.src];
    sent = std::max(sent, operation.end_s);
    double& received = state_.finish[operation.dst];
    received = std::max({received, operation.port_free_s, operation.ready_s});
    ++state_.messages;
    operation.port = pending.from;
    observer_.seen(operation);
  }

  // Runs all groups of a ring pass, in which the same sends leave a node in every step. Groups with
  // equal states, such as the nodes of a cluster or the rings of several interfaces, stay equal:
  // consecutive equal groups are computed once.
  void run_ring(const Phase& phase, const RingPass& rule) {
    collect(phase, rule, 0);
    count_leaving(phase);
    const auto size = static_cast<std::size_t>(phase.layout.size);
    for (std::size_t begin = 0; begin < pending_.size(); begin += size) {
      RingState ring = ring_state(phase, begin, size);
      if (!(last_ring_ && last_ring_->reduce == rule.reduce &&
            last_ring_->partition == phase.partition && last_ring_->before == ring)) {
        last_ring_ = RunRing{rule.reduce, phase.partition, ring, {}};
        run_ring_pass(ring, phase.partition, rule.reduce, mode_);
        last_ring_->after = std::move(ring);
      }
      const RingState& after = last_ring_->after;
      for (std::size_t i = 0; i < size; ++i) {
        const auto [port, rank] =
            std::pair(pending_[begin + i].from, pending_[begin + i].operation.src);
        state_.tx[port] = after.tx[i];
        state_.rx[port] = after.rx[i];
        state_.reduced[port] = after.reduced[i];
        state_.ready[data_of(phase, rank)] = after.ready[i];
        state_.finish[rank] = std::max(
            {state_.finish[rank], after.tx[i], after.rx[i], after.reduced[i], after.ready[i]});
      }
    }
    state_.messages += pending_.size() * (size - 1);
  }

  // Returns the state of one group's ranks before the pass.
  [[nodiscard]] RingState ring_state(const Phase& phase, std::size_t begin,
                                     std::size_t size) const {
    RingState ring;
    for (std::size_t i = begin; i < begin + size; ++i) {
      const auto [src, dst] = std::pair(pending_[i].operation.src, pending_[i].operation.dst);
      const LinkCost& cost = links_.cost(src, dst);
      const std::uint32_t port = pending_[i].from;
      ring.tx.push_back(state_.tx[port]);
      ring.rx.push_back(state_.rx[port]);
      ring.reduced.push_back(state_.reduced[port]);
      ring.ready.push_back(state_.ready[data_of(phase, src)]);
      ring.latency_s.push_back(cost.latency_s);
      ring.delay_s.push_back(cost.delay_s);
      ring.per_byte_s.push_back(per_byte(src, dst, cost, phase));
      ring.reduction_s_per_byte.push_back(gamma_[src] * phase.inner_share);
    }
    return ring;
  }

  // The last ring pass, with its result.
  struct RunRing {
    bool reduce{};
    Partition partition;
    RingState before, after;
  };

  const Links& links_;
  Observer& observer_;
  ReductionMode mode_;
  std::vector<double> gamma_, enter_; // per rank
  const Schedule* schedule_ = nullptr;
  SweepState state_;
  std::vector<double> own_;   // `ready` at the start of the phase
  std::vector<double> cells_; // ready times of the blocks of streams
  std::vector<Pending> pending_;
  std::vector<Arrival> arrivals_; // of the step
  std::vector<std::uint32_t> leaving_;
  std::optional<RunRing> last_ring_;
};

} // namespace stepsim::collectives
