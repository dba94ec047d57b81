#pragma once
// The event-driven evaluation of a schedule. Every rank has two cursors in program order, over its
// sends and over its receptions. A transfer starts when it is at the head of both, both ports are
// free and its data is there; the network model says when its ports are free again. The data is
// there a delay later. Additions of a rank run one after the other, so that the end of a transfer
// tells when its data will be ready:
//     ready = max(added, end + delay) + bytes * gamma,   added = ready of the addition before
// Memory O(ranks), one counter per stream, and what is between its ports and its addition.
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
        written_(walk_.streams(), 0), busy_(with_transfer_times ? collective.ranks : 0) {}

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
      open_ += 2;
      go_on(rank, state.send);
      go_on(rank, state.reception);
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
  [[nodiscard]] double next_time() const { // of delays, additions (and of entries, in run())
    return timers_.empty() ? net::kNever : timers_.next_time();
  }
  void advance(double now) {
    now_ = now;
    while (!timers_.empty() && timers_.next_time() <= now_) {
      const std::uint32_t id = timers_.pop().id();
      ++result_.events;
      if (id >= 2 * ranks_.size()) {
        became_ready(id - 2 * static_cast<std::uint32_t>(ranks_.size()));
      } else {
        id % 2 == kEntry ? enter(id / 2) : received(id / 2);
      }
    }
  }
  [[nodiscard]] bool finished() const { return open_ == 0; } // every rank has done everything
  // What the rank sends now or next.
  [[nodiscard]] const NextSend& sending(std::uint32_t rank) const { return ranks_[rank].send; }
  [[nodiscard]] const Network& network() const { return network_; }

private:
  // Timer ids: 2 rank + kind, then the places of arrivals.
  static constexpr std::uint32_t kEntry = 0;
  static constexpr std::uint32_t kPort = 1; // free after a serial addition
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  // What has left its ports and is still under way, or waits for its addition. Arrivals of a rank
  // are a list in program order, from the first that is not ready.
  struct Arrival {
    std::uint32_t rank{};
    std::uint32_t next = kNone; // of the rank, or of the free places
    Position position{};
    std::size_t stream{};
    bool ready = false;
  };

  struct Rank {
    NextSend send;           // next, or the one under way
    NextReception reception; // next, or the one under way
    bool sending = true;     // the port is busy; until the rank enters, both are
    bool receiving = true;
    double send_begin_s = 0;
    double ready_s = 0; // data of the reception under way, known when its transfer has ended
    double added_s = 0; // end of the last addition
    std::uint32_t first = kNone, last = kNone; // arrivals
  };

  // Whether everything that the next send of the rank passes on has arrived and has been added.
  // Positions are compared, not counted: what the rank has not received yet stands later in program
  // order than the send, or the send has to wait.
  [[nodiscard]] bool data_is_there(const Rank& rank) const {
    const Position unready =
        rank.first == kNone ? rank.reception.position : arrivals_[rank.first].position;
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
    Rank& receiver = ranks_[dst];
    const bool reduce = sender.send.reduce;
    const double addition = reduce ? sender.send.bytes * gamma_[dst] : 0;
    const double arrive = now_ + links_.cost(src, dst).delay_s;
    const double begin = reduce ? std::max(receiver.added_s, arrive) : arrive;
    receiver.ready_s = begin + addition;
    if (reduce) {
      receiver.added_s = receiver.ready_s;
    }
    const bool holds_port = serial_ && addition > 0;
    finish_[src] = finish_[dst] = now_;
    if (watches_) {
      busy_.add(src, sender.send_begin_s, now_);
      busy_.add(dst, sender.send_begin_s, holds_port ? now_ + addition : now_);
      busy_.add(dst, begin, begin + addition);
    }
    sender.sending = false;
    go_on(src, sender.send);
    if (holds_port) {
      timers_.push(now_ + addition, dst * 2 + kPort);
    } else {
      received(dst);
    }
    try_start(src);
  }

  // The receive port is free again.
  void received(std::uint32_t rank) {
    Rank& state = ranks_[rank];
    state.receiving = false;
    finish_[rank] = now_;
    if (state.ready_s > now_) {
      wait_until_ready(rank);
    } else {
      write_stream(state.reception.stream);
    }
    go_on(rank, state.reception);
    try_start_to(rank);
    try_start(rank);
  }

  void wait_until_ready(std::uint32_t rank) {
    Rank& state = ranks_[rank];
    std::uint32_t place = free_;
    if (place == kNone) {
      place = static_cast<std::uint32_t>(arrivals_.size());
      arrivals_.emplace_back();
    } else {
      free_ = arrivals_[place].next;
    }
    arrivals_[place] = {
        .rank = rank, .position = state.reception.position, .stream = state.reception.stream};
    (state.first == kNone ? state.first : arrivals_[state.last].next) = place;
    state.last = place;
    ++open_;
    timers_.push(state.ready_s, 2 * static_cast<std::uint32_t>(ranks_.size()) + place);
  }

  // Links with different delays bring data out of program order. It then counts as received when
  // all before it is ready, too; a stream comes over one link and in order.
  void became_ready(std::uint32_t place) {
    Arrival& arrival = arrivals_[place];
    const std::uint32_t rank = arrival.rank;
    Rank& state = ranks_[rank];
    arrival.ready = true;
    finish_[rank] = now_;
    --open_;
    write_stream(arrival.stream);
    while (state.first != kNone && arrivals_[state.first].ready) {
      const std::uint32_t next = arrivals_[state.first].next;
      arrivals_[state.first].next = free_;
      free_ = state.first;
      state.first = next;
    }
    try_start(rank);
  }

  // A block of a stream is ready: sends that need it compare its number with this count.
  void write_stream(std::size_t stream) {
    if (stream != NextReception::kNoStream) {
      ++written_[stream];
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
  std::vector<double> enter_, gamma_, finish_;
  std::vector<Rank> ranks_;
  std::vector<Index> written_; // blocks of a stream that are ready
  std::vector<Arrival> arrivals_;
  std::uint32_t free_ = kNone; // first free place among them
  engine::EventQueue<double> timers_;
  BusyTime busy_;
  std::uint64_t open_ = 0; // cursors that are not at the end
  double now_ = 0;
  Evaluation result_;
};

} // namespace stepsim::coll
