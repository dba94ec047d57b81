#pragma once
// The event-driven evaluation of a schedule. Every rank has two cursors in program order, over its
// sends and over its receptions. A transfer starts when it is at the head of both, both ports are
// free and its data is there; the network model says when it ends. Additions of a rank run one
// after the other; a third cursor, over receptions whose data is not ready yet, follows them.
// Memory O(ranks), and one counter per stream.
//
//   run()                           from entries to the end on a network of its own
//   begin, enter, completed, ...    step by step, by who shares the network with others and only
//                                   passes on what is submitted; transfers are named by their src
#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "base/error.hpp"
#include "coll/evaluate/busy_time.hpp"
#include "coll/evaluate/evaluation.hpp"
#include "coll/evaluate/link_costs.hpp"
#include "coll/schedule/schedule_cursor.hpp"
#include "engine/event_queue.hpp"
#include "net/network_model.hpp"

namespace stepsim::coll {

template <class Links, class Network> class EventRun {
public:
  EventRun(const Collective& collective, const Schedule& schedule, const Links& links,
           Network network, bool with_transfer_times)
      : walk_(schedule), links_(links), network_(std::move(network)),
        serial_(collective.options.reduction_mode == ReductionMode::serial),
        watches_(with_transfer_times), enter_(entry_times(collective)),
        gamma_(reduction_costs(collective)), finish_(enter_), ranks_(collective.ranks),
        written_(walk_.streams(), 0), busy_(with_transfer_times ? collective.ranks : 0) {
    adds_later_ = !serial_ &&
                  std::any_of(gamma_.begin(), gamma_.end(), [](double gamma) { return gamma > 0; });
  }

  // Throws SimulationError if the schedule cannot go on.
  Evaluation run() requires net::NetworkModel<Network> {
    begin();
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
      timers_.push(enter_[rank], rank * 2 + kEntry);
    }
    std::vector<std::uint32_t> done;
    for (;;) {
      const double now = std::min<double>(network_.next_time(), next_time());
      if (now == net::kNever) {
        break;
      }
      done.clear();
      network_.advance(now, done);
      for (const std::uint32_t src : done) {
        completed(now, src);
      }
      advance(now);
    }
    refuse_deadlock();
    result_.ranks.finish_s = finish_;
    result_.seconds = *std::max_element(finish_.begin(), finish_.end());
    if (watches_) {
      result_.ranks.transfer_s = busy_.lengths();
    }
    return std::move(result_);
  }

  void begin() {
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
      Rank& state = ranks_[rank];
      open_ += adds_later_ ? 3 : 2;
      go_on(rank, state.send);
      go_on(rank, state.reception);
      state.unready = state.reception;
      open_ -= adds_later_ && state.unready.position == kEndOfSchedule ? 1 : 0;
    }
  }
  void enter(double now, std::uint32_t rank) {
    now_ = now;
    enter(rank);
  }
  // The transfer of this source, at its destination.
  void completed(double now, std::uint32_t src) {
    now_ = now;
    ++result_.events;
    transferred(src);
  }
  [[nodiscard]] double next_time() const { // of additions (and of entries, in run())
    return timers_.empty() ? net::kNever : timers_.next_time();
  }
  void advance(double now) {
    now_ = now;
    while (!timers_.empty() && timers_.next_time() <= now_) {
      const std::uint32_t id = timers_.pop().id();
      ++result_.events;
      id % 2 == kEntry ? enter(id / 2) : added(id / 2);
    }
  }
  [[nodiscard]] bool finished() const { return open_ == 0; } // every rank has done everything
  // What the rank sends now or next.
  [[nodiscard]] const NextSend& sending(std::uint32_t rank) const { return ranks_[rank].send; }
  [[nodiscard]] const Network& network() const { return network_; }

