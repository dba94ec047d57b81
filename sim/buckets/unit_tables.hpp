#pragma once
// Lookup tables of the planner of sharding units (unit_planner.hpp): the times of every allowed
// unit, and lower bounds on the times of the last layers, however they are divided into units.
// Layers are numbered from 0; all times are in seconds.
#include <cstddef>
#include <limits>
#include <vector>

#include "buckets/unit_planner.hpp"

namespace stepsim::buckets {

inline constexpr double kUnbounded = std::numeric_limits<double>::infinity();
// Two periods whose relative difference is below this count as equal.
inline constexpr double kEqualPeriods = 1e-12;

struct UnitSeconds {
  double forward{};
  double backward{};
  double gather{};
  double reduce{};
};

// Lower bounds for the layers first .. L - 1, each over all divisions into allowed units; 0 for no
// layers.
struct RestOfLayers {
  double forward{};
  double backward{};
  double gathers{};      // sum over the units, in forward
  double regathers{};    // sum over the units, in backward
  double reduces{};      // sum over the units
  double stream{};       // sum of gathers, regathers and reductions
  double first_gather{}; // of the unit that begins with layer `first`
  double first_reduce{}; // of the same unit
};

class UnitTables {
public:
  // O(layers^2).
  explicit UnitTables(const UnitProblem& problem);

  [[nodiscard]] std::size_t layers() const { return layers_; }
  // The times of the unit of layers first .. last, which must be allowed().
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
  std::vector<double> forward_;    // [i] forward time of the layers before layer i, i = 0 .. L
  std::vector<double> backward_;   // [i] backward time of the same layers
  std::vector<double> gather_;     // [place]
  std::vector<double> reduce_;     // [place]
  std::vector<std::size_t> ends_;  // [first] one past the last layer of the largest allowed unit
  std::vector<RestOfLayers> rest_; // [first], layers + 1 of them
};

// As unit_period(problem, cuts), in O(units) and but for rounding; infinite if a unit is not
// allowed.
[[nodiscard]] double unit_period(const UnitProblem& problem, const UnitTables& tables,
                                 const Cuts& cuts);

// As unit_lower_bound(problem, micro_batches), without making the tables.
[[nodiscard]] double unit_lower_bound(const UnitProblem& problem, const UnitTables& tables,
                                      std::int64_t micro_batches = 1);

} // namespace stepsim::buckets
