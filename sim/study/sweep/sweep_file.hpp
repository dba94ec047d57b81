#pragma once
// The input of a sweep: a scenario or a collective, and the grid of values that are put into it. It
// is read from a file of kind `sweep`, or made from a scenario and `--over` flags.
#include <string>
#include <vector>

#include "document/json.hpp"
#include "study/sweep/grid.hpp"

namespace stepsim::study {

struct Sweep {
  io::Json base; // the scenario or collective, short forms expanded
  Grid grid;

  // If the base is a collective: an object with the keys that records have in addition to the
  // varied fields. Its values only show which keys hold an object or a list. Empty for a scenario,
  // whose records have the keys of the summary.
  [[nodiscard]] io::Object sample() const;
  // Whether the records of a collective have the keys for the model of a library.
  [[nodiscard]] bool has_library_keys() const;
  // The names of the columns of the varied fields.
  [[nodiscard]] std::vector<std::string> varied() const { return grid.field_names(sample()); }
};

// Throws InputError if the base is a collective, which has no training times.
void require_scenario(const Sweep& sweep);

// Whether the tree has "kind": "sweep", or axes and no kind.
[[nodiscard]] bool is_sweep(const io::Json& tree);
// Reads a tree of kind `sweep`. If `scenario` names a file, the name is relative to the file of the
// tree. Throws InputError with all problems.
[[nodiscard]] Sweep parse_sweep(const io::Json& tree);
// The sweep of all combinations of `axes` over a scenario. Throws UsageError if the axes are
// invalid.
[[nodiscard]] Sweep sweep_over(const io::Json& scenario, std::vector<Axis> axes);

} // namespace stepsim::study
