#pragma once
// Runs a program whose starts and ends are events, one instant after the other (TRN 2.2, 3.1). An
// exchange takes the seconds of its operation, or is carried: the owner of the object, for example
// a simulated network, decides when it ends:
//
//     advance(now)  ->  entered(): ranks that have entered a carried exchange
//     exchange_ended(now, ..)  <-  the owner, when the last transfer has arrived
//
// A carried exchange begins when its last rank has entered; its seconds are ignored. A stream of
// discipline `priority` has carried exchanges in flight as its credit allows, a stream `at_once` as
// many as it has slots, and ranks enter an exchange when its turn comes. Times are seconds since
// the start of the run.
#include <variant>

#include "events/event_queue.hpp"
#include "programs/completions.hpp"
#include "programs/lanes.hpp"
#include "programs/message_channels.hpp"
#include "programs/operation_layout.hpp"
#include "programs/overlap_rates.hpp"

namespace stepsim::programs {

// Which exchanges are carried: those of operation o if of_operation[o], in the iterations before
// number `iterations`; an empty list means that none is.
struct CarriedExchanges {
  std::vector<bool> of_operation{};
  std::int64_t iterations = std::numeric_limits<std::int64_t>::max();
};

class ProgramEvents {
public:
  // A rank that has entered a carried exchange.
  struct Entered {
    std::uint32_t operation{}, rank{};
    std::int64_t iteration{}; // equal to the number of iterations in the tail
  };

  // `program` and `factors` must outlive the object. Throws SimulationError if (fifo streams +
  // exchanges on other streams) x ranks + other streams is 2^24 or more.
  ProgramEvents(const Program& program, std::int64_t iterations, const Factors& factors,
                Record record, CarriedExchanges carried = {});
  ProgramEvents(const ProgramEvents&) = delete;
  ProgramEvents& operator=(const ProgramEvents&) = delete;

  // The time of the next event; infinity if there is none before an exchange_ended().
  [[nodiscard]] double next_time() const { return queue_.next_or_never(); }
  // Processes all events up to and including `now`.
  void advance(double now);
  // The ranks that have entered since the owner last emptied the list.
  [[nodiscard]] std::vector<Entered>& entered() { return entered_; }
  // Ends the carried exchange `operation` for the part of `rank`. `now` must not be before the last
  // advance(); the caller must call advance() afterwards.
  void exchange_ended(double now, std::uint32_t operation, std::uint32_t rank,
                      std::int64_t iteration);
  // The same on a fifo stream, for `rank` alone.
  void exchange_ended_on(double now, std::uint32_t operation, std::uint32_t rank,
                         std::int64_t iteration);
  // The ranks that take part in an exchange together with `rank`. The reference remains valid.
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
    std::int32_t carried = 0; // at once: carried exchanges in flight
  };

  [[nodiscard]] bool is_carried(std::uint32_t operation, std::int64_t iteration) const {
    return !carried_.of_operation.empty() && carried_.of_operation[operation] &&
           iteration < carried_.iterations;
  }
  [[nodiscard]] bool is_fifo(std::uint32_t cursor) const {
    return cursor < lanes_.fifo_lanes() * ranks_;
  }
  [[nodiscard]] bool next_is_later() const { return queue_.next_or_never() > now_; }

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
  void dispatch_by_priority(PriorityChannel& priority);
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
  const CarriedExchanges carried_;
  const StreamLists lists_;
  Lanes lanes_;
  Completions completions_;
  ExchangeParts parts_;
  std::optional<OverlapRates> rates_; // only with interference
  events::EventQueue<double> queue_;
  std::vector<double> due_; // [timer]; timers are the cursors, then the channels
  std::vector<Channel> channels_;
  std::vector<std::size_t> channel_of_; // [stream]
  std::vector<std::int64_t> arrived_;   // [operation]: instances that its channel has received
  std::vector<bool> in_data_;           // [cursor]: whether its timer is the end of the exchange
  std::vector<std::uint32_t> awake_;
  std::vector<Entered> entered_;
  std::vector<Instance> ended_;
  std::vector<OverlapRates::Due> due_runs_;
  std::size_t finished_ = 0; // cursors that have finished
  double now_ = 0;
  std::uint64_t events_ = 0;
  OperationTimes times_;
};

} // namespace stepsim::programs
