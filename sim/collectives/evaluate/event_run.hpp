#pragma once
// The event-driven evaluation of a schedule. Every port has two cursors in program order, for its
// sends and its receptions; most schedules have one port per rank, with the rank's number. A
// transfer starts when both of its cursors have reached it, both ports are free and its data has
// arrived at the sender. The network model decides when its ports are free again; the data arrives
// a delay later. Additions at a port run one after the other, so the end of a transfer determines
// when its data is ready:
//     ready = max(added, end + delay) + bytes * gamma,   added = ready of the previous addition
// Memory: O(ports), one counter per stream, and the arrivals that are delayed or being added.
//
//   run()                           runs everything, on a network of its own
//   begin, enter, completed, ...    single steps, for a caller whose network also has other
//                                   traffic; that network only passes on submitted transfers,
//                                   which are named by their sending port

#include "collectives/evaluate/busy_time.hpp"
#include "collectives/evaluate/evaluation.hpp"
#include "collectives/evaluate/event_ports.hpp"
#include "collectives/evaluate/link_costs.hpp"
#include "links/network_model.hpp"

namespace stepsim::collectives {

// Times are seconds from time 0. With `with_transfer_times`, run() also fills
// RankTimes::transfer_s. With `Plain`, for schedules of one lane and one set of data in which
// nothing is added, delayed or watched, the end of a transfer is all that happens to it.
template <class Links, class Network, bool Plain = false> class EventRun {
public:
  EventRun(const Collective& collective, const Schedule& schedule, const Links& links,
           Network network, bool with_transfer_times)
      : walk_(schedule), links_(links), network_(std::move(network)),
        serial_(schedule.serial_additions ||
                collective.options.reduction_mode == ReductionMode::serial),
        watches_(with_transfer_times), enter_(entry_times(collective)),
        gamma_(reduction_costs(collective)), finish_(enter_), entered_(collective.ranks, 0),
        lanes_(static_cast<std::uint32_t>(schedule.lanes.size())),
        one_set_(lanes_ == 1 && schedule.data_sets == 1), ports_(schedule.ports()),
        written_(walk_.streams(), 0), data_(schedule),
        busy_(with_transfer_times ? collective.ranks : 0) {}

  // Puts the times of all sends into `sends`, which is empty; needs `with_transfer_times`.
  void list_sends(SendTimes& sends) {
    sends.resize(ports_.size());
    sends_ = &sends;
  }

  // Throws SimulationError if the schedule is blocked: some transfers never start.
  Evaluation run() requires links::NetworkModel<Network> {
    begin();
    for (std::uint32_t rank = 0; rank < enter_.size(); ++rank) {
      timers_.push(enter_[rank], rank * 2 + kEntry);
    }
    std::vector<std::uint32_t> done;
    for (;;) {
      const double now = std::min<double>(network_.next_time(), next_time());
      if (now == kNever) {
        break;
      }
      done.clear();
      network_.advance(now, done);
      for (const std::uint32_t port : done) {
        completed(now, port);
      }
      advance(now);
    }
    refuse_deadlock(ports_, walk_);
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
      open_ += 2;
      state.sending = state.receiving = Plain; // until the rank enters
      go_on(port, state.send);
      go_on(port, state.reception);
    }
  }
  void enter(double now, std::uint32_t rank) {
    now_ = now;
    enter(rank);
  }
  // Ends the transfer from this port, whose ports are free now; the delay of its link follows.
  void completed(double now, std::uint32_t port) {
    now_ = now;
    ++result_.events;
    transferred(port);
  }
  // The time of the next end of a delay or addition, in run() also of the next entry; kNever
  // if there is none.
  [[nodiscard]] double next_time() const { return timers_.next_or_never(); }
  void advance(double now) {
    now_ = now;
    timers_.drain(now, [&](const auto& timer) {
      const std::uint32_t id = timer.id();
      ++result_.events;
      if (id >= 2 * ports_.size()) {
        became_ready(id - 2 * static_cast<std::uint32_t>(ports_.size()));
      } else {
        id % 2 == kEntry ? enter(id / 2) : received(id / 2, kNone);
      }
    });
  }
  [[nodiscard]] bool finished() const { return open_ == 0; } // every rank has done everything
  // The send that the port performs now or next.
  [[nodiscard]] const NextSend& sending(std::uint32_t port) const { return ports_[port].send; }
  [[nodiscard]] const Network& network() const { return network_; }

private:
  // Timer ids: 2 rank + kEntry, 2 port + kPort, then 2 ports + index of an arrival.
  static constexpr std::uint32_t kEntry = 0;
  static constexpr std::uint32_t kPort = 1; // free after a serial addition
  static constexpr std::uint32_t kNone = Arrival::kNone;
  using Port = EventPort;

