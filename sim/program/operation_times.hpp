#pragma once
// What every evaluator of a program takes and gives: factors of variability, and when operations
// start and end. Times are seconds since the start of the run.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/units.hpp"
#include "program/training_program.hpp"

namespace stepsim::program {

// Factors on compute and exchange times of inner iteration n = iteration x steps + step (TRN 2.7).
// An empty table means factor 1 throughout.
struct Factors {
  std::vector<double> compute;  // [n * ranks + rank]
  std::vector<double> exchange; // [n]
};

enum class Record { marker, all };

struct OperationTimes {
  std::int64_t iterations{};
  std::uint32_t ranks{};
  std::uint32_t operations{};     // of one iteration
  std::vector<double> marker_end; // [iteration * ranks + rank]
  // Empty unless Record::all: [(iteration * operations + operation) * ranks + rank]. An exchange
  // starts when its rank has entered and, with entry `together`, the last one of its group has.
  std::vector<double> start;
  std::vector<double> end;
  double makespan_s{}; // latest end of any operation, the tail included
  // Seconds during which rank 0 has at least one exchange under way; events evaluator only.
  double communication_s{};

  [[nodiscard]] std::size_t at(std::int64_t iteration, std::size_t operation,
                               std::size_t rank) const {
    return (static_cast<std::size_t>(iteration) * operations + operation) * ranks + rank;
  }
};

// Mean time per iteration after `discard` iterations, 1 <= discard < iterations: the maximum over
// ranks of (E(T-1) - E(discard-1)) / (T - discard), E the ends of the marker (TRN 2.4).
[[nodiscard]] Seconds mean_period(const OperationTimes& times, std::int64_t discard);

} // namespace stepsim::program
