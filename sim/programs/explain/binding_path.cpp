// The walk stands on an instance of an operation and takes the time from its start to its end as a
// segment of the path; the instance whose end is that start comes next. Starts are maxima of ends,
// so equal times are equal bit by bit. On streams that are not fifo a list of all ends finds the
// message that made room.
#include "programs/explain/binding_path.hpp"

#include <cassert>

#include "programs/completions.hpp"

namespace stepsim::programs {
namespace {

struct At {
  std::uint32_t operation{};
  std::int64_t iteration{};
  std::uint32_t rank{};
};

// What led to the start of an instance. `at_start`: both start together, as messages that are taken
// in order do; else the earlier one ends then.
struct Cause {
  At at;
  bool at_start = false;
};

struct Ended {
  double end;
  std::uint32_t operation;
  std::int64_t iteration;
};

class Walk {
public:
  Walk(const Program& program, const OperationTimes& times, const Factors& factors,
       std::int64_t discard)
      : program_(program), times_(times), factors_(factors), parts_(program),
        on_streams_(waits_on_streams(program)),
        steps_(program.operations.size(), PathStep{.visits = 0}) {
    const StreamLists lists = stream_lists(program);
    ends_.resize(program.streams.size());
    for (std::uint32_t s = 0; s < program.streams.size(); ++s) {
      if (program.streams[s].discipline != Discipline::fifo) {
        note_ends(s, lists.of(s));
      }
    }
    path_.period_s = mean_period(times, discard).value;
    start_ = last_to_end(times.iterations - 1);
    cut_ = end(last_to_end(discard - 1));
    // The walk begins with the marker, which need not be what binds: the last iteration, and of a
    // run that repeats itself the last quarter, only leads there. Shares are per iteration of the
    // period.
    const bool repeats = factors.compute.empty() && factors.exchange.empty();
    const std::int64_t counted = times.iterations - discard;
    const std::int64_t left_out =
        std::max<std::int64_t>(repeats ? counted / 4 : 0, counted > 1 ? 1 : 0);
    limit_ = end(last_to_end(times.iterations - 1 - left_out));
    path_.iterations = path_.period_s > 0 ? (limit_ - cut_) / path_.period_s : 1;
  }

  BindingPath run() {
    At at = start_;
    double upto = end(at);
    while (upto > cut_) {
      at = entered_last(at, upto);
      const double from = segment_start(at, upto);
      add(at, from, upto);
      upto = from;
      if (upto <= cut_) {
        break;
      }
      const std::optional<At> next = cause_of(at, upto);
      if (!next) { // the start of the run, or rounding
        path_.waiting_s += counted(cut_, upto);
        break;
      }
      path_.waiting_s += counted(end(*next), upto);
      upto = end(*next);
      at = *next;
    }
    for (PathStep& step : steps_) {
      if (step.visits > 0) {
        path_.steps.push_back(step);
      }
    }
    return std::move(path_);
  }

private:
  [[nodiscard]] double start(const At& at) const {
    return times_.start[times_.at(at.iteration, at.operation, at.rank)];
  }
  [[nodiscard]] double end(const At& at) const {
    return times_.end[times_.at(at.iteration, at.operation, at.rank)];
  }
  [[nodiscard]] const Operation& operation(const At& at) const {
    return program_.operations[at.operation];
  }
  [[nodiscard]] Discipline discipline(const At& at) const {
    return program_.streams[operation(at).stream].discipline;
  }

  // The marker of an iteration on the rank that ends it last, the first of several.
  [[nodiscard]] At last_to_end(std::int64_t iteration) const {
    At last{program_.marker, iteration, 0};
    for (std::uint32_t rank = 1; rank < times_.ranks; ++rank) {
      const At other{program_.marker, iteration, rank};
      last = end(other) > end(last) ? other : last;
    }
    return last;
  }

  void note_ends(std::uint32_t stream, std::span<const std::uint32_t> list) {
    for (const std::uint32_t o : list) {
      for (std::int64_t t = 0; t < times_.iterations; ++t) {
        ends_[stream].push_back({end({o, t, 0}), o, t});
      }
    }
    std::ranges::stable_sort(ends_[stream], {}, &Ended::end);
  }

