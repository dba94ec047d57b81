#pragma once
// A label is a division of layers 0 .. l into units, as a forward state x and a backward functional
// y (TRN 6):
//
//     x   end of the gather stream, then ends of the last computes, newest first
//     y   from the state before the backward of the newest unit to the end of the last reduction:
//         y[i] = longest way from component i to the end. Components: gather stream, end of the
//         newest unit's own gather, last computes, last reductions (newest first)
//
// Forward runs from the first unit outwards and backward ends with it, so a unit that is added
// behind the division extends x by one step and puts one step in front of y.
#include <cstddef>
#include <optional>
#include <span>

#include "plan/unit_planner.hpp"
#include "plan/unit_tables.hpp"

namespace stepsim::plan {

// Where the components of a label stand, and which waits exist. A limit of as many positions as an
// iteration has is none.
struct StateLayout {
  explicit StateLayout(const UnitProblem& problem);

  bool one_stream;
  bool regathers;
  bool keeps_last;
  std::optional<std::size_t> forward, backward, flying;
  std::size_t computes;      // of x
  std::size_t back_computes; // of y
  std::size_t reductions;    // of y
  std::size_t x_size;
  std::size_t size; // of x and y together

  // Components of y, from the beginning of the label.
  [[nodiscard]] std::size_t stream() const { return x_size; }
  [[nodiscard]] std::size_t own_gather() const { return x_size + 1; }
  [[nodiscard]] std::size_t compute(std::size_t i) const { return x_size + 2 + i; }
  [[nodiscard]] std::size_t reduction(std::size_t i) const {
    return x_size + 2 + back_computes + i;
  }
};

// Sets `now` to `label` with one more unit behind it. `regather` is how long the unit before it is
// gathered in backward. An empty label makes the unit the first one.
void add_unit(const StateLayout& layout, const UnitSeconds& unit, double regather,
              std::span<const double> label, std::span<double> now);

// Seconds until the last reduction of a label with all layers, whose newest unit is gathered in
// `gather` seconds.
[[nodiscard]] double finish_of(const StateLayout& layout, double gather,
                               std::span<const double> label);

// No division that begins with `label`, and goes on with layers of which `rest` are the bounds,
// finishes earlier. `gather` is that of the newest unit, `end` the last layer of the model.
[[nodiscard]] double bound_of(const StateLayout& layout, double gather, const RestOfLayers& rest,
                              const ShardedLayer& end, std::span<const double> label);

} // namespace stepsim::plan
