#pragma once
// The event-driven evaluation of a schedule. Every port has two cursors in program order, over its
// sends and over its receptions; most schedules have one port per rank, of the rank's number. A
// transfer starts when it is at the head of both, both ports are free and its data is there; the
// network model says when it ends. Additions behind a port run one after the other; a third cursor,
// over receptions whose data is not ready yet, follows them. Memory O(ports), and one counter per
// stream.
//
//   run()                           from entries to the end on a network of its own
//   begin, enter, completed, ...    step by step, by who shares the network with others and only
//                                   passes on what is submitted; transfers are named by their
//                                   sending port
#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
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
        gamma_(reduction_costs(collective)), finish_(enter_), entered_(collective.ranks, false),
        ports_(schedule.ports()), written_(walk_.streams(), 0),
        busy_(with_transfer_times ? collective.ranks : 0) {
    adds_later_ = !serial_ &&
                  std::any_of(gamma_.begin(), gamma_.end(), [](double gamma) { return gamma > 0; });
  }

  // Throws SimulationError if the schedule cannot go on.
  Evaluation run() requires net::NetworkModel<Network> {
    begin();
    for (std::uint32_t rank = 0; rank < enter_.size(); ++rank) {
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
      for (const std::uint32_t port : done) {
        completed(now, port);
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
    for (std::uint32_t port = 0; port < ports_.size(); ++port) {
      Port& state = ports_[port];
      open_ += adds_later_ ? 3 : 2;
      go_on(port, state.send);
      go_on(port, state.reception);
      state.unready = state.reception;
      open_ -= adds_later_ && state.unready.position == kEndOfSchedule ? 1 : 0;
    }
  }
  void enter(double now, std::uint32_t rank) {
    now_ = now;
    enter(rank);
  }
  // The transfer from this port, at its destination.
  void completed(double now, std::uint32_t port) {
    now_ = now;
    ++result_.events;
    transferred(port);
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
  // What the port sends now or next.
  [[nodiscard]] const NextSend& sending(std::uint32_t port) const { return ports_[port].send; }
  [[nodiscard]] const Network& network() const { return network_; }

private:
  static constexpr std::uint32_t kEntry = 0;    // timer ids: 2 rank + kind
  static constexpr std::uint32_t kAddition = 1; // 2 port + kind

  struct Port {
    NextSend send;           // next, or the one under way
    NextReception reception; // next, or the one under way
    NextReception unready;   // next whose data is not ready; kept only if additions run later
    bool sending = false;    // the port is busy
    bool receiving = false;
    double send_begin_s = 0;
    double addition_begin_s = 0;
  };

  [[nodiscard]] std::uint32_t lanes() const {
    return static_cast<std::uint32_t>(walk_.schedule().lanes.size());
  }
  [[nodiscard]] std::uint32_t port(std::uint32_t lane, std::uint32_t rank) const {
    return walk_.schedule().port(lane, rank);
  }

  // Up to where everything that the rank receives in program order has arrived and has been added.
  [[nodiscard]] Position unready(std::uint32_t rank) const {
    Position first = kEndOfSchedule;
    for (std::uint32_t lane = 0; lane < lanes(); ++lane) {
      const Port& state = ports_[port(lane, rank)];
      first = std::min(first, adds_later_ ? state.unready.position : state.reception.position);
    }
    return first;
  }

  // Whether everything that the send passes on is there. Positions are compared, not counted: what
  // the rank has not received yet stands later in program order than the send, or the send has to
  // wait.
  [[nodiscard]] bool data_is_there(const NextSend& send) const {
    switch (send.needs) {
    case Needs::entry:
      return true;
    case Needs::all:
      return unready(send.src) >= send.position;
    case Needs::own:
      return unready(send.src) >= position_of(send.phase, 0);
    case Needs::block:
      return written_[send.stream] > send.block && unready(send.src) >= position_of(send.phase, 0);
    }
    return false;
  }

  // On to the next send or reception of the port; `open_` counts the cursors that are not at their
  // end.
  template <class Next> void go_on(std::uint32_t port, Next& cursor) {
    walk_.advance(port, cursor);
    open_ -= cursor.position == kEndOfSchedule ? 1 : 0;
  }

  // Starts the next send of the port if both ports are free, both ranks have entered, the receiver
  // expects this very transfer next, and the data is there. Whoever frees a port or brings data
  // calls it again, so that no transfer is forgotten.
  void try_start(std::uint32_t from) {
    Port& sender = ports_[from];
    const NextSend& send = sender.send;
    if (sender.sending || send.position == kEndOfSchedule || !entered_[send.src] ||
        !entered_[send.dst]) {
      return;
    }
    Port& receiver = ports_[walk_.port(send, send.dst)];
    if (receiver.receiving || receiver.reception.position != send.position ||
        !data_is_there(send)) {
      return;
    }
    sender.sending = receiver.receiving = true;
    sender.send_begin_s = now_;
    const LinkCost& cost = links_.cost(send.src, send.dst);
    net::Transfer transfer{.id = from,
                           .latency_s = send.follow_up ? cost.block_latency_s : cost.latency_s,
                           .per_byte_s = cost.per_byte_s,
                           .bytes = send.bytes,
                           .src = send.src,
                           .dst = send.dst};
    if constexpr (std::same_as<Links, TwoLevelLinks>) {
      if (links_.shared(send.src, send.dst)) {
        transfer.send_port = links_.send_port(send.src);
        transfer.receive_port = links_.receive_port(send.dst);
      }
    }
    network_.submit(now_, transfer);
    ++result_.messages;
  }

  // Whoever sends to the port next may start now.
  void try_start_to(std::uint32_t to) {
    const NextReception& next = ports_[to].reception;
    if (next.position != kEndOfSchedule) {
      try_start(walk_.port(next, next.src));
    }
  }

  // The rank has got data, which any of its ports may pass on.
  void try_start_all(std::uint32_t rank) {
    for (std::uint32_t lane = 0; lane < lanes(); ++lane) {
      try_start(port(lane, rank));
    }
  }

  // Before a rank enters it can neither send nor receive.
  void enter(std::uint32_t rank) {
    entered_[rank] = true;
    for (std::uint32_t lane = 0; lane < lanes(); ++lane) {
      try_start_to(port(lane, rank));
    }
    try_start_all(rank);
  }

  void transferred(std::uint32_t from) {
    Port& sender = ports_[from];
    const auto [src, dst] = std::pair(sender.send.src, sender.send.dst);
    const std::uint32_t to = walk_.port(sender.send, dst);
    const bool reduce = sender.send.reduce;
    const double addition = reduce ? sender.send.bytes * gamma_[dst] : 0;
    finish_[src] = finish_[dst] = now_;
    if (watches_) {
      busy_.add(src, sender.send_begin_s, now_);
      busy_.add(dst, sender.send_begin_s, now_);
    }
    sender.sending = false;
    go_on(from, sender.send);
    if (serial_ && addition > 0) {
      start_addition(to, addition); // the receive port stays busy
    } else {
      received(to, reduce);
    }
    try_start(from);
  }

  // The receive port is free again.
  void received(std::uint32_t to, bool reduce) {
    Port& state = ports_[to];
    const std::uint32_t rank = state.reception.dst;
    state.receiving = false;
    const bool engine_idle = state.unready.position == state.reception.position;
    if (!adds_later_ || !reduce) {
      write_stream(state.reception);
    }
    go_on(to, state.reception);
    if (adds_later_ && engine_idle) {
      add_what_arrived(to);
    }
    try_start_to(to);
    try_start_all(rank);
  }

  // Goes on to the next reception that still has to be added and starts on it if it has arrived.
  void add_what_arrived(std::uint32_t to) {
    Port& state = ports_[to];
    while (state.unready.position < state.reception.position) {
      const double bytes = walk_.added_bytes(state.unready);
      const double seconds = bytes * gamma_[state.unready.dst];
      if (seconds > 0) {
        start_addition(to, seconds);
        return;
      }
      if (bytes >= 0) {
        write_stream(state.unready);
      }
      go_on(to, state.unready);
    }
  }

  void start_addition(std::uint32_t to, double seconds) {
    ports_[to].addition_begin_s = now_;
    timers_.push(now_ + seconds, to * 2 + kAddition);
  }

  void added(std::uint32_t to) {
    Port& state = ports_[to];
    const std::uint32_t rank = serial_ ? state.reception.dst : state.unready.dst;
    finish_[rank] = now_;
    if (watches_) {
      busy_.add(rank, state.addition_begin_s, now_);
    }
    if (serial_) {
      received(to, true);
      return;
    }
    write_stream(state.unready);
    go_on(to, state.unready);
    add_what_arrived(to);
    try_start_all(rank);
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
    for (const Port& port : ports_) {
      const auto& [send, reception] = std::tie(port.send, port.reception);
      const bool sends = send.position != kEndOfSchedule;
      if ((sends || reception.position != kEndOfSchedule) && ++blocked <= kShown) {
        const std::uint32_t src = sends ? send.src : reception.src;
        const std::uint32_t dst = sends ? send.dst : reception.dst;
        text += (blocked > 1 ? "; " : "") + std::to_string(src) + " -> " + std::to_string(dst) +
                " " + walk_.place(sends ? Cursor(send) : Cursor(reception));
      }
    }
    if (blocked > 0) {
      throw SimulationError("the collective is blocked at " + std::to_string(blocked) +
                            (lanes() > 1 ? " ports: " : " ranks: ") + text +
                            (blocked > kShown ? "; ..." : ""));
    }
  }

  ScheduleWalk walk_;
  const Links& links_;
  Network network_;
  bool serial_;
  bool watches_;
  bool adds_later_ = false; // some data becomes ready after its reception
  std::vector<double> enter_, gamma_, finish_;
  std::vector<bool> entered_;  // by rank
  std::vector<Port> ports_;    // of all lanes
  std::vector<Index> written_; // blocks of a stream that are ready
  engine::EventQueue<double> timers_;
  BusyTime busy_;
  std::uint64_t open_ = 0; // cursors that are not at the end
  double now_ = 0;
  Evaluation result_;
};

} // namespace stepsim::coll
