#pragma once
// A program whose starts and ends are events, followed from instant to instant (TRN 2.2, 3.1).
// Exchanges take the seconds of their operation, or are carried by somebody else, as by a network
// that is simulated:
//
//     advance(now)  ->  entered(): ranks that are at a carried exchange
//     exchange_ended(now, ..)  <-  its last transfer has arrived
//
// A carried exchange begins when its last rank has entered; its seconds are not looked at. On a
// stream `priority` one of them is under way at a time, on a stream `at_once` as many as it has
// slots, and their ranks enter when it is their turn. Seconds since the start of the run.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "engine/event_queue.hpp"
#include "program/completions.hpp"
#include "program/exchange_parts.hpp"
#include "program/issue_order.hpp"
#include "program/lanes.hpp"
#include "program/message_channels.hpp"
#include "program/operation_times.hpp"
#include "program/overlap_rates.hpp"
#include "program/training_program.hpp"

namespace stepsim::program {

class ProgramEvents {
public:
  // A rank at a carried exchange.
  struct Entered {
    std::uint32_t operation{}, rank{};
    std::int64_t iteration{}; // the number of iterations: the tail
  };

  // `program` and `factors` outlive this. `carried`: by operation; empty: none. Throws
  // SimulationError if operations of single streams x ranks exceed 2^24.
  ProgramEvents(const Program& program, std::int64_t iterations, const Factors& factors,
                Record record, std::vector<bool> carried = {});
  ProgramEvents(const ProgramEvents&) = delete;
  ProgramEvents& operator=(const ProgramEvents&) = delete;

  // When something happens by itself; infinity if nothing does.
  [[nodiscard]] double next_time() const { return queue_.empty() ? kNoEvent : queue_.next_time(); }
  // Follows everything until `now`.
  void advance(double now);
  // Those that have entered since this was emptied; the owner empties it.
  [[nodiscard]] std::vector<Entered>& entered() { return entered_; }
  // The carried exchange among the ranks of `rank` has ended, at a time that is not before the last
  // advance(), which has to follow.
  void exchange_ended(double now, std::uint32_t operation, std::uint32_t rank,
                      std::int64_t iteration);
  // The ranks that take part in an exchange with `rank`; the reference stays valid.
  [[nodiscard]] const std::vector<std::uint32_t>& part_of(std::uint32_t operation,
                                                          std::uint32_t rank) const {
    return parts_.of(program_.operations[operation], rank);
  }
  [[nodiscard]] bool finished() const { return finished_ == lanes_.cursors(); }
  [[nodiscard]] std::uint64_t events() const { return events_; }
  [[nodiscard]] const OperationTimes& times() const { return times_; }
  [[nodiscard]] OperationTimes take_times() { return std::move(times_); }

private:
  // A stream that is not fifo.
  struct Channel {
    std::uint32_t stream{};
    std::variant<PriorityChannel, AtOnceChannel> discipline;
    std::size_t next_place = 0; // at_once: the next instance to start
    std::int64_t next_iteration = 0;
    std::int32_t carried = 0; // exchanges under way that somebody else carries
  };

  [[nodiscard]] bool is_carried(std::uint32_t operation) const {
    return !carried_.empty() && carried_[operation];
  }
  [[nodiscard]] bool is_fifo(std::uint32_t cursor) const {
    return cursor < lanes_.fifo_lanes() * ranks_;
  }
  [[nodiscard]] bool next_is_later() const { return queue_.empty() || queue_.next_time() > now_; }

  void set_timer(std::size_t timer, double time);
  void settle();
  void look_again();
  void look(std::uint32_t cursor);
  void start_alone(std::uint32_t cursor, const Operation& operation, std::uint32_t o,
                   std::uint32_t rank, std::int64_t iteration);
  void enter(std::uint32_t cursor, std::uint32_t o, std::uint32_t rank, std::int64_t iteration);
  void enter_all(std::uint32_t o, std::int64_t iteration);
  void start_exchange(const Operation& operation, std::uint32_t o,
                      const std::vector<std::uint32_t>& ranks, std::int64_t iteration);
  void fire(std::uint32_t timer);
  void end_fifo_exchange(std::uint32_t timer, const Operation& operation, std::uint32_t o,
                         std::int64_t iteration);
  void end_for(std::uint32_t o, const std::vector<std::uint32_t>& ranks, std::int64_t iteration);
  void end_everywhere(const Instance& instance);
  void next(std::uint32_t cursor);
  void advance_channel(std::size_t c);
  void dispatch(std::size_t c);
  void dispatch_by_priority(Channel& channel, PriorityChannel& priority);
  void dispatch_at_once(Channel& channel, AtOnceChannel& at_once);
  void begin_exchange(std::uint32_t o, const std::vector<std::uint32_t>& ranks,
                      std::int64_t iteration);
  void end_exchange(const std::vector<std::uint32_t>& ranks);
  void end_on(std::uint32_t o, std::uint32_t rank, std::int64_t iteration);
  void note_start(std::uint32_t o, std::uint32_t rank, std::int64_t iteration);
  void note_end(std::uint32_t o, std::uint32_t rank, std::int64_t iteration);

  const Program& program_;
  const Factors& factors_;
  const std::int64_t iterations_;
  const std::size_t ranks_;
  const bool recorded_;
  const std::vector<bool> carried_; // per operation, or empty
  const StreamLists lists_;
  Lanes lanes_;
  Completions completions_;
  ExchangeParts parts_;
  std::optional<OverlapRates> rates_; // only with interference
  engine::EventQueue<double> queue_;
  std::vector<double> due_; // per timer: cursors, then channels
  std::vector<Channel> channels_;
  std::vector<std::size_t> channel_of_; // per stream
  std::vector<std::int64_t> arrived_;   // instances that a channel knows, per operation
  std::vector<bool> in_data_;           // per cursor: its timer is the end of the exchange
  std::vector<std::uint32_t> awake_;
  std::vector<Entered> entered_;
  std::vector<Instance> ended_;
  std::vector<OverlapRates::Due> due_runs_;
  std::size_t finished_ = 0; // cursors
  double now_ = 0;
  std::uint32_t exchanges_of_first_ = 0; // under way on rank 0
  double busy_since_ = 0;
  std::uint64_t events_ = 0;
  OperationTimes times_;
};

} // namespace stepsim::program
