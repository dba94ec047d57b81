// Cursors stand on the next instance of every lane and rank. A cursor whose waits are satisfied
// starts its operation, or offers its rank to an exchange, which starts with the last rank; one
// that must wait is watched by the operation that it waits for. Timers are one per cursor (its
// running operation; for an exchange that of the first rank of the part) and one per channel; a
// timer that was set anew makes older events of it void.
#include "program/event_pass.hpp"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "engine/event_queue.hpp"
#include "program/completions.hpp"
#include "program/exchange_parts.hpp"
#include "program/issue_order.hpp"
#include "program/lanes.hpp"
#include "program/message_channels.hpp"
#include "program/operation_layout.hpp"
#include "program/overlap_rates.hpp"

namespace stepsim::program {
namespace {

// A stream that is not fifo.
struct Channel {
  std::uint32_t stream;
  std::variant<PriorityChannel, AtOnceChannel> discipline;
  std::size_t next_place = 0; // at_once: the next instance to start
  std::int64_t next_iteration = 0;
};

class EventPass {
public:
  EventPass(const Program& program, std::int64_t iterations, const Factors& factors, Record record)
      : program_(program), factors_(factors), iterations_(iterations), ranks_(program.ranks),
        recorded_(record == Record::all), lists_(stream_lists(program)),
        lanes_(program, iterations), completions_(program, lanes_.cursors()), parts_(program),
        in_data_(lanes_.cursors(), false), exchanges_of_first_(0) {
    times_.iterations = iterations;
    times_.ranks = program.ranks;
    times_.operations = program.iteration_size();
    times_.marker_end.resize(static_cast<std::size_t>(iterations) * ranks_);
    if (recorded_) {
      times_.start.resize(times_.at(iterations, 0, 0));
      times_.end.resize(times_.start.size());
    }
    if (program.interference.any()) {
      rates_.emplace(program, lanes_.fifo_lanes());
    }
    channel_of_.assign(program.streams.size(), 0);
    for (std::uint32_t s = 0; s < program.streams.size(); ++s) {
      const Stream& stream = program.streams[s];
      channel_of_[s] = channels_.size();
      if (stream.discipline == Discipline::priority) {
        channels_.push_back({.stream = s, .discipline = PriorityChannel(stream)});
      } else if (stream.discipline == Discipline::at_once) {
        channels_.push_back({.stream = s, .discipline = AtOnceChannel(stream)});
      }
    }
    const std::size_t timers = lanes_.cursors() + channels_.size();
    if (timers >= engine::EventQueue<double>::kMaxIds) {
      throw SimulationError("the program has " + std::to_string(timers) +
                            " streams on all ranks; the evaluator events takes at most 16777215");
    }
    due_.assign(timers, kNoEvent);
    arrived_.assign(program.operations.size(), 0);
  }

  OperationTimes run() {
    for (std::uint32_t cursor = 0; cursor < lanes_.cursors(); ++cursor) {
      awake_.push_back(cursor);
    }
    look_again();
    while (settle()) {
      now_ = queue_.next_time();
      while (!queue_.empty() && queue_.next_time() == now_) {
        const std::uint32_t timer = queue_.pop().id();
        if (due_[timer] == now_) {
          due_[timer] = kNoEvent;
          fire(timer);
        }
      }
      look_again();
    }
    assert(finished_ == lanes_.cursors() && "a valid program comes to its end");
    return std::move(times_);
  }

private:
  [[nodiscard]] bool is_fifo(std::uint32_t cursor) const {
    return cursor < lanes_.fifo_lanes() * ranks_;
  }

  void set_timer(std::size_t timer, double time) {
    if (due_[timer] != time) {
      due_[timer] = time;
      if (time < kNoEvent) {
        queue_.push(time, static_cast<std::uint32_t>(timer));
      }
    }
  }

  // Messages are dispatched and rates change once nothing more happens at this instant. False at
  // the end of the run.
  bool settle() {
    if (next_is_later()) {
      for (std::size_t c = 0; c < channels_.size(); ++c) {
        dispatch(c);
      }
    }
    if (rates_ && next_is_later()) {
      due_runs_.clear();
      rates_->settle(now_, due_runs_);
      for (const OverlapRates::Due& run : due_runs_) {
        set_timer(run.run, run.time);
      }
    }
    return !queue_.empty();
  }

  [[nodiscard]] bool next_is_later() const { return queue_.empty() || queue_.next_time() > now_; }

  // Follows all cursors whose waits may be satisfied by now.
  void look_again() {
    for (std::size_t i = 0; i < awake_.size(); ++i) { // grows on the way
      look(awake_[i]);
    }
    awake_.clear();
  }

