#include "programs/recurrence.hpp"

#include <cassert>
#include <ranges>

namespace stepsim::programs {
namespace {

// What the first operation waits for in the iteration behind one that began idle and has these
// ends.
std::uint32_t last_of_idle(const OperationLayout& layout, const double* ends) {
  const auto count = static_cast<std::int64_t>(layout.first_arc.size() - 1);
  const auto arcs = std::span(layout.arcs).first(layout.first_arc[1]);
  const auto end = [&](const OperationLayout::Arc& arc) { return ends[arc.back + count]; };
  return static_cast<std::uint32_t>(std::ranges::max_element(arcs, {}, end)->back + count);
}

// Seconds of a cycle and of its exchanges, per iteration.
struct Cycle {
  double period_s{}, exchange_s{};
};

// The cycle of binding waits in iteration t, whose operations wait for the same as in those before
// it; its ends and starts are given, the ends of iterations before it lie in front of them. The sum
// begins with the first operation of the list, or with that of an iteration that begins idle, and
// goes on in the direction of time.
Cycle binding_cycle(const Program& program, const OperationLayout& layout,
                    std::span<const double> seconds, std::int64_t t, const double* ends,
                    const double* starts) {
  const std::uint32_t count = program.iteration_size();
  const auto operation = [&](const OperationLayout::Arc& arc) {
    return static_cast<std::uint32_t>(arc.back + std::int64_t{arc.distance} * count);
  };
  const auto arcs_of = [&](std::uint32_t o) {
    return std::span(layout.arcs)
        .subspan(layout.first_arc[o], layout.first_arc[o + 1] - layout.first_arc[o]);
  };
  // What the start of an operation waited for: the end that equals it.
  const auto binding = [&](std::uint32_t o) -> const OperationLayout::Arc& {
    for (const OperationLayout::Arc& arc : arcs_of(o)) {
      if (arc.until == kAlways && (arc.distance > t ? 0 : ends[arc.back]) == starts[o]) {
        return arc;
      }
    }
    return arcs_of(o).back();
  };
  std::vector<std::uint32_t> path; // against the direction of time
  path.reserve(count);
  std::int64_t distance = 0;
  if (t == 0) { // back to what begins at once
    path.push_back(last_of_idle(layout, ends));
    while (starts[path.back()] > 0) {
      path.push_back(operation(binding(path.back())));
    }
    distance = 1;
  } else {
    std::vector<std::uint32_t> place(count); // on the path, from 1
    std::uint32_t at = program.marker;
    while (place[at] == 0) {
      path.push_back(at);
      place[at] = static_cast<std::uint32_t>(path.size());
      at = operation(binding(at));
    }
    path.erase(path.begin(), path.begin() + place[at] - 1);
    std::ranges::rotate(path, std::ranges::min_element(path) + 1);
    for (const std::uint32_t o : path) {
      distance += binding(o).distance;
    }
  }
  Cycle cycle;
  for (const std::uint32_t o : path | std::views::reverse) {
    cycle.period_s += seconds[o];
    cycle.exchange_s += program.operations[o].type == OperationType::exchange ? seconds[o] : 0;
  }
  return {cycle.period_s / static_cast<double>(distance),
          cycle.exchange_s / static_cast<double>(distance)};
}

// Iterations are rows of ends, one end per operation, behind rows of 0 for those before the first
// iteration that waits look back to. Without a record the last few are kept.
class Recurrence {
public:
  Recurrence(const Program& program, const OperationLayout& layout, std::span<const double> seconds,
             std::int64_t iterations, Record record)
      : program_(program), layout_(layout), seconds_(seconds),
        recorded_(record == Record::all || record == Record::steady),
        longest_(std::max<std::int64_t>(1, layout.longest)),
        idle_(record == Record::steady && layout.begins_idle && longest_ == 1),
        rows_before_(idle_ ? 0 : std::min(longest_, iterations)),
        always_(!idle_ && longest_ <= iterations && layout.always) {
    times_.iterations = iterations;
    times_.ranks = 1;
    times_.operations = program.iteration_size();
    const std::int64_t few = idle_ ? 1 : longest_ + 4; // most programs repeat by then
    kept_ = rows_before_ + (record == Record::all ? iterations : std::min(iterations, few));
    times_.marker_end.reserve(static_cast<std::size_t>(kept_));
    times_.end.reserve(times_.at(kept_, 0, 0));
    times_.end.resize(times_.at(rows_before_, 0, 0));
    times_.start.reserve(recorded_ ? times_.at(kept_ - rows_before_, 0, 0) : times_.operations);
  }

