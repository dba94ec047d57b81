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

// Iterations are rows of ends, one end per operation, behind rows of 0 for those before the first
// iteration that waits look back to. Without a record the last few are kept.
class Recurrence {
public:
  Recurrence(const Program& program, const OperationLayout& layout, std::int64_t iterations,
             Record record)
      : program_(program), layout_(layout), seconds_(durations_of(program)),
        recorded_(record == Record::all || record == Record::steady),
        longest_(std::max<std::int64_t>(1, longest_wait(program))), warmup_(warmup_of(program)),
        rows_before_(std::min(longest_, iterations)),
        always_(longest_ <= iterations && std::ranges::all_of(program.waits, [](const Wait& wait) {
                  return wait.until == kAlways;
                })) {
    times_.iterations = iterations;
    times_.ranks = 1;
    times_.operations = program.iteration_size();
    constexpr std::int64_t kFew = 4; // most programs repeat by then
    kept_ =
        rows_before_ + (record == Record::all ? iterations : std::min(iterations, longest_ + kFew));
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
      always_ ? evaluate<true>(t) : evaluate<false>(t);
      times_.marker_end.push_back(row()[program_.marker]);
      repeating = until_steady && t > warmup_ && repeats() ? repeating + 1 : 0;
      if (repeating >= longest_) {
        times_.repeats_from = t + 1;
        set_period();
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

  template <bool always> void evaluate(std::int64_t t) {
    double* const ends = times_.end.data() + times_.end.size() - times_.operations;
    double* const starts = times_.start.data() + times_.start.size() - times_.operations;
    const OperationLayout::Arc* arc = layout_.arcs.data();
    for (std::uint32_t i = 0; i < times_.operations; ++i) {
      const std::uint32_t o = layout_.order[i];
      double start = 0;
      for (const auto* behind = layout_.arcs.data() + layout_.arcs_until[i]; arc != behind; ++arc) {
        if (always || (t >= arc->distance && t < arc->until)) {
          start = std::max(start, ends[arc->back]);
        }
      }
      starts[o] = start;
      ends[o] = start + seconds_[o];
    }
  }

  // Runs the tail. Later iterations than the last one that was evaluated repeat it.
  void set_makespan() {
    const double later = times_.later_s(times_.iterations - 1);
    for (const double end : std::span(row(), times_.operations)) {
      times_.makespan_s = std::max(times_.makespan_s, end + later);
    }
    std::vector<double> ends(program_.operations.size()); // of the tail
    std::vector<double> stream_end(program_.tail_operations > 0 ? program_.streams.size() : 0);
    for (std::uint32_t o = 0; o < times_.operations && !stream_end.empty(); ++o) {
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

  // What the start of an operation waited for in the last recorded iteration: the end that equals
  // it.
  [[nodiscard]] Wait binding(std::uint32_t o) const {
    const double start = last_starts()[o];
    for (const Wait& wait : program_.waits_of(o)) {
      const std::ptrdiff_t back = std::ptrdiff_t{wait.distance} * times_.operations;
      if (wait.until == kAlways && *(row() + wait.operation - back) == start) {
        return wait;
      }
    }
    return layout_.on_streams[o];
  }

  // Of an iteration whose operations all wait for the same as in the iterations before it. The sum
  // begins with the first operation of the list and goes on in the direction of time.
  void set_period() {
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
    double exchanges = 0;
    std::int64_t distance = 0;
    for (std::size_t i = 0; i < cycle.size(); ++i) {
      const double seconds = seconds_[each->first];
      sum += seconds;
      exchanges += program_.operations[each->first].type == OperationType::exchange ? seconds : 0;
      distance += each->second;
      each = (each == cycle.begin() ? cycle.end() : each) - 1;
    }
    times_.period_s = sum / static_cast<double>(distance);
    times_.period_exchange_s = exchanges / static_cast<double>(distance);
  }

  const Program& program_;
  const OperationLayout& layout_;
  const std::vector<double> seconds_; // [operation]
  const bool recorded_;
  const std::int64_t longest_; // wait
  const std::int64_t warmup_;
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
                          std::int64_t iterations, Record record) {
  assert(recurrence_applies(program) && "fifo streams without interference");
  return Recurrence(program, layout, iterations, record).run(record == Record::steady);
}

OperationTimes recurrence(const Program& program, std::int64_t iterations, Record record) {
  return recurrence(program, layout_of(program), iterations, record);
}

} // namespace stepsim::programs
