#include "programs/rank_vectors.hpp"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <vector>

#include "programs/operation_layout.hpp"
#include "programs/recurrence.hpp"

namespace stepsim::programs {
namespace {

class RankPass {
public:
  RankPass(const Program& program, const OperationLayout& layout, std::int64_t iterations,
           const Factors& factors, const EachRule& each, Record record)
      : program_(program), layout_(layout), seconds_(durations_of(program)), factors_(factors),
        each_(each), ranks_(program.ranks), recorded_(record != Record::marker), enter_(ranks_),
        ends_(std::size_t{layout_.slots} * ranks_, 0), latest_(layout_.slots, 0),
        stream_end_(program.streams.size() * ranks_, 0), stream_latest_(program.streams.size(), 0) {
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
      const std::span<const double> ends = ends_at(layout_.slot(program_.marker, t));
      times_.marker_end.insert(times_.marker_end.end(), ends.begin(), ends.end());
    }
    for (const std::uint32_t o : order.subspan(times_.operations)) {
      evaluate(o, times_.iterations);
    }
    times_.makespan_s = *std::ranges::max_element(stream_end_);
    return std::move(times_);
  }

private:
  std::span<double> ends_at(std::size_t slot) { return {ends_.data() + slot * ranks_, ranks_}; }

  // Whether all ranks start and end the operation together, so that one number tells the ends of
  // all.
  [[nodiscard]] static bool together(const Operation& operation) {
    return operation.type == OperationType::exchange && operation.group == kAllRanks &&
           operation.entry == Entry::together;
  }

  // The last rank of all that the operation waits for.
  [[nodiscard]] double latest_wait(std::uint32_t o, std::int64_t iteration) const {
    double latest = stream_latest_[layout_.stream[o]];
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
    double latest = 0; // of the waits with scope `all`
    for (const OperationLayout::WaitSlot& wait : layout_.waits_of(program_, o)) {
      if (!wait.holds(iteration)) {
        continue;
      }
      const std::size_t slot = OperationLayout::slot(wait, iteration);
      const std::span<const double> awaited = ends_at(slot);
      if (wait.all) {
        latest = std::max(latest, latest_[slot]);
      } else {
        for (std::size_t r = 0; r < ranks_; ++r) {
          enter_[r] = std::max(enter_[r], awaited[r]);
        }
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

  void evaluate(std::uint32_t o, std::int64_t iteration) {
    const Operation& operation = program_.operations[o];
    const double seconds = seconds_[o];
    const std::span<double> before(stream_end_.data() + layout_.stream[o] * ranks_, ranks_);
    const std::size_t slot = layout_.slot(o, iteration);
    const std::span<double> ends = ends_at(slot);
    if (together(operation)) {
      const double start = latest_wait(o, iteration);
      const double factor =
          exchange_factor(program_, factors_, operation, iteration, times_.iterations);
      std::ranges::fill(enter_, start);
      std::ranges::fill(ends, start + factor * seconds);
      finish(o, iteration, before, ends, slot);
      return;
    }
    wait_for_all(o, iteration, before);
    if (operation.type == OperationType::exchange) {
      const double factor =
          exchange_factor(program_, factors_, operation, iteration, times_.iterations);
      exchange(operation, seconds, factor, ends);
    } else {
      std::span<const double> factors;
      if (operation.type == OperationType::compute) {
        factors = compute_factors(program_, factors_, operation, iteration, times_.iterations);
      }
      for (std::size_t r = 0; r < ranks_; ++r) {
        ends[r] = enter_[r] + (factors.empty() ? seconds : factors[r] * seconds);
      }
    }
    finish(o, iteration, before, ends, slot);
  }

  void finish(std::uint32_t o, std::int64_t iteration, std::span<double> before,
              std::span<const double> ends, std::size_t slot) {
    std::ranges::copy(ends, before.begin());
    const double latest = together(program_.operations[o]) ? ends.front() : std::ranges::max(ends);
    latest_[slot] = stream_latest_[layout_.stream[o]] = latest;
    if (recorded_ && iteration < times_.iterations) {
      const auto place = static_cast<std::ptrdiff_t>(times_.at(iteration, o, 0));
      std::copy_n(enter_.begin(), times_.width(), times_.start.begin() + place);
      std::copy_n(ends.begin(), times_.width(), times_.end.begin() + place);
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
  std::vector<double> ends_;          // [slot * ranks + rank]
  std::vector<double> latest_;        // [slot]: the largest of its ends
  std::vector<double> stream_end_;    // [stream * ranks + rank]
  std::vector<double> stream_latest_; // [stream]: the largest of its ends
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
