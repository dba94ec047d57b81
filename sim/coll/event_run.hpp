#pragma once
// The event-driven evaluation of a schedule. Every rank has two cursors in program order, over its
// sends and over its receptions. A transfer starts when it is at the head of both, both ports are
// free and its data is there; the network model says when it ends. Additions of a rank run one
// after the other; a third cursor, over receptions whose data is ready, follows them.
// Memory O(ranks): operations are asked from the rules one at a time.
#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "coll/busy_time.hpp"
#include "coll/evaluate.hpp"
#include "coll/link_costs.hpp"
#include "coll/schedule.hpp"
#include "engine/event_queue.hpp"
#include "net/network_model.hpp"

namespace stepsim::coll {

template <class Links, net::NetworkModel Network> class EventRun {
public:
  EventRun(const Collective& collective, const Schedule& schedule, const Links& links,
           Network network, bool with_transfer_times)
      : schedule_(schedule), links_(links), network_(std::move(network)),
        serial_(collective.options.reduction_mode == ReductionMode::serial),
        watches_(with_transfer_times), enter_(entry_times(collective)),
        gamma_(reduction_costs(collective)), finish_(enter_), ranks_(collective.ranks),
        busy_(with_transfer_times ? collective.ranks : 0) {
    adds_later_ = !serial_ &&
                  std::any_of(gamma_.begin(), gamma_.end(), [](double gamma) { return gamma > 0; });
    std::size_t streams = 0;
    for (const Phase& phase : schedule.phases) {
      first_stream_.push_back(streams);
      std::visit(
          [&](const auto& rule) {
            if constexpr (StreamRule<std::decay_t<decltype(rule)>>) {
              streams += static_cast<std::size_t>(phase.layout.groups * rule.streams());
            }
          },
          phase.rule);
    }
    written_.assign(streams, 0);
  }

  Evaluation run() {
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
      next_outgoing(rank);
      next_incoming(rank, ranks_[rank].in);
      ranks_[rank].unready = ranks_[rank].in;
      ranks_[rank].sending = ranks_[rank].receiving = true;
      timers_.push(enter_[rank], rank * 2 + kEntry);
    }
    std::vector<std::uint32_t> done;
    for (;;) {
      const double timer = timers_.empty() ? net::kNever : timers_.next_time();
      now_ = std::min<double>(network_.next_time(), timer);
      if (now_ == net::kNever) {
        break;
      }
      done.clear();
      network_.advance(now_, done);
      for (const std::uint32_t src : done) {
        ++result_.events;
        transferred(src);
      }
      while (!timers_.empty() && timers_.next_time() <= now_) {
        const std::uint32_t id = timers_.pop().id();
        ++result_.events;
        if (id % 2 == kEntry) {
          enter(id / 2);
        } else {
          added(id / 2);
        }
      }
    }
    refuse_deadlock();
    result_.ranks.finish_s = finish_;
    result_.seconds = *std::max_element(finish_.begin(), finish_.end());
    if (watches_) {
      result_.ranks.transfer_s = busy_.lengths();
    }
    return std::move(result_);
  }

private:
  // Place in program order: phase << 40 | step.
  using Position = std::uint64_t;
  static constexpr Position kEnd = ~Position{0};
  static constexpr unsigned kStepBits = 40;
  static constexpr std::uint32_t kEntry = 0;
  static constexpr std::uint32_t kAddition = 1;
  static constexpr std::size_t kNoStream = ~std::size_t{0};

  struct Cursor {
    Position position = 0; // kEnd: no more
    std::uint32_t phase = 0;
    Index group = kNobody; // place of the rank in the phase; kNobody: look it up
    Index local = 0;
    Index step = -1;
  };
  struct Outgoing : Cursor {
    std::uint32_t dst{};
    Needs needs{};
    bool reduce{};
    double bytes{};
    double begin_s{}; // of the transfer under way
    std::size_t stream{};
    Index block{};
    bool follow_up{};
  };
  struct Incoming : Cursor {
    std::uint32_t src{};
    std::size_t stream = kNoStream;
  };
  struct Rank {
    Outgoing out;
    Incoming in;      // next reception, or the one under way
    Incoming unready; // next reception whose data is not ready; not used unless adds_later_
    bool sending = false;
    bool receiving = false;
    double addition_begin_s = 0;
  };