  [[nodiscard]] std::uint32_t port(std::uint32_t lane, std::uint32_t rank) const {
    return walk_.schedule().port(lane, rank);
  }
  [[nodiscard]] std::uint32_t port(const Cursor& cursor, std::uint32_t rank) const {
    return Plain ? rank : walk_.port(cursor, rank);
  }

  // Returns the position before which all receptions of these data by the rank have arrived and
  // been added.
  [[nodiscard]] Position unready(std::uint32_t rank, std::uint32_t data) const {
    if constexpr (Plain) {
      return ports_[rank].reception.position;
    }
    if (one_set_) {
      return unready(ports_[rank]);
    }
    Position first = kEndOfSchedule;
    for (std::uint32_t lane = 0; lane < lanes_; ++lane) {
      if (data_.of_lane(lane) != data) {
        continue;
      }
      first = std::min(first, unready(ports_[port(lane, rank)]));
    }
    return first;
  }
  [[nodiscard]] Position unready(const Port& state) const {
    return state.first == kNone ? state.reception.position : arrivals_[state.first].position;
  }

  // Whether all data that the send passes on has arrived. Where a lane carries one set of data no
  // receptions are counted: the send waits while one that comes before it in program order is still
  // open.
  [[nodiscard]] bool data_is_there(const NextSend& send) const {
    switch (send.needs) {
    case Needs::entry:
      return true;
    case Needs::all:
      return data_.counts() ? data_.all_is_there(send)
                            : unready(send.src, phase_of(send).data) >= send.position;
    case Needs::own:
      return own_is_there(send);
    case Needs::block:
      return written_[send.stream] > send.block && own_is_there(send);
    }
    return false;
  }
  [[nodiscard]] bool own_is_there(const NextSend& send) const {
    return unready(send.src, phase_of(send).data) >= position_of(send.phase, 0);
  }
  [[nodiscard]] const Phase& phase_of(const Cursor& cursor) const {
    return walk_.schedule().phases[cursor.phase];
  }

  // Moves to the next send or reception of the port.
  template <class Next> void go_on(std::uint32_t port, Next& cursor) {
    walk_.advance(port, cursor);
    open_ -= cursor.position == kEndOfSchedule ? 1 : 0;
  }

  // Starts the next send of the port if both ports are free, both ranks have entered, the receiver
  // expects this transfer next, and the data has arrived. It is called whenever a port becomes free
  // or data arrives, so that no transfer is forgotten.
  void try_start(std::uint32_t from) {
    Port& sender = ports_[from];
    const NextSend& send = sender.send;
    if (sender.sending || send.position == kEndOfSchedule ||
        (!Plain && (entered_[send.src] == 0 || entered_[send.dst] == 0))) {
      return;
    }
    Port& receiver = ports_[port(send, send.dst)];
    if (receiver.receiving || receiver.reception.position != send.position ||
        !data_is_there(send)) {
      return;
    }
    sender.sending = receiver.receiving = true;
    sender.send_begin_s = now_;
    const LinkCost& cost = links_.cost(send.src, send.dst);
    sender.delay_s = cost.delay_s;
    links::Transfer transfer{.id = from,
                             .latency_s = send.follow_up ? cost.block_latency_s : cost.latency_s,
                             .per_byte_s = cost.per_byte_s,
                             .bytes = send.bytes,
                             .src = send.src,
                             .dst = send.dst};
    if constexpr (std::same_as<Links, TwoLevelLinks>) {
      if (const Phase& phase = phase_of(send); phase.own_ports) {
        transfer.per_byte_s *=
            links_.static_share(send.src, send.dst, phase.nic_share, phase.inner_share);
      } else if (links_.shared(send.src, send.dst)) {
        transfer.send_port = links_.send_port(send.src);
        transfer.receive_port = links_.receive_port(send.dst);
      }
    }
    network_.submit(now_, transfer);
    ++result_.messages;
  }

  // Tries to start the next transfer to the port. Returns the port that would send it, or kNone.
  std::uint32_t try_start_to(std::uint32_t to) {
    const NextReception& next = ports_[to].reception;
    if (next.position == kEndOfSchedule) {
      return kNone;
    }
    const std::uint32_t from = port(next, next.src);
    try_start(from);
    return from;
  }

  // Tries to start the next send of every port of the rank, after the rank has received data.
  void try_start_all(std::uint32_t rank) {
    if constexpr (Plain) {
      return try_start(rank);
    }
    for (std::uint32_t lane = 0; lane < lanes_; ++lane) {
      try_start(port(lane, rank));
    }
  }

  // Before a rank enters it can neither send nor receive; its own ports, if Plain, are busy.
  void enter(std::uint32_t rank) {
    entered_[rank] = 1;
    if constexpr (Plain) {
      ports_[rank].sending = ports_[rank].receiving = false;
    }
    for (std::uint32_t lane = 0; lane < lanes_; ++lane) {
      try_start_to(port(lane, rank));
    }
    try_start_all(rank);
  }

