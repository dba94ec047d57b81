// Each stream is idle or runs one operation. The soonest one ends, and idle streams start what they
// can. Rates change when nothing more is due at an instant, as in ProgramEvents::settle(), which is
// also when an operation that takes no time gets its end: both count for the last bits.
#include "programs/event_pass.hpp"

#include "base/collected.hpp"

#include <cassert>

namespace stepsim::programs {
namespace {

constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max(); // iterations are needed

class FifoPass {
public:
  FifoPass(const Program& program, const Interference& interference, std::int64_t iterations,
           Record record, std::int64_t needed)
      : program_(program), iterations_(iterations), needed_(needed),
        recorded_(record != Record::marker), streams_(program.streams.size()),
        done_(program.operations.size(), 0), times_(sized_times(program, iterations, 1, record)) {
    list_steps(interference);
    behind_ = needed > 0
                  ? std::ranges::count_if(
                        streams_, [](const Stream& stream) { return stream.first != stream.tail; })
                  : 0;
  }

  OperationTimes run() {
    for (Stream& stream : streams_) {
      enter(stream);
    }
    while (behind_ > 0) {
      double due = next_due();
      if (due > now_ && (unsettled_ || slowed_ != (exchanges_ > 0))) {
        settle();
        due = next_due();
      }
      if (due == kNever) {
        break;
      }
      now_ = std::max(now_, due);
      for (Stream& stream : streams_) {
        if (stream.due <= now_) {
          end(stream);
        }
      }
    }
    return std::move(times_);
  }

private:
  struct Step {
    double seconds{};
    double slowdown{}; // beside an exchange; 0: does not compute
    const Wait *wait = nullptr, *last_wait = nullptr;
    std::uint32_t operation{};
    OperationType type{};
  };
  struct Stream {
    double due = kNever; // of the operation in progress; never: none, or not settled yet
    double left{}, since{}, slowdown{}; // as OverlapRates::Run
    const Step* step = nullptr;         // the next one, or in progress
    const Wait* wait = nullptr;         // that is not satisfied yet; null: of a step in progress
    bool computes = false;
    std::int64_t iteration = 0; // equal to the number of iterations in the tail
    std::size_t row = 0;        // of this iteration in start and end
    const Step *first = nullptr, *tail = nullptr, *last = nullptr; // of an iteration, then the tail
  };

  // Step by step of each stream, those of the tail behind the others.
  void list_steps(const Interference& interference) {
    const StreamLists once = stream_lists(program_);
    const StreamLists tail = tail_lists(program_);
    steps_.reserve(program_.operations.size());
    const auto add = [&](std::span<const std::uint32_t> list) {
      for (const std::uint32_t o : list) {
        const Operation& operation = program_.operations[o];
        const bool computes = operation.type == OperationType::compute;
        const auto kind = static_cast<std::size_t>(operation.kind);
        steps_.push_back({.seconds = operation.duration_s(),
                          .slowdown = computes ? interference.compute[kind] : 0,
                          .wait = program_.waits.data() + program_.first_wait[o],
                          .last_wait = program_.waits.data() + program_.first_wait[o + 1],
                          .operation = o,
                          .type = operation.type});
      }
      return steps_.data() + steps_.size();
    };
    for (std::size_t s = 0; s < streams_.size(); ++s) {
      streams_[s].first = streams_[s].step = steps_.data() + steps_.size();
      streams_[s].tail = add(once.of(s));
      streams_[s].last = add(tail.of(s));
    }
  }

  [[nodiscard]] double next_due() const {
    return base::least<double>(streams_, kNever, &Stream::due);
  }

  // Behind the end of an iteration the next one begins, behind the last one the tail.
  void enter(Stream& stream) {
    if (stream.step == stream.tail && stream.iteration < iterations_) {
      stream.iteration = stream.first == stream.tail ? iterations_ : stream.iteration + 1;
      stream.step = stream.iteration == iterations_ ? stream.tail : stream.first;
      stream.row += times_.operations;
      behind_ -= stream.iteration == needed_ && stream.first != stream.tail ? 1 : 0;
    }
    if (stream.step != stream.last) {
      start(stream, stream.step->wait);
    }
  }

  [[nodiscard]] bool is_satisfied(const Wait& wait, std::int64_t iteration) const {
    const std::int64_t asked = iteration - wait.distance;
    return asked < done_[wait.operation] || asked < 0 || iteration >= wait.until;
  }

