// Cursors stand on the next instance of every lane and rank. A cursor whose waits are satisfied
// starts its operation, or offers its rank to an exchange, which starts with the last rank; one
// that must wait is watched by the operation that it waits for. Timers are one per cursor (its
// running operation; for an exchange that of the first rank of the part) and one per channel; a
// timer that was set anew makes older events of it void.
#include "programs/program_events.hpp"

#include "base/error.hpp"

namespace stepsim::programs {

ProgramEvents::ProgramEvents(const Program& program, std::int64_t iterations,
                             const Factors& factors, Record record, CarriedExchanges carried)
    : program_(program), factors_(factors), iterations_(iterations), ranks_(program.ranks),
      recorded_(record != Record::marker), carried_(std::move(carried)),
      lists_(stream_lists(program)), lanes_(program, iterations),
      completions_(program, lanes_.cursors()), parts_(program), in_data_(lanes_.cursors(), false),
      times_(sized_times(program, iterations, program.ranks, record)) {
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
  if (timers >= events::EventQueue<double>::kMaxIds) {
    throw SimulationError("the program has " + std::to_string(timers) +
                          " streams on all ranks; the evaluator events takes at most 16777215");
  }
  due_.assign(timers, kNever);
  arrived_.assign(program.operations.size(), 0);
  for (std::uint32_t cursor = 0; cursor < lanes_.cursors(); ++cursor) {
    awake_.push_back(cursor);
  }
}

// Waiting operations start once all that ends at an instant has ended.
void ProgramEvents::advance(double now) {
  for (;;) {
    look_again();
    settle();
    if (queue_.next_or_never() > now) {
      break;
    }
    now_ = std::max(now_, queue_.next_time());
    queue_.drain(now_, [&](const auto& event) {
      if (due_[event.id()] == event.time) {
        due_[event.id()] = kNever;
        ++events_;
        fire(event.id());
      }
    });
  }
}

void ProgramEvents::exchange_ended(double now, std::uint32_t operation, std::uint32_t rank,
                                   std::int64_t iteration) {
  now_ = std::max(now_, now);
  ++events_;
  const Operation& of = program_.operations[operation];
  if (program_.streams[of.stream].discipline == Discipline::fifo) {
    end_for(operation, parts_.of(of, rank), iteration);
  } else {
    Channel& channel = channels_[channel_of_[of.stream]];
    if (auto* priority = std::get_if<PriorityChannel>(&channel.discipline)) {
      priority->give_back(of.bytes);
    } else {
      --channel.carried;
    }
    end_everywhere({.operation = operation, .iteration = iteration});
  }
}

void ProgramEvents::exchange_ended_on(double now, std::uint32_t operation, std::uint32_t rank,
                                      std::int64_t iteration) {
  now_ = std::max(now_, now);
  ++events_;
  end_for(operation, {rank}, iteration);
}

void ProgramEvents::set_timer(std::size_t timer, double time) {
  if (due_[timer] != time) {
    due_[timer] = time;
    if (time < kNever) {
      queue_.push(time, static_cast<std::uint32_t>(timer));
    }
  }
}

// Messages are dispatched and rates change once nothing more happens at this instant.
void ProgramEvents::settle() {
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
}

// Follows all cursors whose waits may be satisfied by now.
void ProgramEvents::look_again() {
  for (std::size_t i = 0; i < awake_.size(); ++i) { // grows on the way
    look(awake_[i]);
  }
  awake_.clear();
}

void ProgramEvents::look(std::uint32_t cursor) {
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

void ProgramEvents::start_alone(std::uint32_t cursor, const Operation& operation, std::uint32_t o,
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
void ProgramEvents::enter(std::uint32_t cursor, std::uint32_t o, std::uint32_t rank,
                          std::int64_t iteration) {
  const Operation& operation = program_.operations[o];
  const bool fifo = is_fifo(cursor);
  if (fifo && is_carried(o, iteration)) {
    entered_.push_back({.operation = o, .rank = rank, .iteration = iteration});
  }
  if (!parts_.enter(o, rank)) {
    return;
  }
  if (fifo) {
    start_exchange(operation, o, parts_.of(operation, rank), iteration);
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

// A carried exchange whose turn it is.
void ProgramEvents::enter_all(std::uint32_t o, std::int64_t iteration) {
  for (const std::uint32_t rank : parts_.all()) {
    entered_.push_back({.operation = o, .rank = rank, .iteration = iteration});
  }
  begin_exchange(o, parts_.all(), iteration);
}

void ProgramEvents::start_exchange(const Operation& operation, std::uint32_t o,
                                   const std::vector<std::uint32_t>& ranks,
                                   std::int64_t iteration) {
  begin_exchange(o, ranks, iteration);
  if (is_carried(o, iteration)) {
    return;
  }
  const double factor = exchange_factor(program_, factors_, operation, iteration, iterations_);
  const std::uint32_t first = lanes_.cursor_of(o, ranks.front());
  in_data_[first] = !(rates_ && program_.interference.exchange != 1);
  set_timer(first,
            now_ + factor * (in_data_[first] ? operation.duration_s() : operation.startup.value));
}

void ProgramEvents::fire(std::uint32_t timer) {
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
void ProgramEvents::end_fifo_exchange(std::uint32_t timer, const Operation& operation,
                                      std::uint32_t o, std::int64_t iteration) {
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
  end_for(o, ranks, iteration);
}

void ProgramEvents::end_for(std::uint32_t o, const std::vector<std::uint32_t>& ranks,
                            std::int64_t iteration) {
  end_exchange(ranks);
  for (const std::uint32_t rank : ranks) {
    end_on(o, rank, iteration);
    next(lanes_.cursor_of(o, rank));
  }
}

void ProgramEvents::end_everywhere(const Instance& instance) {
  end_exchange(parts_.all());
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    note_end(instance.operation, rank, instance.iteration);
  }
  completions_.finish_everywhere(instance.operation, instance.iteration, awake_);
}

void ProgramEvents::next(std::uint32_t cursor) {
  lanes_.advance(cursor);
  awake_.push_back(cursor);
}

void ProgramEvents::advance_channel(std::size_t c) {
  ended_.clear();
  std::visit([&](auto& discipline) { discipline.advance(now_, ended_); }, channels_[c].discipline);
  for (const Instance& instance : ended_) {
    end_everywhere(instance);
  }
}

void ProgramEvents::dispatch(std::size_t c) {
  Channel& channel = channels_[c];
  if (auto* priority = std::get_if<PriorityChannel>(&channel.discipline)) {
    dispatch_by_priority(*priority);
    set_timer(lanes_.cursors() + c, priority->next_time());
    return;
  }
  auto& at_once = std::get<AtOnceChannel>(channel.discipline);
  dispatch_at_once(channel, at_once);
  set_timer(lanes_.cursors() + c, at_once.next_time());
}

void ProgramEvents::dispatch_by_priority(PriorityChannel& priority) {
  while (priority.can_dispatch()) {
    const Instance instance = priority.next();
    if (is_carried(instance.operation, instance.iteration)) {
      priority.take(program_.operations[instance.operation].bytes);
      enter_all(instance.operation, instance.iteration);
      continue;
    }
    const Operation& operation = program_.operations[instance.operation];
    const double factor =
        exchange_factor(program_, factors_, operation, instance.iteration, iterations_);
    priority.dispatch(now_, operation.bytes, factor * operation.startup.value,
                      factor * operation.data.value);
    begin_exchange(instance.operation, parts_.all(), instance.iteration);
  }
}

void ProgramEvents::dispatch_at_once(Channel& channel, AtOnceChannel& at_once) {
  const std::span<const std::uint32_t> list = lists_.of(channel.stream);
  const std::int32_t slots = program_.streams[channel.stream].concurrency;
  while (at_once.has_slot() && channel.carried < slots && !list.empty() &&
         arrived_[list[channel.next_place]] > channel.next_iteration) {
    const std::uint32_t o = list[channel.next_place];
    const Operation& operation = program_.operations[o];
    if (is_carried(o, channel.next_iteration)) {
      ++channel.carried;
      enter_all(o, channel.next_iteration);
    } else {
      const double factor =
          exchange_factor(program_, factors_, operation, channel.next_iteration, iterations_);
      at_once.start({.operation = o, .iteration = channel.next_iteration}, now_,
                    factor * operation.startup.value, factor * operation.data.value);
      begin_exchange(o, parts_.all(), channel.next_iteration);
    }
    if (++channel.next_place == list.size()) {
      channel.next_place = 0;
      ++channel.next_iteration;
    }
  }
}

void ProgramEvents::begin_exchange(std::uint32_t o, const std::vector<std::uint32_t>& ranks,
                                   std::int64_t iteration) {
  for (const std::uint32_t rank : ranks) {
    note_start(o, rank, iteration);
    if (rates_) {
      rates_->start_exchange(rank);
    }
  }
}

void ProgramEvents::end_exchange(const std::vector<std::uint32_t>& ranks) {
  for (std::size_t i = 0; rates_ && i < ranks.size(); ++i) {
    rates_->end_exchange(ranks[i]);
  }
}

void ProgramEvents::end_on(std::uint32_t o, std::uint32_t rank, std::int64_t iteration) {
  note_end(o, rank, iteration);
  completions_.finish(o, rank, iteration, awake_);
}

void ProgramEvents::note_start(std::uint32_t o, std::uint32_t rank, std::int64_t iteration) {
  if (recorded_ && iteration < iterations_) {
    times_.start[times_.at(iteration, o, rank)] = now_;
  }
}

void ProgramEvents::note_end(std::uint32_t o, std::uint32_t rank, std::int64_t iteration) {
  times_.makespan_s = now_;
  if (o == program_.marker) {
    times_.marker_end[static_cast<std::size_t>(iteration) * ranks_ + rank] = now_;
  }
  if (recorded_ && iteration < iterations_) {
    times_.end[times_.at(iteration, o, rank)] = now_;
  }
}

} // namespace stepsim::programs