  void look(std::uint32_t cursor) {
    Lanes::Cursor& at = lanes_.at(cursor);
    if (at.finished) {
      ++finished_;
      return;
    }
    const std::uint32_t o = lanes_.operation_of(cursor);
    const std::uint32_t rank = lanes_.rank_of(cursor);
    const std::span<const Wait> waits = program_.waits_of(o);
    for (; at.wait < waits.size(); ++at.wait) {
      if (!completions_.satisfied(waits[at.wait], rank, at.iteration)) {
        completions_.watch(cursor, waits[at.wait], rank);
        return;
      }
    }
    const Operation& operation = program_.operations[o];
    if (operation.type == OperationType::exchange) {
      enter(cursor, o, rank, at.iteration);
    } else {
      start_alone(cursor, operation, o, rank, at.iteration);
    }
  }

  void start_alone(std::uint32_t cursor, const Operation& operation, std::uint32_t o,
                   std::uint32_t rank, std::int64_t iteration) {
    double seconds = operation.seconds.value;
    if (operation.type == OperationType::compute) {
      const std::span<const double> factors =
          compute_factors(program_, factors_, operation, iteration, iterations_);
      seconds = factors.empty() ? seconds : factors[rank] * seconds;
    }
    note_start(o, rank, iteration);
    if (rates_ && operation.type == OperationType::compute) {
      const auto kind = static_cast<std::size_t>(operation.kind);
      rates_->start_compute(cursor, seconds, program_.interference.compute[kind]);
    } else {
      set_timer(cursor, now_ + seconds);
    }
  }

  // The rank is there; the last one of the part starts the exchange or hands it to its channel.
  void enter(std::uint32_t cursor, std::uint32_t o, std::uint32_t rank, std::int64_t iteration) {
    const Operation& operation = program_.operations[o];
    if (!parts_.enter(o, rank)) {
      return;
    }
    const std::vector<std::uint32_t>& ranks = parts_.of(operation, rank);
    if (is_fifo(cursor)) {
      start_exchange(operation, o, ranks, iteration);
      return;
    }
    ++arrived_[o];
    Channel& channel = channels_[channel_of_[operation.stream]];
    if (auto* priority = std::get_if<PriorityChannel>(&channel.discipline)) {
      priority->arrive({.operation = o, .iteration = iteration}, operation);
    }
    for (const std::uint32_t each : parts_.all()) {
      next(lanes_.cursor_of(o, each));
    }
  }

  void start_exchange(const Operation& operation, std::uint32_t o,
                      const std::vector<std::uint32_t>& ranks, std::int64_t iteration) {
    const double factor = exchange_factor(program_, factors_, operation, iteration, iterations_);
    const std::uint32_t first = lanes_.cursor_of(o, ranks.front());
    begin_exchange(o, ranks, iteration);
    in_data_[first] = !(rates_ && program_.interference.exchange != 1);
    set_timer(first,
              now_ + factor * (in_data_[first] ? operation.duration_s() : operation.startup.value));
  }

  void fire(std::uint32_t timer) {
    if (timer >= lanes_.cursors()) {
      advance_channel(timer - lanes_.cursors());
      return;
    }
    const std::uint32_t o = lanes_.operation_of(timer);
    const Operation& operation = program_.operations[o];
    const std::int64_t iteration = lanes_.at(timer).iteration;
    if (operation.type == OperationType::exchange) {
      end_fifo_exchange(timer, operation, o, iteration);
      return;
    }
    if (rates_ && operation.type == OperationType::compute) {
      rates_->end_compute(timer);
    }
    end_on(o, lanes_.rank_of(timer), iteration);
    next(timer);
  }

  // Of the start-up, after which the data phase begins, or of the exchange.
  void end_fifo_exchange(std::uint32_t timer, const Operation& operation, std::uint32_t o,
                         std::int64_t iteration) {
    const std::vector<std::uint32_t>& ranks = parts_.of(operation, lanes_.rank_of(timer));
    const bool slowed = rates_ && program_.interference.exchange != 1;
    if (!in_data_[timer]) {
      in_data_[timer] = true;
      const double factor = exchange_factor(program_, factors_, operation, iteration, iterations_);
      rates_->start_data(timer, factor * operation.data.value, ranks);
      return;
    }
    if (slowed) {
      rates_->end_data(timer);
    }
    end_exchange(ranks);
    for (const std::uint32_t rank : ranks) {
      end_on(o, rank, iteration);
      next(lanes_.cursor_of(o, rank));
    }
  }