  // The next step, once all waits from `wait` on are satisfied.
  void start(Stream& stream, const Wait* wait) {
    const Step& step = *stream.step;
    while (wait != step.last_wait && is_satisfied(*wait, stream.iteration)) {
      ++wait;
    }
    if (wait != step.last_wait) {
      stream.wait = wait;
      return;
    }
    stream.wait = nullptr;
    if (recorded_ && stream.iteration < iterations_) {
      times_.start[stream.row + step.operation] = now_;
    }
    if (step.type == OperationType::compute) {
      stream.computes = true;
      stream.left = step.seconds;
      stream.since = now_;
      stream.slowdown = slowed_ ? step.slowdown : 1;
      stream.due = now_ + stream.left * stream.slowdown;
      if (stream.due == now_) {
        stream.due = kNever;
        unsettled_ = true;
      }
      return;
    }
    exchanges_ += step.type == OperationType::exchange ? 1 : 0;
    stream.due = now_ + step.seconds;
  }

  void end(Stream& stream) {
    const Step& step = *stream.step;
    exchanges_ -= step.type == OperationType::exchange ? 1 : 0;
    stream.due = kNever;
    stream.computes = false;
    done_[step.operation] = stream.iteration + 1; // the tail skips all but the last
    times_.makespan_s = now_;
    if (stream.iteration < iterations_) {
      if (step.operation == program_.marker) {
        times_.marker_end[static_cast<std::size_t>(stream.iteration)] = now_;
      }
      if (recorded_) {
        times_.end[stream.row + step.operation] = now_;
      }
    }
    ++stream.step;
    enter(stream);
    for (Stream& other : streams_) {
      if (other.wait != nullptr && other.wait->operation == step.operation) {
        start(other, other.wait);
      }
    }
  }

  // Applies the rates from now on.
  void settle() {
    unsettled_ = false;
    slowed_ = exchanges_ > 0;
    for (Stream& stream : streams_) {
      const double slowdown = slowed_ && stream.computes ? stream.step->slowdown : 1;
      if (stream.computes && (stream.slowdown != slowdown || stream.due == kNever)) {
        stream.left = std::max(0.0, stream.left - (now_ - stream.since) / stream.slowdown);
        stream.since = now_;
        stream.slowdown = slowdown;
        stream.due = now_ + stream.left * slowdown;
      }
    }
  }