private:
  static constexpr std::uint32_t kEntry = 0; // timer ids: 2 rank + kind
  static constexpr std::uint32_t kAddition = 1;

  struct Rank {
    NextSend send;           // next, or the one under way
    NextReception reception; // next, or the one under way
    NextReception unready;   // next whose data is not ready; kept only if additions run later
    bool sending = true;     // the port is busy; until the rank enters, both are
    bool receiving = true;
    double send_begin_s = 0;
    double addition_begin_s = 0;
  };

  // Whether everything that the next send of the rank passes on has arrived and has been added.
  // Positions are compared, not counted: what the rank has not received yet stands later in program
  // order than the send, or the send has to wait.
  [[nodiscard]] bool data_is_there(const Rank& rank) const {
    const Position unready = adds_later_ ? rank.unready.position : rank.reception.position;
    if (rank.send.needs == Needs::all) {
      return unready >= rank.send.position;
    }
    return unready >= position_of(rank.send.phase, 0) &&
           (rank.send.needs == Needs::own || written_[rank.send.stream] > rank.send.block);
  }

  // On to the next send or reception of the rank; `open_` counts the cursors that are not at their
  // end.
  template <class Next> void go_on(std::uint32_t rank, Next& cursor) {
    walk_.advance(rank, cursor);
    open_ -= cursor.position == kEndOfSchedule ? 1 : 0;
  }

  // Starts the next send of the rank if both ports are free, the receiver expects this very
  // transfer next, and the data is there. Whoever frees a port or brings data calls it again, so
  // that no transfer is forgotten.
  void try_start(std::uint32_t src) {
    Rank& sender = ranks_[src];
    const NextSend& send = sender.send;
    if (sender.sending || send.position == kEndOfSchedule) {
      return;
    }
    Rank& receiver = ranks_[send.dst];
    if (receiver.receiving || receiver.reception.position != send.position ||
        !data_is_there(sender)) {
      return;
    }
    sender.sending = receiver.receiving = true;
    sender.send_begin_s = now_;
    const LinkCost& cost = links_.cost(src, send.dst);
    net::Transfer transfer{.id = src,
                           .latency_s = send.follow_up ? cost.block_latency_s : cost.latency_s,
                           .per_byte_s = cost.per_byte_s,
                           .bytes = send.bytes,
                           .src = src,
                           .dst = send.dst};
    if constexpr (std::same_as<Links, TwoLevelLinks>) {
      if (links_.shared(src, send.dst)) {
        transfer.send_port = links_.send_port(src);
        transfer.receive_port = links_.receive_port(send.dst);
      }
    }
    network_.submit(now_, transfer);
    ++result_.messages;
  }

  // Whoever sends to `rank` next may start now.
  void try_start_to(std::uint32_t rank) {
    if (ranks_[rank].reception.position != kEndOfSchedule) {
      try_start(ranks_[rank].reception.src);
    }
  }

  // Before a rank enters both of its ports count as busy: it can neither send nor receive.
  void enter(std::uint32_t rank) {
    ranks_[rank].sending = ranks_[rank].receiving = false;
    try_start_to(rank);
    try_start(rank);
  }

  void transferred(std::uint32_t src) {
    Rank& sender = ranks_[src];
    const std::uint32_t dst = sender.send.dst;
    const bool reduce = sender.send.reduce;
    const double addition = reduce ? sender.send.bytes * gamma_[dst] : 0;
    finish_[src] = finish_[dst] = now_;
    if (watches_) {
      busy_.add(src, sender.send_begin_s, now_);
      busy_.add(dst, sender.send_begin_s, now_);
    }
    sender.sending = false;
    go_on(src, sender.send);
    if (serial_ && addition > 0) {
      start_addition(dst, addition); // the receive port stays busy
    } else {
      received(dst, reduce);
    }
    try_start(src);
  }

  // The receive port is free again.
  void received(std::uint32_t rank, bool reduce) {
    Rank& state = ranks_[rank];
    state.receiving = false;
    const bool engine_idle = state.unready.position == state.reception.position;
    if (!adds_later_ || !reduce) {
      write_stream(state.reception);
    }
    go_on(rank, state.reception);
    if (adds_later_ && engine_idle) {
      add_what_arrived(rank);
    }
    try_start_to(rank);
    try_start(rank);
  }

  // Goes on to the next reception that still has to be added and starts on it if it has arrived.
  void add_what_arrived(std::uint32_t rank) {
    Rank& state = ranks_[rank];
    while (state.unready.position < state.reception.position) {
      const double bytes = walk_.added_bytes(state.unready);
      if (bytes * gamma_[rank] > 0) {
        start_addition(rank, bytes * gamma_[rank]);
        return;
      }
      if (bytes >= 0) {
        write_stream(state.unready);
      }
      go_on(rank, state.unready);
    }
  }

  void start_addition(std::uint32_t rank, double seconds) {
    ranks_[rank].addition_begin_s = now_;
    timers_.push(now_ + seconds, rank * 2 + kAddition);
  }

  void added(std::uint32_t rank) {
    Rank& state = ranks_[rank];
    finish_[rank] = now_;
    if (watches_) {
      busy_.add(rank, state.addition_begin_s, now_);
    }
    if (serial_) {
      received(rank, true);
      return;
    }
    write_stream(state.unready);
    go_on(rank, state.unready);
    add_what_arrived(rank);
    try_start(rank);
  }

  // A block of a stream is ready: sends that need it compare its number with this count.
  void write_stream(const NextReception& reception) {
    if (reception.stream != NextReception::kNoStream) {
      ++written_[reception.stream];
    }
  }

  // No event is left but some cursors are not at their end: ranks wait for each other, or for a
  // transfer that nobody sends. Names the first of them.
  void refuse_deadlock() const {
    constexpr std::size_t kShown = 5;
    std::size_t blocked = 0;
    std::string text;
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
      const auto& [send, reception] = std::tie(ranks_[rank].send, ranks_[rank].reception);
      const bool sends = send.position != kEndOfSchedule;
      if ((sends || reception.position != kEndOfSchedule) && ++blocked <= kShown) {
        const std::uint32_t src = sends ? rank : reception.src;
        const std::uint32_t dst = sends ? send.dst : rank;
        text += (blocked > 1 ? "; " : "") + std::to_string(src) + " -> " + std::to_string(dst) +
                " " + walk_.place(sends ? Cursor(send) : Cursor(reception));
      }
    }
    if (blocked > 0) {
      throw SimulationError("the collective is blocked at " + std::to_string(blocked) +
                            " ranks: " + text + (blocked > kShown ? "; ..." : ""));
    }
  }

  ScheduleWalk walk_;
  const Links& links_;
  Network network_;
  bool serial_;
  bool watches_;
  bool adds_later_ = false; // some data becomes ready after its reception
  std::vector<double> enter_, gamma_, finish_;
  std::vector<Rank> ranks_;
  std::vector<Index> written_; // blocks of a stream that are ready
  engine::EventQueue<double> timers_;
  BusyTime busy_;
  std::uint64_t open_ = 0; // cursors that are not at the end
  double now_ = 0;
  Evaluation result_;
};

} // namespace stepsim::coll
