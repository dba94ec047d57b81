#pragma once
// Lookup tables of the planner of sharding units (unit_planner.hpp): the times of every allowed
// unit, and lower bounds on the times of the last layers, however they are divided into units.
// Layers are numbered from 0; all times are in seconds.
#include <span>

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
  // Whether every unit of the division is.
  [[nodiscard]] bool allowed(const Cuts& cuts) const;
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

// A label is a division of layers 0 .. l into units, stored as a forward state x and a backward
// functional y (TRN 6):
//
//     x   end of the gather stream, then ends of the last computes, newest first
//     y   from the state before the backward of the newest unit to the end of the last reduction:
//         y[i] = longest path from component i to the end. Components: gather stream, end of the
//         newest unit's own gather, last computes, last reductions (newest first)
//
// Forward starts with the first unit and backward ends with it, so appending a unit to a division
// extends x by one step and puts one step in front of y.

// The indices of the components of a label, and the options of the problem that decide which waits
// exist. A limit of at least twice the number of layers, the positions in an iteration, counts as
// no limit.
struct StateLayout {
  explicit StateLayout(const UnitProblem& problem);

  bool one_stream; // gathers and reductions share a communicator
  bool regathers;  // UnitProblem::reshard_after_forward
  bool keeps_last; // UnitProblem::keep_last
  // UnitProblem::ahead_forward, ahead_backward and reduces_in_flight; empty = no limit.
  std::optional<std::size_t> forward, backward, flying;
  std::size_t computes;      // number of last computes in x
  std::size_t back_computes; // number of last computes in y
  std::size_t reductions;    // number of last reductions in y
  std::size_t x_size;
  std::size_t size; // x and y together

  // Indices of the components of y in a label.
  [[nodiscard]] std::size_t stream() const { return x_size; }
  [[nodiscard]] std::size_t own_gather() const { return x_size + 1; }
  [[nodiscard]] std::size_t compute(std::size_t i) const { return x_size + 2 + i; }
  [[nodiscard]] std::size_t reduction(std::size_t i) const {
    return x_size + 2 + back_computes + i;
  }
};

// Sets `now` to `label` with one more unit at its end. `regather` is the time in seconds of the
// gather of the previous unit for backward. With an empty label the unit is the first one.
void add_unit(const StateLayout& layout, const UnitSeconds& unit, double regather,
              std::span<const double> label, std::span<double> now);

// Returns the seconds until the last reduction of a label with all layers, whose newest unit is
// gathered in `gather` seconds.
[[nodiscard]] double finish_of(const StateLayout& layout, double gather,
                               std::span<const double> label);

// Returns a lower bound of the finish of all divisions that begin with `label` and continue with
// the layers whose bounds are `rest`. `gather` belongs to the newest unit; `end` is the last layer
// of the model.
[[nodiscard]] double bound_of(const StateLayout& layout, double gather, const RestOfLayers& rest,
                              const ShardedLayer& end, std::span<const double> label);

} // namespace stepsim::buckets
