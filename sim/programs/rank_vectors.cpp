#include "programs/recurrence.hpp"

#include <cassert>

#include "programs/rank_loops.hpp"

namespace stepsim::programs {
namespace {

// The ends of all ranks on one stream. From a common start on, what ranks compute ends at
// `common + scaled * factor of the rank`, whatever the number of operations.
struct EndLine {
  double common{};
  double scaled{};
  std::uint32_t factors{}; // which factors, from 1; 0: all ranks end at `common`
  bool written_out{};      // the ends are those of stream_end_ instead
};

class RankPass {
public:
  RankPass(const Program& program, const OperationLayout& layout, std::int64_t iterations,
           const Factors& factors, const EachRule& each, Record record, std::int64_t recorded_from)
      : program_(program), layout_(layout), seconds_(durations_of(program)), factors_(factors),
        each_(each), ranks_(program.ranks), recorded_(record != Record::marker), enter_(ranks_),
        ones_(ranks_, 1), latest_(layout_.slots, 0), common_(layout_.slots),
        stream_end_(program.streams.size() * ranks_, 0), stream_line_(program.streams.size()),
        stream_latest_(program.streams.size(), 0), differs_(program.operations.size()),
        own_waits_(program.operations.size()), by_rank_(program.operations.size()) {
    for (std::uint32_t o = 0; o < program.operations.size(); ++o) {
      differs_[o] = !together(program.operations[o]);
    }
    by_rank_[program.marker] = differs_[program.marker];
    for (std::uint32_t o = 0; o < program.operations.size(); ++o) {
      for (const Wait& wait : program.waits_of(o)) {
        if (waits_by_rank(o, wait)) {
          own_waits_[o] = by_rank_[wait.operation] = true;
        }
      }
    }
    const std::size_t places = factors.compute.size() / ranks_;
    least_.assign(1, 1);
    largest_.assign(1, 1);
    for (std::size_t place = 1; place <= places; ++place) {
      const auto [least, largest] =
          least_and_largest(factors_of(static_cast<std::uint32_t>(place)));
      least_.push_back(least);
      largest_.push_back(largest);
    }
    std::size_t rows = 0;
    for (std::uint32_t o = 0; o < program.operations.size(); ++o) {
      first_row_.push_back(rows);
      rows += by_rank_[o] ? layout_.ring_mask[o] + std::size_t{1} : 0;
    }
    ends_.resize(rows * ranks_);
    times_.columns = record == Record::first_rank ? 1 : 0;
    times_.iterations = iterations;
    times_.recorded_from = recorded_from;
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

  // Whether a rank of `operation` may start before another because of what it waits for.
  [[nodiscard]] bool starts_by_rank(std::uint32_t operation, std::int64_t iteration) const {
    const std::span<const Wait> waits = program_.waits_of(operation);
    const std::span<const OperationLayout::WaitSlot> slots = layout_.waits_of(program_, operation);
    bool any = false;
    for (std::size_t i = 0; own_waits_[operation] && i < waits.size(); ++i) {
      any = any || (slots[i].holds(iteration) && waits_by_rank(operation, waits[i]) &&
                    !common_[OperationLayout::slot(slots[i], iteration)]);
    }
    return any;
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

  // The place of the factors on the compute time of `operation`, from 1; 0 if all of them are 1.
  [[nodiscard]] std::uint32_t factors_at(const Operation& operation, std::int64_t iteration) const {
    return factors_.compute.empty() || iteration >= times_.iterations
               ? 0
               : static_cast<std::uint32_t>(iteration * program_.steps + operation.step + 1);
  }
  [[nodiscard]] std::span<const double> factors_of(std::uint32_t place) const {
    return place == 0 ? std::span(ones_)
                      : std::span(factors_.compute).subspan((place - 1) * ranks_, ranks_);
  }

  [[nodiscard]] bool records(std::int64_t iteration) const {
    return recorded_ && times_.recorded_from <= iteration && iteration < times_.iterations;
  }

  void fill(const EndLine& line, std::span<double> ends) const {
    const std::span<const double> factors = factors_of(line.factors);
    for (std::size_t r = 0; r < ends.size(); ++r) {
      ends[r] = line.common + line.scaled * factors[r];
    }
  }

  // Written out rank by rank.
  [[nodiscard]] std::span<double> on_stream(std::uint32_t o) {
    EndLine& line = stream_line_[layout_.stream[o]];
    const std::span<double> ends(stream_end_.data() + layout_.stream[o] * ranks_, ranks_);
    if (!line.written_out) {
      fill(line, ends);
      line.written_out = true;
    }
    return ends;
  }

  // Computes on all ranks as one line, which is possible where the ranks before it all end later
  // than `earliest`, or all earlier, and have had no other factors. Else nothing changes.
  bool advance_line(std::uint32_t o, std::int64_t iteration, double earliest, std::uint32_t factors,
                    double seconds) {
    const std::uint32_t stream = layout_.stream[o];
    EndLine& line = stream_line_[stream];
    if (earliest >= stream_latest_[stream]) {
      line = {.common = earliest};
    } else if (line.written_out || earliest > line.common + line.scaled * least_[line.factors]) {
      return false;
    }
    if (factors != 0 && line.factors != 0 && line.factors != factors) {
      return false;
    }
    const bool recorded = records(iteration);
    const std::size_t place = recorded ? times_.at(iteration, o, 0) : 0;
    if (recorded) {
      fill(line, std::span(times_.start).subspan(place, times_.width()));
    }
    if (factors == 0) {
      line.common += seconds;
    } else {
      line.factors = factors;
      line.scaled += seconds;
    }
    if (recorded) {
      fill(line, std::span(times_.end).subspan(place, times_.width()));
    }
    const std::size_t slot = layout_.slot(o, iteration);
    latest_[slot] = stream_latest_[stream] = line.common + line.scaled * largest_[line.factors];
    if (by_rank_[o]) {
      fill(line, ends_at(o, slot));
    }
    return true;
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
    if (operation.type == OperationType::exchange) {
      const std::span<double> ends = on_stream(o);
      wait_for_all(o, iteration, ends);
      const double factor =
          exchange_factor(program_, factors_, operation, iteration, times_.iterations);
      exchange(operation, seconds, factor, ends);
      const auto [first, last] = least_and_largest(ends);
      if (first == last) {
        stream_line_[layout_.stream[o]] = {.common = last};
      }
      common_[layout_.slot(o, iteration)] = first == last;
      finish(o, iteration, last);
      return;
    }
    const std::uint32_t factors =
        operation.type == OperationType::compute ? factors_at(operation, iteration) : 0;
    const bool by_rank = starts_by_rank(o, iteration);
    const double earliest = by_rank ? 0 : latest_wait(o, iteration);
    if (!by_rank && advance_line(o, iteration, earliest, factors, seconds)) {
      return;
    }
    const std::span<double> ends = on_stream(o);
    if (by_rank) {
      wait_for_all(o, iteration, ends);
      std::ranges::copy(enter_, ends.begin());
    } else {
      for (std::size_t r = 0; recorded_ && r < times_.width(); ++r) {
        enter_[r] = std::max(ends[r], earliest);
      }
    }
    finish(o, iteration, advance_ranks(ends, factors_of(factors), earliest, seconds));
  }

  // Behind an operation whose ends are those of its stream, the last at `latest`.
  void finish(std::uint32_t o, std::int64_t iteration, double latest) {
    const std::size_t slot = layout_.slot(o, iteration);
    const std::span<const double> ends = on_stream(o);
    latest_[slot] = stream_latest_[layout_.stream[o]] = latest;
    if (by_rank_[o]) {
      std::ranges::copy(ends, ends_at(o, slot).begin());
    }
    if (records(iteration)) {
      const auto place = static_cast<std::ptrdiff_t>(times_.at(iteration, o, 0));
      std::copy_n(enter_.begin(), times_.width(), times_.start.begin() + place);
      std::copy_n(ends.begin(), times_.width(), times_.end.begin() + place);
    }
  }

  void finish_together(std::uint32_t o, std::int64_t iteration, double start, double end) {
    latest_[layout_.slot(o, iteration)] = stream_latest_[layout_.stream[o]] = end;
    stream_line_[layout_.stream[o]] = {.common = end};
    if (records(iteration)) {
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
  std::vector<bool> common_;           // [slot] of an exchange: all ranks end it together
  std::vector<double> stream_end_;     // [stream * ranks + rank], where they are written out
  std::vector<EndLine> stream_line_;   // [stream]
  std::vector<double> stream_latest_;  // [stream]: the largest of its ends
  std::vector<double> least_;          // [place of factors]: the least of them
  std::vector<double> largest_;
  std::vector<bool> differs_;   // [operation]: ranks may end it apart
  std::vector<bool> own_waits_; // [operation]: it waits by rank
  std::vector<bool> by_rank_;   // [operation]: somebody reads the end of each rank
  std::vector<double> part_enter_;
  std::vector<double> part_leave_;
  OperationTimes times_;
};

} // namespace

OperationTimes rank_vectors(const Program& program, const OperationLayout& layout,
                            std::int64_t iterations, const Factors& factors, const EachRule& each,
                            Record record, std::int64_t recorded_from) {
  assert(recurrence_applies(program) && "fifo streams without interference");
  return RankPass(program, layout, iterations, factors, each, record, recorded_from).run();
}

OperationTimes rank_vectors(const Program& program, std::int64_t iterations, const Factors& factors,
                            const EachRule& each, Record record) {
  return rank_vectors(program, layout_of(program), iterations, factors, each, record);
}

} // namespace stepsim::programs
