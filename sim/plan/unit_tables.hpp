#pragma once
// What the planner of sharding units looks up: the times of every possible unit, and bounds on what
// any division of the last layers takes. Layers count from 0; seconds.
#include <cstddef>
#include <limits>
#include <vector>

#include "plan/unit_planner.hpp"

namespace stepsim::plan {

inline constexpr double kUnbounded = std::numeric_limits<double>::infinity();
// Periods that differ by less, relatively, are equal.
inline constexpr double kEqualPeriods = 1e-12;

struct UnitSeconds {
  double forward{};
  double backward{};
  double gather{};
  double reduce{};
};

// Lower bounds on any division of layers first .. L - 1 into allowed units; 0 for no layers.
struct RestOfLayers {
  double forward{};
  double backward{};
  double gathers{};      // of all units
  double regathers{};    // in backward
  double reduces{};      // of all units
  double stream{};       // gathers, regathers and reductions together
  double first_gather{}; // of the unit that begins here
  double first_reduce{};
};

class UnitTables {
public:
  // O(layers^2).
  explicit UnitTables(const UnitProblem& problem);

  [[nodiscard]] std::size_t layers() const { return layers_; }
  // Of the unit of layers first .. last.
  [[nodiscard]] UnitSeconds unit(std::size_t first, std::size_t last) const;
  [[nodiscard]] bool allowed(std::size_t first, std::size_t last) const {
    return last < ends_[first];
  }
  [[nodiscard]] const RestOfLayers& rest(std::size_t first) const { return rest_[first]; }

private:
  [[nodiscard]] std::size_t place(std::size_t first, std::size_t last) const {
    return first * layers_ + last;
  }
  void fill_rest(const UnitProblem& problem);

  std::size_t layers_;
  std::vector<double> forward_;    // sums of the first layers
  std::vector<double> backward_;   // the same
  std::vector<double> gather_;     // [place]
  std::vector<double> reduce_;     // [place]
  std::vector<std::size_t> ends_;  // [first] one past the last layer of the largest allowed unit
  std::vector<RestOfLayers> rest_; // [first], layers + 1 of them
};

} // namespace stepsim::plan