  OperationTimes run(bool until_steady) {
    std::int64_t repeating = 0; // in a row
    std::int64_t t = 0;
    for (; t < times_.iterations; ++t) {
      add_row(t);
      idle_ && !layout_.idle_steps.empty() ? evaluate_idle()
      : always_                            ? evaluate<true>(t)
                                           : evaluate<false>(t);
      times_.marker_end.push_back(row()[program_.marker]);
      repeating = until_steady && t > layout_.warmup && repeats() ? repeating + 1 : 0;
      if (idle_ || repeating >= longest_) {
        times_.repeats_from = t + 1;
        times_.period_s =
            idle_ ? row()[last_of_idle(layout_, row())]
                  : binding_cycle(program_, layout_, seconds_, t, row(), last_starts()).period_s;
        break;
      }
    }
    set_makespan();
    if (recorded_) {
      times_.end.erase(times_.end.begin(), times_.end.begin() + static_cast<std::ptrdiff_t>(
                                                                    times_.at(rows_before_, 0, 0)));
    } else {
      times_.start.clear();
      times_.end.clear();
    }
    return std::move(times_);
  }

private:
  // The ends of the last iteration; those of the one before it lie in front of them.
  [[nodiscard]] const double* row() const {
    return times_.end.data() + times_.end.size() - times_.operations;
  }
  [[nodiscard]] const double* last_starts() const {
    return times_.start.data() + times_.start.size() - times_.operations;
  }

  void add_row(std::int64_t t) {
    if (!recorded_ && times_.end.size() == times_.at(kept_, 0, 0)) {
      times_.end.erase(times_.end.begin(), times_.end.end() - static_cast<std::ptrdiff_t>(
                                                                  times_.at(rows_before_, 0, 0)));
    }
    times_.end.resize(times_.end.size() + times_.operations);
    times_.start.resize(recorded_ ? times_.at(t + 1, 0, 0) : times_.operations);
  }

  // The ends of the two steps before are at hand: most operations follow one of them on their
  // stream, so that a chain of them waits for sums alone and not for memory.
  void evaluate_idle() {
    using Step = OperationLayout::IdleStep;
    double* const ends = times_.end.data();
    double* const starts = times_.start.data();
    const double* const seconds = seconds_.data();
    double last = 0;
    double before = 0;
    ends[layout_.idle_steps.front().operation] = 0;
    for (const Step& step : layout_.idle_steps) {
      const std::uint32_t own = step.awaited[0];
      const double first = own == Step::kBefore ? before : own == Step::kLast ? last : ends[own];
      const double second = ends[step.awaited[1]];
      const double start = first > second ? first : second;
      before = last;
      last = start + seconds[step.operation];
      starts[step.operation] = start;
      ends[step.operation] = last;
    }
  }

  template <bool always> void evaluate(std::int64_t t) {
    double* const ends = times_.end.data() + times_.end.size() - times_.operations;
    double* const starts = times_.start.data() + times_.start.size() - times_.operations;
    const OperationLayout::Arc* const arcs = layout_.arcs.data();
    const std::uint32_t* const first = layout_.first_arc.data();
    const double* const seconds = seconds_.data();
    for (const std::uint32_t o : std::span(layout_.order).first(times_.operations)) {
      const OperationLayout::Arc* arc = arcs + first[o];
      const OperationLayout::Arc* const behind = arcs + first[o + 1];
      double start = 0;
      do {
        if (always || (t >= arc->distance && t < arc->until)) {
          const double end = ends[arc->back];
          start = start > end ? start : end;
        }
      } while (++arc != behind);
      starts[o] = start;
      ends[o] = start + seconds[o];
    }
  }

