#include "programs/recurrence.hpp"

#include <cassert>
#include <cmath>

namespace stepsim::programs {
namespace {

// Finds the iteration from which on all ends move by the same time.
class Repetition {
public:
  explicit Repetition(const Program& program)
      : before_(program.iteration_size(), 0),
        span_(std::max<std::int64_t>(1, longest_wait(program))) {
    for (const Wait& wait : program.waits) {
      warmup_ = wait.until == kAlways ? warmup_ : std::max<std::int64_t>(warmup_, wait.until);
    }
  }

  void add(std::uint32_t operation, double end) {
    const double moved = end - before_[operation];
    least_ = std::min(least_, moved);
    most_ = std::max(most_, moved);
    latest_ = std::max(latest_, end);
    before_[operation] = end;
  }
  // Behind the last operation of an iteration: whether it is one of enough that repeat.
  bool found(std::int64_t iteration) {
    const bool repeats = iteration > warmup_ && most_ - least_ <= kSame * latest_;
    in_a_row_ = repeats ? in_a_row_ + 1 : 0;
    least_ = std::numeric_limits<double>::infinity();
    most_ = -least_;
    return in_a_row_ >= span_;
  }

private:
  static constexpr double kSame = 1e-13; // of the time of the run
  std::vector<double> before_;           // [operation]: its end in the iteration before
  std::int64_t span_;
  std::int64_t warmup_ = 0;
  std::int64_t in_a_row_ = 0;
  double least_ = std::numeric_limits<double>::infinity();
  double most_ = -std::numeric_limits<double>::infinity();
  double latest_ = 0;
};

class Recurrence {
public:
  Recurrence(const Program& program, const OperationLayout& layout, std::int64_t iterations,
             Record record)
      : program_(program), layout_(layout), seconds_(durations_of(program)),
        recorded_(record == Record::all || record == Record::steady), ends_(layout_.slots, 0),
        stream_end_(program.streams.size(), 0) {
    times_.iterations = iterations;
    times_.ranks = 1;
    times_.operations = program.iteration_size();
    if (record != Record::steady) {
      times_.marker_end.reserve(static_cast<std::size_t>(iterations));
      times_.start.reserve(recorded_ ? times_.at(iterations, 0, 0) : 0);
      times_.end.reserve(times_.start.capacity());
    }
  }

  OperationTimes run(bool until_steady) {
    const auto once = std::span(layout_.order).first(times_.operations);
    Repetition repetition(program_);
    for (std::int64_t t = 0; t < times_.iterations; ++t) {
      if (recorded_) {
        times_.start.resize(times_.at(t + 1, 0, 0));
        times_.end.resize(times_.start.size());
      }
      for (const std::uint32_t o : once) {
        const double end = evaluate(o, t);
        if (until_steady) {
          repetition.add(o, end);
        }
      }
      times_.marker_end.push_back(ends_[layout_.slot(program_.marker, t)]);
      if (until_steady && repetition.found(t)) {
        times_.repeats_from = t + 1;
        times_.period_s = cycle_period(t);
        go_on_from(t);
        break;
      }
    }
    for (const std::uint32_t o : std::span(layout_.order).subspan(times_.operations)) {
      (void)evaluate(o, times_.iterations);
    }
    // Operations end in order on a fifo stream.
    times_.makespan_s = *std::ranges::max_element(stream_end_);
    return std::move(times_);
  }

private:
  double evaluate(std::uint32_t o, std::int64_t iteration) {
    double start = stream_end_[layout_.stream[o]];
    for (const OperationLayout::WaitSlot& wait : layout_.waits_of(program_, o)) {
      if (wait.holds(iteration)) {
        start = std::max(start, ends_[OperationLayout::slot(wait, iteration)]);
      }
    }
    const double end = start + seconds_[o];
    ends_[layout_.slot(o, iteration)] = end;
    stream_end_[layout_.stream[o]] = end;
    if (recorded_ && iteration < times_.iterations) {
      const std::size_t place = times_.at(iteration, o, 0);
      times_.start[place] = start;
      times_.end[place] = end;
    }
    return end;
  }

  // What the start of an operation waited for in iteration `t`: the end that equals it.
  [[nodiscard]] Wait binding(std::uint32_t o, std::int64_t t) const {
    const double start = times_.start[times_.at(t, o, 0)];
    for (const Wait& wait : program_.waits_of(o)) {
      if (wait.until == kAlways &&
          times_.end[times_.at(t - wait.distance, wait.operation, 0)] == start) {
        return wait;
      }
    }
    return layout_.on_streams[o];
  }

  // Of an iteration whose operations all wait for the same as in the iterations before it.
  [[nodiscard]] double cycle_period(std::int64_t t) const {
    std::vector<bool> passed(times_.operations);
    std::vector<Wait> path; // against the direction of time
    std::uint32_t at = program_.marker;
    while (!passed[at]) {
      passed[at] = true;
      const Wait before = binding(at, t);
      path.push_back({.operation = at, .distance = before.distance});
      at = before.operation;
    }
    const auto cycle = std::span(path).subspan(
        static_cast<std::size_t>(std::ranges::find(path, at, &Wait::operation) - path.begin()));
    const auto first = std::ranges::min_element(cycle, {}, &Wait::operation);
    std::ranges::rotate(cycle, first + 1);
    double sum = 0;
    std::int64_t distance = 0;
    for (std::size_t i = cycle.size(); i-- > 0;) {
      sum += seconds_[cycle[i].operation];
      distance += cycle[i].distance;
    }
    return sum / static_cast<double>(distance);
  }

  // From iteration `t`, which repeats, to the last one.
  void go_on_from(std::int64_t t) {
    const std::int64_t last = times_.iterations - 1;
    const double later = static_cast<double>(last - t) * *times_.period_s;
    const std::vector<double> before = ends_;
    for (const std::uint32_t o : std::span(layout_.order).first(times_.operations)) {
      for (std::int64_t back = 0; back <= std::min<std::int64_t>(layout_.ring_mask[o], t); ++back) {
        ends_[layout_.slot(o, last - back)] = before[layout_.slot(o, t - back)] + later;
      }
    }
    for (double& end : stream_end_) {
      end += later;
    }
  }

  const Program& program_;
  const OperationLayout& layout_;
  const std::vector<double> seconds_; // [operation]
  const bool recorded_;
  std::vector<double> ends_;
  std::vector<double> stream_end_;
  OperationTimes times_;
};

} // namespace

bool recurrence_applies(const Program& program) {
  return program.only_fifo() && !program.interference.any();
}

OperationTimes recurrence(const Program& program, const OperationLayout& layout,
                          std::int64_t iterations, Record record) {
  assert(recurrence_applies(program) && "fifo streams without interference");
  return Recurrence(program, layout, iterations, record).run(record == Record::steady);
}

OperationTimes recurrence(const Program& program, std::int64_t iterations, Record record) {
  return recurrence(program, layout_of(program), iterations, record);
}

} // namespace stepsim::programs