  // Moves on to the next step in which `found(rule, phase)` holds; it fills in the rest.
  template <class Found> void move_on(std::uint32_t rank, Cursor& cursor, Found&& found) {
    for (; cursor.phase < schedule_.phases.size(); ++cursor.phase) {
      const Phase& phase = schedule_.phases[cursor.phase];
      if (cursor.group == kNobody) {
        const Layout::Place place = phase.layout.place(rank);
        cursor.group = place.group;
        cursor.local = place.local;
        cursor.step = -1;
      }
      const bool there = cursor.group != kNobody && std::visit(
                                                        [&](const auto& rule) {
                                                          const Index steps = rule.steps();
                                                          while (++cursor.step < steps) {
                                                            if (found(rule, phase)) {
                                                              return true;
                                                            }
                                                          }
                                                          return false;
                                                        },
                                                        phase.rule);
      if (there) {
        cursor.position = Position{cursor.phase} << kStepBits | static_cast<Position>(cursor.step);
        return;
      }
      cursor.group = kNobody;
    }
    cursor.position = kEnd;
  }

  void next_outgoing(std::uint32_t rank) {
    Outgoing& out = ranks_[rank].out;
    move_on(rank, out, [&](const auto& rule, const Phase& phase) {
      const Send send = rule.send(out.step, out.local);
      if (send.peer == kNobody) {
        return false;
      }
      out.dst = static_cast<std::uint32_t>(phase.layout.rank(out.group, send.peer));
      out.needs = send.needs;
      out.reduce = send.reduce;
      out.follow_up = send.follow_up;
      out.bytes = phase.partition.bytes(send.first, send.count);
      if constexpr (StreamRule<std::decay_t<decltype(rule)>>) {
        out.stream =
            first_stream_[out.phase] +
            static_cast<std::size_t>(out.group * rule.streams() + std::max<Index>(send.stream, 0));
        out.block = send.block;
      }
      return true;
    });
  }

  void next_incoming(std::uint32_t rank, Incoming& in) {
    move_on(rank, in, [&](const auto& rule, const Phase& phase) {
      const Receive receive = rule.receive(in.step, in.local);
      if (receive.peer == kNobody) {
        return false;
      }
      in.src = static_cast<std::uint32_t>(phase.layout.rank(in.group, receive.peer));
      if constexpr (StreamRule<std::decay_t<decltype(rule)>>) {
        in.stream = receive.stream == kNobody
                        ? kNoStream
                        : first_stream_[in.phase] +
                              static_cast<std::size_t>(in.group * rule.streams() + receive.stream);
      } else {
        in.stream = kNoStream;
      }
      return true;
    });
  }

  // The addition that a reception of `rank` asks for; negative if it is none.
  [[nodiscard]] double addition_s(std::uint32_t rank, const Incoming& in) const {
    const Phase& phase = schedule_.phases[in.phase];
    const Send send = std::visit(
        [&](const auto& rule) { return rule.send(in.step, rule.receive(in.step, in.local).peer); },
        phase.rule);
    return send.reduce ? phase.partition.bytes(send.first, send.count) * gamma_[rank] : -1;
  }

  [[nodiscard]] bool data_is_there(std::uint32_t rank) const {
    const Rank& state = ranks_[rank];
    const Position unready = adds_later_ ? state.unready.position : state.in.position;
    switch (state.out.needs) {
    case Needs::all:
      return unready >= state.out.position;
    case Needs::own:
      return unready >= Position{state.out.phase} << kStepBits;
    case Needs::block:
      return unready >= Position{state.out.phase} << kStepBits &&
             written_[state.out.stream] > state.out.block;
    }
    return false;
  }

  void try_start(std::uint32_t src) {
    Rank& state = ranks_[src];
    Outgoing& out = state.out;
    if (state.sending || out.position == kEnd) {
      return;
    }
    Rank& receiver = ranks_[out.dst];
    if (receiver.receiving || receiver.in.position != out.position || !data_is_there(src)) {
      return;
    }
    state.sending = receiver.receiving = true;
    out.begin_s = now_;
    const LinkCost& cost = links_.cost(src, out.dst);
    net::Transfer transfer{.id = src,
                           .latency_s = out.follow_up ? cost.block_latency_s : cost.latency_s,
                           .per_byte_s = cost.per_byte_s,
                           .bytes = out.bytes};
    if constexpr (std::same_as<Links, TwoLevelLinks>) {
      if (links_.shared(src, out.dst)) {
        transfer.send_port = 2 * links_.nic(src);
        transfer.receive_port = 2 * links_.nic(out.dst) + 1;
      }
    }
    network_.submit(now_, transfer);
    ++result_.messages;
  }

