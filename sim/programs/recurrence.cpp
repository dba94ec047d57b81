#include "programs/recurrence.hpp"

#include <cassert>
#include <cmath>

namespace stepsim::programs {
namespace {

// The last iteration that a wait which ends does not hold in, or 0.
std::int64_t warmup_of(const Program& program) {
  std::int64_t warmup = 0;
  for (const Wait& wait : program.waits) {
    warmup = wait.until == kAlways ? warmup : std::max<std::int64_t>(warmup, wait.until);
  }
  return warmup;
}

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
    constexpr std::int64_t kFew = 4; // most programs repeat by then
    const std::int64_t rows = record == Record::steady ? std::min(iterations, kFew) : iterations;
    times_.marker_end.reserve(static_cast<std::size_t>(rows));
    times_.start.reserve(recorded_ ? times_.at(rows, 0, 0) : 0);
    times_.end.reserve(times_.start.capacity());
  }

  OperationTimes run(bool until_steady) {
    const auto once = std::span(layout_.order).first(times_.operations);
    const std::int64_t warmup = until_steady ? warmup_of(program_) : 0;
    const std::int64_t enough = std::max<std::int64_t>(1, longest_wait(program_)); // in a row
    std::int64_t repeating = 0;
    for (std::int64_t t = 0; t < times_.iterations; ++t) {
      if (recorded_) {
        times_.start.resize(times_.at(t + 1, 0, 0));
        times_.end.resize(times_.start.size());
      }
      evaluate(once, t);
      times_.marker_end.push_back(ends_[layout_.slot(program_.marker, t)]);
      repeating = until_steady && t > warmup && repeats() ? repeating + 1 : 0;
      if (repeating >= enough) {
        times_.repeats_from = t + 1;
        times_.period_s = cycle_period();
        go_on_from(t);
        break;
      }
    }
    evaluate(std::span(layout_.order).subspan(times_.operations), times_.iterations);
    // Operations end in order on a fifo stream.
    times_.makespan_s = *std::ranges::max_element(stream_end_);
    return std::move(times_);
  }

private:
  // Operations of one iteration, or the tail behind the last one.
  void evaluate(std::span<const std::uint32_t> operations, std::int64_t iteration) {
    const bool records = recorded_ && iteration < times_.iterations;
    const std::size_t row = records ? times_.at(iteration, 0, 0) : 0;
    const std::span start_row = std::span(times_.start).subspan(row);
    const std::span end_row = std::span(times_.end).subspan(row);
    const std::span ends(ends_);
    const std::span stream_end(stream_end_);
    for (const std::uint32_t o : operations) {
      const std::uint32_t stream = layout_.stream[o];
      double start = stream_end[stream];
      for (const OperationLayout::WaitSlot& wait : layout_.waits_of(program_, o)) {
        if (iteration < wait.until) { // slots of iterations before the first one hold 0
          start = std::max(start, ends[OperationLayout::slot(wait, iteration)]);
        }
      }
      const double end = start + seconds_[o];
      ends[layout_.slot(o, iteration)] = end;
      stream_end[stream] = end;
      if (records) {
        start_row[o] = start;
        end_row[o] = end;
      }
    }
  }

  // Whether all ends of the last recorded iteration are those of the one before it, later by the
  // same time.
  [[nodiscard]] bool repeats() const {
    constexpr double kSame = 1e-13; // of the time of the run
    const double same = kSame * *std::ranges::max_element(stream_end_);
    const std::span now = std::span(times_.end).last(times_.operations);
    const std::span before = std::span(times_.end).last(2 * std::size_t{times_.operations});
    double least = now[0] - before[0];
    double most = least;
    for (std::size_t o = 1; o < now.size(); ++o) {
      const double moved = now[o] - before[o];
      least = std::min(least, moved);
      most = std::max(most, moved);
    }
    return most - least <= same;
  }

  // What the start of an operation waited for in the last recorded iteration: the end that equals
  // it.
  [[nodiscard]] Wait binding(std::uint32_t o) const {
    const double* row = times_.end.data() + times_.end.size() - times_.operations;
    const double start = times_.start[times_.start.size() - times_.operations + o];
    for (const Wait& wait : program_.waits_of(o)) {
      const std::ptrdiff_t back = std::ptrdiff_t{wait.distance} * times_.operations;
      if (wait.until == kAlways && row[std::ptrdiff_t{wait.operation} - back] == start) {
        return wait;
      }
    }
    return layout_.on_streams[o];
  }

  // Of an iteration whose operations all wait for the same as in the iterations before it. The sum
  // begins with the first operation of the list and goes on in the direction of time.
  [[nodiscard]] double cycle_period() const {
    std::vector<std::uint32_t> place(times_.operations); // on the path, from 1
    using Step = std::pair<std::uint32_t, std::int32_t>; // operation, distance of what it waits for
    std::vector<Step> path;                              // against the direction of time
    path.reserve(times_.operations);
    std::uint32_t at = program_.marker;
    while (place[at] == 0) {
      const Wait before = binding(at);
      path.emplace_back(at, before.distance);
      place[at] = static_cast<std::uint32_t>(path.size());
      at = before.operation;
    }
    const auto cycle = std::span(path).subspan(place[at] - 1);
    auto each = std::ranges::min_element(cycle, {}, &Step::first);
    double sum = 0;
    std::int64_t distance = 0;
    for (std::size_t i = 0; i < cycle.size(); ++i) {
      sum += seconds_[each->first];
      distance += each->second;
      each = (each == cycle.begin() ? cycle.end() : each) - 1;
    }
    return sum / static_cast<double>(distance);
  }

  // From iteration `t`, which repeats, to the last one. Only the tail waits for what ends then.
  void go_on_from(std::int64_t t) {
    const std::int64_t last = times_.iterations - 1;
    const double later = static_cast<double>(last - t) * *times_.period_s;
    const bool has_tail = program_.tail_operations > 0;
    const std::vector<double> before = has_tail ? ends_ : std::vector<double>();
    for (std::uint32_t o = 0; has_tail && o < times_.operations; ++o) {
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