  // Own seconds of the start-up and of the rest, with the factors of the iteration.
  [[nodiscard]] std::pair<double, double> own(const At& at) const {
    const Operation& op = operation(at);
    if (op.type == OperationType::exchange) {
      const double factor =
          exchange_factor(program_, factors_, op, at.iteration, times_.iterations);
      return {factor * op.startup.value, factor * op.data.value};
    }
    if (op.type == OperationType::compute) {
      const std::span<const double> factors =
          compute_factors(program_, factors_, op, at.iteration, times_.iterations);
      return {0, factors.empty() ? op.seconds.value : factors[at.rank] * op.seconds.value};
    }
    return {0, op.seconds.value};
  }

  // Entry `each`: the latest rank of the part that entered before this one left, unless the rank
  // took no longer than the exchange alone.
  [[nodiscard]] At entered_last(At at, double upto) const {
    const Operation& op = operation(at);
    if (op.type != OperationType::exchange || op.entry != Entry::each) {
      return at;
    }
    const auto [startup, data] = own(at);
    if (upto - start(at) <= (startup + data) * (1 + 1e-9)) {
      return at;
    }
    At last = at;
    for (const std::uint32_t rank : parts_.of(op, at.rank)) {
      const At other{at.operation, at.iteration, rank};
      if (start(other) > start(last) && start(other) < upto) {
        last = other;
      }
    }
    return last;
  }

  // On a priority stream data that waited for those of another message begin where they ended.
  [[nodiscard]] double segment_start(const At& at, double upto) const {
    if (discipline(at) == Discipline::priority) {
      const auto [startup, data] = own(at);
      if (upto - start(at) > (startup + data) * (1 + 1e-9)) {
        if (const std::optional<At> before = ended_near(at, upto - data, data, upto)) {
          return end(*before);
        }
      }
    }
    return start(at);
  }

  // The other message of the stream that ended at `time` but for rounding, before `limit`.
  [[nodiscard]] std::optional<At> ended_near(const At& at, double time, double scale,
                                             double limit) const {
    const std::vector<Ended>& list = ends_[operation(at).stream];
    const double tolerance = 1e-9 * std::max(scale, 1e-3 * time);
    auto found = std::ranges::lower_bound(list, time - tolerance, {}, &Ended::end);
    while (found != list.end() && found->operation == at.operation &&
           found->iteration == at.iteration) {
      ++found;
    }
    if (found == list.end() || found->end > time + tolerance || found->end >= limit) {
      return std::nullopt;
    }
    return At{found->operation, found->iteration, at.rank};
  }

  // Seconds of the time from .. upto that count.
  [[nodiscard]] double counted(double from, double upto) const {
    return std::max(0.0, std::min(upto, limit_) - std::max(from, cut_));
  }

  // Seconds of the part of the segment that counts; in proportion where a limit divides it.
  void add(const At& at, double from, double upto) {
    if (from > limit_) {
      return;
    }
    const double length = upto - from;
    const double kept = counted(from, upto);
    PathStep& step = steps_[at.operation];
    if (step.visits == 0) {
      step.operation = at.operation;
      step.iteration = at.iteration;
    }
    step.rank = at.rank;
    ++step.visits;
    if (!(kept > 0)) {
      return;
    }
    auto [startup, data] = own(at);
    if (from > start(at)) { // data alone
      startup = 0;
    }
    const double alone = startup + data;
    const bool stretched = length > alone * (1 + 1e-9) && may_stretch(at);
    const double scale = (stretched || !(alone > 0) ? 1 : length / alone) * (kept / length);
    step.startup_s += scale * startup;
    if (stretched || !(alone > 0)) {
      step.data_s += scale * data;
      step.stretch_s += kept - scale * alone;
    } else {
      step.data_s += kept - scale * startup;
    }
  }

  [[nodiscard]] bool may_stretch(const At& at) const {
    return program_.interference.any() || discipline(at) != Discipline::fifo;
  }

  // The instance whose end let this one start at `time`.
  [[nodiscard]] std::optional<At> cause_of(At at, double time) const {
    for (;;) {
      const std::optional<Cause> cause = cause_at(at, time);
      if (!cause) {
        return std::nullopt;
      }
      if (!cause->at_start) {
        return cause->at;
      }
      at = cause->at;
    }
  }