  const Program& program_;
  const std::int64_t iterations_;
  const std::int64_t needed_;
  const bool recorded_;
  std::vector<Stream> streams_;
  std::vector<Step> steps_;
  std::vector<std::int64_t> done_; // [operation]: iterations that ended
  std::ptrdiff_t behind_ = 0;      // streams that are in a needed iteration
  std::size_t exchanges_ = 0;      // in flight
  bool slowed_ = false;            // whether the rates are those beside an exchange
  bool unsettled_ = false;         // an operation that takes no time has no end yet
  double now_ = 0;
  OperationTimes times_;
};

// One iteration in the order of OperationLayout::single_pass. `note` takes every operation with its
// start and its end.
double single_pass(const Program& program, const Interference& interference,
                   const OperationLayout& layout, auto note) {
  IdlePass pass;
  std::vector<double> delayed; // [operation]: when the delay ends
  double latest = 0;
  for (const OperationLayout::PassStep& step : layout.single_pass) {
    const Operation& operation = program.operations[step.operation];
    const double seconds = operation.duration_s();
    const double now = pass.now_s();
    if (operation.type == OperationType::exchange) {
      const double start = pass.exchange(
          step.delay == kAllRanks ? now : std::max(now, delayed[step.delay]), seconds);
      note(step.operation, start, pass.channel_s());
    } else if (operation.type == OperationType::delay) {
      delayed.resize(layout.single_pass.size());
      latest = std::max(latest, delayed[step.operation] = now + seconds);
      note(step.operation, now, now + seconds);
    } else {
      pass.compute(seconds, interference.compute[static_cast<std::size_t>(operation.kind)]);
      note(step.operation, now, pass.now_s());
    }
  }
  return std::max(latest, pass.end_s());
}

// Whether the tail computes behind all operations of the last iteration, as the next one would
// begin.
bool has_plain_tail(const Program& program) {
  if (program.tail_operations == 0) {
    return true;
  }
  const std::uint32_t begin = program.iteration_size();
  const auto computes = [&](const Operation& each) {
    return each.type == OperationType::compute && each.stream == program.operations[0].stream;
  };
  const std::span<const Wait> tail = program.waits_of(begin);
  auto from = tail.begin(); // both lists are in the order of operations
  const auto is_awaited = [&](const Wait& wait) {
    from = std::find_if(from, tail.end(), [&](const Wait& other) {
      return other.operation == wait.operation && other.distance == wait.distance;
    });
    return from != tail.end();
  };
  return std::all_of(program.operations.begin() + begin, program.operations.end(), computes) &&
         std::ranges::all_of(program.waits_of(0), is_awaited);
}

// The first iteration, which begins on idle streams, and the tail behind it.
OperationTimes first_iteration(const Program& program, const OperationLayout& layout) {
  if (layout.single_pass.empty() || !has_plain_tail(program)) {
    return FifoPass(program, program.interference, 1, Record::all, kAll).run();
  }
  OperationTimes times = sized_times(program, 1, 1, Record::all);
  times.makespan_s =
      single_pass(program, program.interference, layout, [&](auto o, double start, double end) {
        times.start[o] = start;
        times.end[o] = end;
      });
  for (std::uint32_t o = times.operations; o < program.operations.size(); ++o) {
    times.makespan_s += program.operations[o].duration_s();
  }
  times.marker_end.front() = times.end[program.marker];
  return times;
}

// The times of `iterations` which are all like the recorded first one.
OperationTimes repeated(OperationTimes times, std::int64_t iterations) {
  constexpr std::int64_t kRecorded = 4; // whoever follows what binds goes back some iterations
  const double period = *std::ranges::max_element(times.end);
  times.iterations = iterations;
  times.period_s = period;
  times.repeats_from = std::min(iterations, kRecorded);
  const auto repeat = [&](std::vector<double>& row) {
    const std::size_t size = row.size();
    row.resize(size * static_cast<std::size_t>(times.repeats_from));
    for (std::int64_t t = 1; t < times.repeats_from; ++t) {
      const double later = static_cast<double>(t) * period;
      double* const to = row.data() + static_cast<std::size_t>(t) * size;
      for (std::size_t o = 0; o < size; ++o) {
        to[o] = row[o] + later;
      }
    }
  };
  repeat(times.marker_end);
  repeat(times.start);
  repeat(times.end);
  times.makespan_s += static_cast<double>(iterations - 1) * period;
  return times;
}

} // namespace

void IdlePass::begin_busy(double start) {
  if (last_.until > now_) {
    earlier_.push_back(last_);
  }
  last_ = {start, channel_};
}

void IdlePass::compute_in_gaps(double seconds, double slowdown) {
  earlier_.push_back(last_);
  auto next = std::ranges::find_if(earlier_, [&](const Busy& each) { return each.until > now_; });
  double left = seconds;
  double rate = next->from <= now_ ? slowdown : 1;
  double end = now_ + left * rate;
  while (next != earlier_.end()) {
    const bool slowed = next->from <= now_;
    const double change = slowed ? next->until : next->from;
    if (end <= change) {
      break;
    }
    left = std::max(0.0, left - (change - now_) / rate);
    now_ = change;
    next += slowed ? 1 : 0;
    rate = slowed ? 1 : slowdown;
    end = now_ + left * rate;
  }
  now_ = end;
  earlier_.erase(earlier_.begin(), next);
  if (!earlier_.empty()) {
    earlier_.pop_back();
  }
}

std::optional<double> period_from_idle(const Program& program, const OperationLayout& layout,
                                       const Interference& interference) {
  if (program.interference.exchange != 1 || !layout.begins_idle) {
    return std::nullopt;
  }
  return layout.single_pass.empty()
             ? FifoPass(program, interference, 1, Record::marker, 1).run().makespan_s
             : single_pass(program, interference, layout, [](auto...) {});
}

std::optional<OperationTimes> times_from_idle(const Program& program, const OperationLayout& layout,
                                              std::int64_t iterations) {
  if (program.interference.exchange != 1 || !layout.begins_idle) {
    return std::nullopt;
  }
  return repeated(first_iteration(program, layout), iterations);
}

bool fifo_pass_applies(const Program& program) {
  return program.only_fifo() && program.interference.exchange == 1 && program.enters_together();
}

OperationTimes fifo_pass(const Program& program, std::int64_t iterations, Record record,
                         std::int64_t needed) {
  assert(fifo_pass_applies(program) && "fifo streams, exchanges at full speed");
  return FifoPass(program, program.interference, iterations, record, needed).run();
}

} // namespace stepsim::programs