  void enter(std::uint32_t rank) {
    ranks_[rank].sending = ranks_[rank].receiving = false;
    if (ranks_[rank].in.position != kEnd) {
      try_start(ranks_[rank].in.src);
    }
    try_start(rank);
  }

  void transferred(std::uint32_t src) {
    const std::uint32_t dst = ranks_[src].out.dst;
    const double bytes = ranks_[src].out.bytes;
    const bool reduce = ranks_[src].out.reduce;
    finish_[src] = now_;
    finish_[dst] = now_;
    if (watches_) {
      busy_.add(src, ranks_[src].out.begin_s, now_);
      busy_.add(dst, ranks_[src].out.begin_s, now_);
    }
    ranks_[src].sending = false;
    next_outgoing(src);
    const double addition = reduce ? bytes * gamma_[dst] : 0;
    if (serial_ && addition > 0) {
      start_addition(dst, addition); // the receive port stays busy
    } else {
      received(dst, reduce);
    }
    try_start(src);
  }

  void received(std::uint32_t rank, bool reduce) {
    Rank& state = ranks_[rank];
    state.receiving = false;
    if (!adds_later_) {
      write_stream(state.in);
      next_incoming(rank, state.in);
    } else {
      if (!reduce) {
        write_stream(state.in);
      }
      const bool idle = state.unready.position == state.in.position;
      next_incoming(rank, state.in);
      if (idle) {
        add_what_arrived(rank);
      }
    }
    if (state.in.position != kEnd) {
      try_start(state.in.src);
    }
    try_start(rank);
  }

  // Goes on to the first reception that still has to be added and starts on it if it is complete.
  void add_what_arrived(std::uint32_t rank) {
    Rank& state = ranks_[rank];
    while (state.unready.position < state.in.position) {
      const double addition = addition_s(rank, state.unready);
      if (addition > 0) {
        start_addition(rank, addition);
        return;
      }
      if (addition == 0) {
        write_stream(state.unready);
      }
      next_incoming(rank, state.unready);
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
    next_incoming(rank, state.unready);
    add_what_arrived(rank);
    try_start(rank);
  }

  void write_stream(const Incoming& in) {
    if (in.stream != kNoStream) {
      ++written_[in.stream];
    }
  }

  void refuse_deadlock() const {
    constexpr std::size_t kShown = 5;
    std::size_t blocked = 0;
    std::string text;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      const Outgoing& out = ranks_[rank].out;
      if (out.position == kEnd && ranks_[rank].in.position == kEnd) {
        continue;
      }
      if (++blocked <= kShown) {
        text += blocked > 1 ? "; " : "";
        if (out.position != kEnd) {
          const Phase& phase = schedule_.phases[out.phase];
          text += std::to_string(rank) + " -> " + std::to_string(out.dst) + " in step " +
                  std::to_string(phase.first_step + out.step) + " (" +
                  std::string(name(phase.rule)) + ")";
        } else {
          text += std::to_string(ranks_[rank].in.src) + " -> " + std::to_string(rank) +
                  " is never sent";
        }
      }
    }
    if (blocked > 0) {
      throw SimulationError("the collective is blocked at " + std::to_string(blocked) +
                            " ranks: " + text);
    }
  }

  const Schedule& schedule_;
  const Links& links_;
  Network network_;
  bool serial_;
  bool watches_;
  bool adds_later_ = false; // some data becomes ready after its reception
  std::vector<double> enter_, gamma_, finish_;
  std::vector<Rank> ranks_;
  std::vector<std::size_t> first_stream_; // by phase
  std::vector<Index> written_;            // blocks of a stream that are ready
  engine::EventQueue<double> timers_;
  BusyTime busy_;
  double now_ = 0;
  Evaluation result_;
};

} // namespace stepsim::coll
