#include "programs/rank_vectors.hpp"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <vector>

#include "programs/operation_layout.hpp"
#include "programs/rank_loops.hpp"
#include "programs/recurrence.hpp"

namespace stepsim::programs {
namespace {

class RankPass {
public:
  RankPass(const Program& program, const OperationLayout& layout, std::int64_t iterations,
           const Factors& factors, const EachRule& each, Record record)
      : program_(program), layout_(layout), seconds_(durations_of(program)), factors_(factors),
        each_(each), ranks_(program.ranks), recorded_(record != Record::marker), enter_(ranks_),
        ones_(ranks_, 1), latest_(layout_.slots, 0),
        stream_end_(program.streams.size() * ranks_, 0), stream_latest_(program.streams.size(), 0),
        stream_differs_(program.streams.size(), false), differs_(program.operations.size()),
        own_waits_(program.operations.size()), by_rank_(program.operations.size()) {
    for (std::uint32_t o = 0; o < program.operations.size(); ++o) {
      differs_[o] = !together(program.operations[o]);
      stream_differs_[layout_.stream[o]] = stream_differs_[layout_.stream[o]] || differs_[o];
    }
    by_rank_[program.marker] = differs_[program.marker];
    for (std::uint32_t o = 0; o < program.operations.size(); ++o) {
      for (const Wait& wait : program.waits_of(o)) {
        if (waits_by_rank(o, wait)) {
          own_waits_[o] = by_rank_[wait.operation] = true;
        }
      }
    }
    std::size_t rows = 0;
    for (std::uint32_t o = 0; o < program.operations.size(); ++o) {
      first_row_.push_back(rows);
      rows += by_rank_[o] ? layout_.ring_mask[o] + std::size_t{1} : 0;
    }
    ends_.resize(rows * ranks_);
    times_.columns = record == Record::first_rank ? 1 : 0;
    times_.iterations = iterations;
    times_.ranks = program.ranks;
    times_.operations = program.iteration_size();
    times_.marker_end.reserve(static_cast<std::size_t>(iterations) * ranks_);
    if (recorded_) {
      times_.start.resize(times_.at(iterations, 0, 0));
      times_.end.resize(times_.start.size());
    }
  }

  OperationTimes run() {
    const std::span<const std::uint32_t> order(layout_.order);
    for (std::int64_t t = 0; t < times_.iterations; ++t) {
      for (const std::uint32_t o : order.first(times_.operations)) {
        evaluate(o, t);
      }
      const std::size_t slot = layout_.slot(program_.marker, t);
      if (by_rank_[program_.marker]) {
        const std::span<const double> ends = ends_at(program_.marker, slot);
        times_.marker_end.insert(times_.marker_end.end(), ends.begin(), ends.end());
      } else {
        times_.marker_end.insert(times_.marker_end.end(), ranks_, latest_[slot]);
      }
    }
    for (const std::uint32_t o : order.subspan(times_.operations)) {
      evaluate(o, times_.iterations);
    }
    times_.makespan_s = *std::ranges::max_element(stream_latest_);
    return std::move(times_);
  }

private:
  // Of an operation whose ends are kept rank by rank.
  std::span<double> ends_at(std::uint32_t operation, std::size_t slot) {
    const std::size_t row = first_row_[operation] + slot - layout_.ring_first[operation];
    return {ends_.data() + row * ranks_, ranks_};
  }

  // Whether all ranks start and end the operation together, so that one number tells the ends of
  // all.
  [[nodiscard]] static bool together(const Operation& operation) {
    return operation.type == OperationType::exchange && operation.group == kAllRanks &&
           operation.entry == Entry::together;
  }

  // Whether each rank of `operation` waits for its own end of another one, which ranks end apart.
  [[nodiscard]] bool waits_by_rank(std::uint32_t operation, const Wait& wait) const {
    return wait.scope == Scope::own && differs_[wait.operation] && differs_[operation];
  }

  // The last rank of all that the operation waits for, but for the one before it on the stream.
  [[nodiscard]] double latest_wait(std::uint32_t o, std::int64_t iteration) const {
    double latest = 0;
    for (const OperationLayout::WaitSlot& wait : layout_.waits_of(program_, o)) {
      if (wait.holds(iteration)) {
        latest = std::max(latest, latest_[OperationLayout::slot(wait, iteration)]);
      }
    }
    return latest;
  }

  // enter_ becomes max(ready, end of the operation before it on the stream), rank by rank.
  void wait_for_all(std::uint32_t o, std::int64_t iteration, std::span<const double> before) {
    std::ranges::copy(before, enter_.begin());
    double latest = 0; // of the waits for all ranks
    const std::span<const Wait> waits = program_.waits_of(o);
    const std::span<const OperationLayout::WaitSlot> slots = layout_.waits_of(program_, o);
    for (std::size_t i = 0; i < waits.size(); ++i) {
      if (!slots[i].holds(iteration)) {
        continue;
      }
      const std::size_t slot = OperationLayout::slot(slots[i], iteration);
      if (!waits_by_rank(o, waits[i])) {
        latest = std::max(latest, latest_[slot]);
        continue;
      }
      const std::span<const double> awaited = ends_at(waits[i].operation, slot);
      for (std::size_t r = 0; r < ranks_; ++r) {
        enter_[r] = std::max(enter_[r], awaited[r]);
      }
    }
    if (latest > 0) {
      for (double& enter : enter_) {
        enter = std::max(enter, latest);
      }
    }
  }