  // Runs the tail. Later iterations than the last one that was evaluated repeat it.
  void set_makespan() {
    const double later = times_.later_s(times_.iterations - 1);
    for (const double end : std::span(row(), idle_ ? 0 : times_.operations)) {
      times_.makespan_s = std::max(times_.makespan_s, end + later);
    }
    times_.makespan_s = idle_ ? *times_.period_s + later : times_.makespan_s;
    if (program_.tail_operations == 0) {
      return;
    }
    std::vector<double> ends(program_.operations.size()); // of the tail
    std::vector<double> stream_end(program_.streams.size());
    for (std::uint32_t o = 0; o < times_.operations; ++o) {
      stream_end[program_.operations[o].stream] = row()[o] + later;
    }
    for (std::uint32_t o = times_.operations; o < program_.operations.size(); ++o) {
      double& start = stream_end[program_.operations[o].stream];
      for (const Wait& wait : program_.waits_of(o)) {
        const bool of_tail = wait.operation >= times_.operations;
        if (of_tail || (wait.distance <= times_.iterations && times_.iterations < wait.until)) {
          start =
              std::max(start, of_tail ? ends[wait.operation]
                                      : *(row() + wait.operation -
                                          (wait.distance - 1) * std::ptrdiff_t{times_.operations}) +
                                            later);
        }
      }
      ends[o] = start += seconds_[o];
      times_.makespan_s = std::max(times_.makespan_s, start);
    }
  }

  // Whether all ends of the last recorded iteration are those of the one before it, later by the
  // same time.
  [[nodiscard]] bool repeats() const {
    constexpr double kSame = 1e-13; // of the time of the run
    const double* const now = row();
    const double* const before = now - times_.operations;
    double least = now[0] - before[0];
    double most = least;
    double latest = 0;
    for (std::uint32_t o = 0; o < times_.operations; ++o) {
      const double moved = now[o] - before[o];
      least = std::min(least, moved);
      most = std::max(most, moved);
      latest = std::max(latest, now[o]);
    }
    return most - least <= kSame * latest;
  }

  const Program& program_;
  const OperationLayout& layout_;
  const std::span<const double> seconds_; // [operation]
  const bool recorded_;
  const std::int64_t longest_;     // wait
  const bool idle_;                // until steady: the first iteration is that of all
  const std::int64_t rows_before_; // the first iteration
  const bool always_;              // every wait holds from the first iteration on
  std::int64_t kept_;              // rows that have room
  OperationTimes times_;
};

} // namespace

bool recurrence_applies(const Program& program) {
  return program.only_fifo() && !program.interference.any();
}

OperationTimes recurrence(const Program& program, const OperationLayout& layout,
                          std::int64_t iterations, Record record, std::span<const double> seconds) {
  assert(recurrence_applies(program) && "fifo streams without interference");
  const std::vector<double> own = seconds.empty() ? durations_of(program) : std::vector<double>();
  return Recurrence(program, layout, seconds.empty() ? own : seconds, iterations, record)
      .run(record == Record::steady);
}

OperationTimes recurrence(const Program& program, std::int64_t iterations, Record record) {
  return recurrence(program, layout_of(program), iterations, record);
}

double cycle_exchange_s(const Program& program, const OperationLayout& layout,
                        const OperationTimes& times) {
  const std::int64_t last = times.repeats_from - 1;
  const std::size_t row = times.at(last, 0, 0);
  return binding_cycle(program, layout, durations_of(program), last, &times.end[row],
                       &times.start[row])
      .exchange_s;
}

} // namespace stepsim::programs