  void transferred(std::uint32_t from) {
    Port& sender = ports_[from];
    if constexpr (Plain) {
      const std::uint32_t to = sender.send.dst;
      finish_[from] = now_;
      sender.sending = false;
      go_on(from, sender.send);
      return received(to, from);
    }
    const auto [src, dst] = std::pair(sender.send.src, sender.send.dst);
    const std::uint32_t to = port(sender.send, dst);
    Port& receiver = ports_[to];
    const bool reduce = sender.send.reduce;
    const double addition =
        reduce ? sender.send.bytes * gamma_[dst] * phase_of(sender.send).inner_share : 0;
    const double arrive = now_ + sender.delay_s;
    const double begin = reduce ? std::max(receiver.added_s, arrive) : arrive;
    receiver.ready_s = begin + addition;
    if (reduce) {
      receiver.added_s = receiver.ready_s;
    }
    const bool holds_port = serial_ && addition > 0;
    finish_[src] = finish_[dst] = now_;
    if (watches_) {
      if (sends_ != nullptr) {
        (*sends_)[from].emplace_back(sender.send_begin_s, now_);
      }
      busy_.add(src, sender.send_begin_s, now_);
      busy_.add(dst, sender.send_begin_s, holds_port ? now_ + addition : now_);
      busy_.add(dst, begin, begin + addition);
    }
    sender.sending = false;
    go_on(from, sender.send);
    if (holds_port) {
      timers_.push(now_ + addition, to * 2 + kPort);
      try_start(from);
    } else {
      received(to, from);
    }
  }

  // Handles a receive port that is free again, and the port `from` that is free since the same
  // moment; kNone: none is.
  void received(std::uint32_t to, std::uint32_t from) {
    Port& state = ports_[to];
    const std::uint32_t rank = state.reception.dst;
    state.receiving = false;
    finish_[rank] = now_;
    if (!Plain && state.ready_s > now_) {
      wait_until_ready(to);
    } else {
      is_ready(state.reception.phase, rank, state.reception.stream);
    }
    go_on(to, state.reception);
    const std::uint32_t tried = try_start_to(to);
    try_start_all(rank);
    if (from != kNone && from != tried) { // what started since does not help a send tried before
      try_start(from);
    }
  }

  void wait_until_ready(std::uint32_t to) {
    Port& state = ports_[to];
    std::uint32_t place = free_;
    if (place == kNone) {
      place = static_cast<std::uint32_t>(arrivals_.size());
      arrivals_.emplace_back();
    } else {
      free_ = arrivals_[place].next;
    }
    arrivals_[place] = {.port = to,
                        .rank = state.reception.dst,
                        .position = state.reception.position,
                        .phase = state.reception.phase,
                        .stream = state.reception.stream};
    (state.first == kNone ? state.first : arrivals_[state.last].next) = place;
    state.last = place;
    ++open_;
    timers_.push(state.ready_s, 2 * static_cast<std::uint32_t>(ports_.size()) + place);
  }

  // Handles the end of a delay or addition. Links with different delays deliver data out of program
  // order: data counts as received when all data before it is ready, too. A stream uses one link
  // and arrives in order.
  void became_ready(std::uint32_t place) {
    Arrival& arrival = arrivals_[place];
    const std::uint32_t rank = arrival.rank;
    Port& state = ports_[arrival.port];
    arrival.ready = true;
    finish_[rank] = now_;
    --open_;
    is_ready(arrival.phase, rank, arrival.stream);
    while (state.first != kNone && arrivals_[state.first].ready) {
      const std::uint32_t next = arrivals_[state.first].next;
      arrivals_[state.first].next = free_;
      free_ = state.first;
      state.first = next;
    }
    try_start_all(rank);
  }

  // Allows that the data a rank received in the phase is passed on. Sends that need a block of a
  // stream compare its number with the count in `written_`.
  void is_ready(std::uint32_t phase, std::uint32_t rank, std::size_t stream) {
    data_.arrived(phase, rank);
    if (stream != NextReception::kNoStream) {
      ++written_[stream];
    }
  }

  ScheduleWalk walk_;
  const Links& links_;
  Network network_;
  bool serial_;
  bool watches_;
  std::vector<double> enter_, gamma_, finish_;
  std::vector<std::uint8_t> entered_; // [rank] 1 once it has entered
  std::uint32_t lanes_;
  bool one_set_;               // one lane and one set of data, as in most schedules
  std::vector<Port> ports_;    // ports of all lanes
  std::vector<Index> written_; // [stream] blocks that are ready
  DataCounts data_;
  std::vector<Arrival> arrivals_;
  std::uint32_t free_ = kNone; // first free entry of `arrivals_`
  events::EventQueue<double> timers_;
  BusyTime busy_;
  SendTimes* sends_ = nullptr; // null: not listed
  std::uint64_t open_ = 0;     // cursors that are not at their end, and arrivals that are not ready
  double now_ = 0;
  Evaluation result_;
};

} // namespace stepsim::collectives
