#pragma once
// A program as the evaluators `recurrence` and `max_plus` read it: flat arrays in the order of
// evaluation. The ends of an operation lie in a ring of as many iterations as waits look back on, a
// power of two:
//
//     operation awaited at distances 0 and 2:  4 slots, iteration t in slot first + (t & 3)
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "program/operation_times.hpp"
#include "program/training_program.hpp"

namespace stepsim::program {

struct OperationLayout {
  struct WaitSlot {
    std::uint32_t first; // of the ring of the awaited operation
    std::uint32_t mask;
    std::uint32_t distance;
    bool all;
  };

  std::vector<std::uint32_t> order; // operations of one iteration, then those of the tail
  std::vector<std::uint32_t> stream;
  std::vector<double> seconds; // without factors
  std::vector<std::uint32_t> ring_first;
  std::vector<std::uint32_t> ring_mask;
  std::vector<WaitSlot> waits;
  std::uint32_t slots{}; // of all rings

  // Slot of the end of `operation` in `iteration`.
  [[nodiscard]] std::size_t slot(std::size_t operation, std::int64_t iteration) const {
    return ring_first[operation] + (static_cast<std::uint32_t>(iteration) & ring_mask[operation]);
  }
  // Slot that a wait of `iteration` reads; only for iteration >= distance.
  [[nodiscard]] static std::size_t slot(const WaitSlot& wait, std::int64_t iteration) {
    return wait.first + ((static_cast<std::uint32_t>(iteration) - wait.distance) & wait.mask);
  }
  [[nodiscard]] std::span<const WaitSlot> waits_of(const Program& program,
                                                   std::size_t operation) const {
    return {waits.data() + program.first_wait[operation],
            waits.data() + program.first_wait[operation + 1]};
  }
};

// O(operations + waits).
[[nodiscard]] OperationLayout layout_of(const Program& program);

// The factor of `operation` in `iteration`; the tail has factor 1.
[[nodiscard]] inline double exchange_factor(const Program& program, const Factors& factors,
                                            const Operation& operation, std::int64_t iteration,
                                            std::int64_t iterations) {
  if (factors.exchange.empty() || iteration >= iterations) {
    return 1;
  }
  return factors.exchange[static_cast<std::size_t>(iteration * program.steps + operation.step)];
}

// The compute factors of all ranks, empty if they are all 1.
[[nodiscard]] inline std::span<const double>
compute_factors(const Program& program, const Factors& factors, const Operation& operation,
                std::int64_t iteration, std::int64_t iterations) {
  if (factors.compute.empty() || iteration >= iterations) {
    return {};
  }
  const auto n = static_cast<std::size_t>(iteration * program.steps + operation.step);
  return {factors.compute.data() + n * program.ranks, program.ranks};
}

} // namespace stepsim::program