  [[nodiscard]] std::optional<Cause> cause_at(const At& at, double time) const {
    if (time > start(at)) { // a segment that begins behind the start: data of a priority stream
      const std::optional<At> before = ended_near(at, time, 0, end(at));
      return before ? std::optional(Cause{*before}) : std::nullopt;
    }
    Latest latest{time, {}, -1};
    if (discipline(at) != Discipline::fifo) {
      for (std::uint32_t rank = 0; rank < times_.ranks; ++rank) {
        look_at_waits({at.operation, at.iteration, rank}, latest);
      }
      return latest.end == time ? std::optional(Cause{latest.at}) : from_channel(at, latest);
    }
    look_at_fifo(at, latest);
    if (latest.end < time && operation(at).type == OperationType::exchange &&
        operation(at).entry == Entry::together) {
      for (const std::uint32_t rank : parts_.of(operation(at), at.rank)) {
        look_at_fifo({at.operation, at.iteration, rank}, latest);
      }
    }
    return latest.end >= 0 ? std::optional(Cause{latest.at}) : std::nullopt;
  }

  // The latest end not behind `limit`, the first of equal ones.
  struct Latest {
    double limit;
    At at;
    double end;
  };
  void look_at(const At& at, Latest& latest) const {
    const double time = end(at);
    if (time <= latest.limit && time > latest.end) {
      latest.end = time;
      latest.at = at;
    }
  }

  void look_at_fifo(const At& at, Latest& latest) const {
    look_at_wait(at, on_streams_[at.operation], latest);
    look_at_waits(at, latest);
  }

  void look_at_waits(const At& at, Latest& latest) const {
    for (const Wait& wait : program_.waits_of(at.operation)) {
      look_at_wait(at, wait, latest);
    }
  }

  void look_at_wait(const At& at, const Wait& wait, Latest& latest) const {
    const std::int64_t iteration = at.iteration - wait.distance;
    if (iteration < 0 || at.iteration >= wait.until) {
      return;
    }
    if (wait.scope == Scope::own) {
      look_at({wait.operation, iteration, at.rank}, latest);
      return;
    }
    for (std::uint32_t rank = 0; rank < times_.ranks; ++rank) {
      look_at({wait.operation, iteration, rank}, latest);
    }
  }

  // A message that was ready earlier: another one made room for it, or, where messages are taken in
  // order, the one before it started at the same time.
  [[nodiscard]] std::optional<Cause> from_channel(const At& at, const Latest& latest) const {
    const double time = start(at);
    const std::vector<Ended>& list = ends_[operation(at).stream];
    const auto found = std::ranges::lower_bound(list, time, {}, &Ended::end);
    if (found != list.end() && found->end == time) {
      return Cause{{found->operation, found->iteration, at.rank}};
    }
    if (discipline(at) == Discipline::at_once) {
      const Wait& before = on_streams_[at.operation];
      const At earlier{before.operation, at.iteration - before.distance, at.rank};
      if (earlier.iteration >= 0 && start(earlier) == time) {
        return Cause{earlier, true};
      }
    }
    return latest.end >= 0 ? std::optional(Cause{latest.at}) : std::nullopt;
  }

  const Program& program_;
  const OperationTimes& times_;
  const Factors& factors_;
  const ExchangeParts parts_;
  const std::vector<Wait> on_streams_;   // waits_on_streams()
  std::vector<std::vector<Ended>> ends_; // per stream that is not fifo
  std::vector<PathStep> steps_;          // per operation
  At start_;
  double cut_ = 0;   // time before this one does not count
  double limit_ = 0; // and after this one
  BindingPath path_;
};

} // namespace

BindingPath critical_cycle(const Program& program, const SteadyState& state) {
  BindingPath path{.exact = true,
                   .period_s = state.period.value,
                   .iterations = static_cast<double>(state.cycle_iterations),
                   .other_cycles = state.other_cycles};
  std::int64_t iteration = 0;
  for (std::size_t i = 0; i < state.cycle.size(); ++i) {
    const std::uint32_t o = state.cycle[i];
    if (i > 0) {
      iteration +=
          state.critical.distance_between(state.node_of[state.cycle[i - 1]], state.node_of[o]);
    }
    const Operation& operation = program.operations[o];
    const bool exchange = operation.type == OperationType::exchange;
    path.steps.push_back({.operation = o,
                          .iteration = iteration,
                          .startup_s = exchange ? operation.startup.value : 0,
                          .data_s = exchange ? operation.data.value : operation.seconds.value});
  }
  return path;
}

BindingPath binding_path(const Program& program, const OperationTimes& times,
                         const Factors& factors, std::int64_t discard) {
  assert(!times.end.empty() && 1 <= discard && discard < times.iterations);
  return Walk(program, times, factors, discard).run();
}

} // namespace stepsim::programs
