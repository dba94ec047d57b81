#pragma once
// What a sweep is asked to do: a scenario or a collective, and the grid of values put into it. Made
// from a file of kind `sweep` or from a scenario and `--over` flags.
#include <string>
#include <vector>

#include "sweep/grid.hpp"
#include "json/json.hpp"

namespace stepsim::study {

struct Sweep {
  io::Json base; // the scenario or collective, short forms expanded
  Grid grid;

  // The keys that a record has beside its place in the grid, as an object with a sample of their
  // values, where the base is a collective; nothing for a scenario, whose keys are those of its
  // summary.
  [[nodiscard]] io::Object sample() const;
  // Whether records of a collective have the keys of the model of a library.
  [[nodiscard]] bool has_library_keys() const;
  // The columns of the varied fields.
  [[nodiscard]] std::vector<std::string> varied() const { return grid.field_names(sample()); }
};

// Throws InputError where the base is a collective: it has no times of a training.
void require_scenario(const Sweep& sweep);

// True if the file says that it is a sweep, or has axes and no kind.
[[nodiscard]] bool is_sweep(const io::Json& tree);
// A tree of kind `sweep`; a scenario FILE in it is relative to the tree's file. Throws InputError
// with all problems.
[[nodiscard]] Sweep parse_sweep(const io::Json& tree);
// All combinations of `axes` over a scenario. Throws UsageError.
[[nodiscard]] Sweep sweep_over(const io::Json& scenario, std::vector<Axis> axes);

} // namespace stepsim::study