  void next(std::uint32_t cursor) {
    lanes_.advance(cursor);
    awake_.push_back(cursor);
  }

  void advance_channel(std::size_t c) {
    ended_.clear();
    std::visit([&](auto& discipline) { discipline.advance(now_, ended_); },
               channels_[c].discipline);
    for (const Instance& instance : ended_) {
      end_exchange(parts_.all());
      for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
        note_end(instance.operation, rank, instance.iteration);
      }
      completions_.finish_everywhere(instance.operation, instance.iteration, awake_);
    }
  }

  void dispatch(std::size_t c) {
    Channel& channel = channels_[c];
    if (auto* priority = std::get_if<PriorityChannel>(&channel.discipline)) {
      while (priority->can_dispatch()) {
        const Instance instance = priority->next();
        const Operation& operation = program_.operations[instance.operation];
        const double factor =
            exchange_factor(program_, factors_, operation, instance.iteration, iterations_);
        priority->dispatch(now_, operation.bytes, factor * operation.startup.value,
                           factor * operation.data.value);
        begin_exchange(instance.operation, parts_.all(), instance.iteration);
      }
      set_timer(lanes_.cursors() + c, priority->next_time());
      return;
    }
    auto& at_once = std::get<AtOnceChannel>(channel.discipline);
    const std::span<const std::uint32_t> list = lists_.of(channel.stream);
    while (at_once.has_slot() && !list.empty() &&
           arrived_[list[channel.next_place]] > channel.next_iteration) {
      const std::uint32_t o = list[channel.next_place];
      const Operation& operation = program_.operations[o];
      const double factor =
          exchange_factor(program_, factors_, operation, channel.next_iteration, iterations_);
      at_once.start({.operation = o, .iteration = channel.next_iteration}, now_,
                    factor * operation.startup.value, factor * operation.data.value);
      begin_exchange(o, parts_.all(), channel.next_iteration);
      if (++channel.next_place == list.size()) {
        channel.next_place = 0;
        ++channel.next_iteration;
      }
    }
    set_timer(lanes_.cursors() + c, at_once.next_time());
  }

  void begin_exchange(std::uint32_t o, const std::vector<std::uint32_t>& ranks,
                      std::int64_t iteration) {
    for (const std::uint32_t rank : ranks) {
      note_start(o, rank, iteration);
      if (rates_) {
        rates_->start_exchange(rank);
      }
      if (rank == 0 && exchanges_of_first_++ == 0) {
        busy_since_ = now_;
      }
    }
  }

  void end_exchange(const std::vector<std::uint32_t>& ranks) {
    for (const std::uint32_t rank : ranks) {
      if (rates_) {
        rates_->end_exchange(rank);
      }
      if (rank == 0 && --exchanges_of_first_ == 0) {
        times_.communication_s += now_ - busy_since_;
      }
    }
  }

  void end_on(std::uint32_t o, std::uint32_t rank, std::int64_t iteration) {
    note_end(o, rank, iteration);
    completions_.finish(o, rank, iteration, awake_);
  }

  void note_start(std::uint32_t o, std::uint32_t rank, std::int64_t iteration) {
    if (recorded_ && iteration < iterations_) {
      times_.start[times_.at(iteration, o, rank)] = now_;
    }
  }

  void note_end(std::uint32_t o, std::uint32_t rank, std::int64_t iteration) {
    times_.makespan_s = now_;
    if (o == program_.marker) {
      times_.marker_end[static_cast<std::size_t>(iteration) * ranks_ + rank] = now_;
    }
    if (recorded_ && iteration < iterations_) {
      times_.end[times_.at(iteration, o, rank)] = now_;
    }
  }

  const Program& program_;
  const Factors& factors_;
  const std::int64_t iterations_;
  const std::size_t ranks_;
  const bool recorded_;
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
  std::vector<Instance> ended_;
  std::vector<OverlapRates::Due> due_runs_;
  std::size_t finished_ = 0; // cursors
  double now_ = 0;
  std::uint32_t exchanges_of_first_; // under way on rank 0
  double busy_since_ = 0;
  OperationTimes times_;
};

} // namespace

bool event_pass_applies(const Program& program) {
  return std::ranges::none_of(program.operations, [](const Operation& operation) {
    return operation.type == OperationType::exchange && operation.entry == Entry::each;
  });
}

OperationTimes event_pass(const Program& program, std::int64_t iterations, const Factors& factors,
                          Record record) {
  assert(event_pass_applies(program) && "exchanges start together");
  return EventPass(program, iterations, factors, record).run();
}

} // namespace stepsim::program