  void exchange(const Operation& operation, double seconds, double factor, std::span<double> ends) {
    if (operation.group == kAllRanks) {
      exchange_part(operation, seconds, factor, enter_, ends);
      return;
    }
    for (const std::vector<std::uint32_t>& part : program_.groups[operation.group].parts) {
      part_enter_.clear();
      for (const std::uint32_t rank : part) {
        part_enter_.push_back(enter_[rank]);
      }
      part_leave_.resize(part.size());
      exchange_part(operation, seconds, factor, part_enter_, part_leave_);
      for (std::size_t i = 0; i < part.size(); ++i) {
        enter_[part[i]] = part_enter_[i];
        ends[part[i]] = part_leave_[i];
      }
    }
  }

  // `enter` becomes the starts.
  void exchange_part(const Operation& operation, double seconds, double factor,
                     std::span<double> enter, std::span<double> leave) {
    if (enter.empty()) {
      return;
    }
    if (operation.entry == Entry::each) {
      each_(operation, factor, enter, leave);
      return;
    }
    const double start = *std::ranges::max_element(enter);
    std::ranges::fill(enter, start);
    std::ranges::fill(leave, start + factor * seconds);
  }

  [[nodiscard]] std::span<double> on_stream(std::uint32_t o) {
    return {stream_end_.data() + layout_.stream[o] * ranks_, ranks_};
  }

  void evaluate(std::uint32_t o, std::int64_t iteration) {
    const Operation& operation = program_.operations[o];
    const double seconds = seconds_[o];
    if (!differs_[o]) {
      const double start = std::max(stream_latest_[layout_.stream[o]], latest_wait(o, iteration));
      const double factor =
          exchange_factor(program_, factors_, operation, iteration, times_.iterations);
      finish_together(o, iteration, start, start + factor * seconds);
      return;
    }
    const std::span<double> ends = on_stream(o);
    if (operation.type == OperationType::exchange) {
      wait_for_all(o, iteration, ends);
      const double factor =
          exchange_factor(program_, factors_, operation, iteration, times_.iterations);
      exchange(operation, seconds, factor, ends);
      finish(o, iteration, std::ranges::max(ends));
      return;
    }
    std::span<const double> factors;
    if (operation.type == OperationType::compute) {
      factors = compute_factors(program_, factors_, operation, iteration, times_.iterations);
    }
    double earliest = 0;
    if (own_waits_[o]) {
      wait_for_all(o, iteration, ends);
      std::ranges::copy(enter_, ends.begin());
    } else {
      earliest = latest_wait(o, iteration);
      for (std::size_t r = 0; recorded_ && r < times_.width(); ++r) {
        enter_[r] = std::max(ends[r], earliest);
      }
    }
    finish(o, iteration,
           advance_ranks(ends, factors.empty() ? std::span(ones_) : factors, earliest, seconds));
  }

  // Behind an operation whose ends are those of its stream, the last at `latest`.
  void finish(std::uint32_t o, std::int64_t iteration, double latest) {
    const std::size_t slot = layout_.slot(o, iteration);
    const std::span<const double> ends = on_stream(o);
    latest_[slot] = stream_latest_[layout_.stream[o]] = latest;
    if (by_rank_[o]) {
      std::ranges::copy(ends, ends_at(o, slot).begin());
    }
    if (recorded_ && iteration < times_.iterations) {
      const auto place = static_cast<std::ptrdiff_t>(times_.at(iteration, o, 0));
      std::copy_n(enter_.begin(), times_.width(), times_.start.begin() + place);
      std::copy_n(ends.begin(), times_.width(), times_.end.begin() + place);
    }
  }

  void finish_together(std::uint32_t o, std::int64_t iteration, double start, double end) {
    latest_[layout_.slot(o, iteration)] = stream_latest_[layout_.stream[o]] = end;
    if (stream_differs_[layout_.stream[o]]) {
      std::ranges::fill(on_stream(o), end);
    }
    if (recorded_ && iteration < times_.iterations) {
      const auto place = static_cast<std::ptrdiff_t>(times_.at(iteration, o, 0));
      std::fill_n(times_.start.begin() + place, times_.width(), start);
      std::fill_n(times_.end.begin() + place, times_.width(), end);
    }
  }

  const Program& program_;
  const OperationLayout& layout_;
  const std::vector<double> seconds_; // [operation]
  const Factors& factors_;
  const EachRule& each_;
  const std::size_t ranks_;
  const bool recorded_;
  std::vector<double> enter_;
  const std::vector<double> ones_;     // [rank]
  std::vector<double> ends_;           // [row * ranks + rank], a row per slot where by_rank_
  std::vector<std::size_t> first_row_; // [operation]: that of its first slot
  std::vector<double> latest_;         // [slot]: the largest of its ends
  std::vector<double> stream_end_;     // [stream * ranks + rank], where stream_differs_
  std::vector<double> stream_latest_;  // [stream]: the largest of its ends
  std::vector<bool> stream_differs_;   // [stream]: ranks may end an operation of it apart
  std::vector<bool> differs_;          // [operation]: ranks may end it apart
  std::vector<bool> own_waits_;        // [operation]: it waits by rank
  std::vector<bool> by_rank_;          // [operation]: somebody reads the end of each rank
  std::vector<double> part_enter_;
  std::vector<double> part_leave_;
  OperationTimes times_;
};

} // namespace

OperationTimes rank_vectors(const Program& program, const OperationLayout& layout,
                            std::int64_t iterations, const Factors& factors, const EachRule& each,
                            Record record) {
  assert(recurrence_applies(program) && "fifo streams without interference");
  return RankPass(program, layout, iterations, factors, each, record).run();
}

OperationTimes rank_vectors(const Program& program, std::int64_t iterations, const Factors& factors,
                            const EachRule& each, Record record) {
  return rank_vectors(program, layout_of(program), iterations, factors, each, record);
}

} // namespace stepsim::programs
