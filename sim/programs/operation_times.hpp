#pragma once
// The input and output that all evaluators of a program share: factors of variability, and the
// times at which operations start and end. Times are seconds since the start of the run.
#include <algorithm>

#include "programs/training_program.hpp"

namespace stepsim::programs {

// Factors on compute and exchange times of inner iteration n = iteration x steps + step (TRN 2.7).
// If a table is empty, all its factors are 1.
struct Factors {
  std::vector<double> compute;  // [n * ranks + rank]
  std::vector<double> exchange; // [n]
};

// Which times a run records: only the ends of the marker, or the start and end of every operation.
// `first_rank`, for rank_vectors() alone: of every operation on rank 0. `steady`, for recurrence()
// alone: of every operation, until an iteration repeats the one before it. For all other evaluators
// both are `all`.
enum class Record { marker, first_rank, all, steady };

struct OperationTimes {
  std::int64_t iterations{};
  std::uint32_t ranks{};
  std::uint32_t operations{}; // operations of one iteration
  // Set where the last recorded iteration repeats the one before it, this time later, as do all
  // iterations behind it, which are not recorded: in these start, end and marker_end have no more
  // than `repeats_from` iterations.
  std::optional<double> period_s;
  std::int64_t repeats_from{};
  std::int64_t recorded_from{};   // the first iteration in `start` and `end`
  std::vector<double> marker_end; // [iteration * ranks + rank]
  // Ranks whose starts and ends are recorded: 1, or 0 for all.
  std::uint32_t columns{};
  // [((iteration - recorded_from) * operations + operation) * width() + rank]; empty for
  // Record::marker. An exchange starts when the last rank of the same part of its group enters
  // (programs::Group) or, with entry `each`, when the rank itself does.
  std::vector<double> start;
  std::vector<double> end;
  double makespan_s{}; // latest end of any operation, including the tail

  [[nodiscard]] std::size_t at(std::int64_t iteration, std::size_t operation,
                               std::size_t rank) const {
    return (static_cast<std::size_t>(iteration - recorded_from) * operations + operation) *
               width() +
           rank;
  }
  [[nodiscard]] std::uint32_t width() const { return columns == 0 ? ranks : columns; }

  // The recorded iteration that tells the times of an iteration, and how much later these are.
  [[nodiscard]] std::int64_t row(std::int64_t iteration) const {
    return period_s ? std::min(iteration, repeats_from - 1) : iteration;
  }
  [[nodiscard]] double later_s(std::int64_t iteration) const {
    return period_s ? static_cast<double>(iteration - row(iteration)) * *period_s : 0;
  }
};

// The times of a run of the program, all 0, as `record` says; not for Record::steady.
[[nodiscard]] OperationTimes sized_times(const Program& program, std::int64_t iterations,
                                         std::uint32_t ranks, Record record);

// The end of the marker of an iteration, on the rank that ends it last.
[[nodiscard]] double latest_marker_end(const OperationTimes& times, std::int64_t iteration);

// The mean time per iteration after `discard` iterations, 1 <= discard < iterations = T:
// (E(T-1) - E(discard-1)) / (T - discard), where E is latest_marker_end() (TRN 2.4). It is the mean
// of the times between these ends and, where ranks drift apart, the period of the slowest one.
[[nodiscard]] Seconds mean_period(const OperationTimes& times, std::int64_t discard);

// The times cut to the first `iterations`. The makespan is the latest recorded end; it is that of
// the whole run if `times` has the ends of the marker only.
[[nodiscard]] OperationTimes first_iterations(OperationTimes times, std::int64_t iterations);

} // namespace stepsim::programs
