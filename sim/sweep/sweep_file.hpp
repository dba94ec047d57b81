#pragma once
// What a sweep is asked to do: a scenario, and the grid of values put into it. Made from a file of
// kind `sweep` or from a scenario and `--over` flags.
#include <string>
#include <vector>

#include "sweep/grid.hpp"
#include "json/json.hpp"

namespace stepsim::study {

struct Sweep {
  io::Json base; // the scenario, short forms expanded
  Grid grid;
};

// True if the file says that it is a sweep.
[[nodiscard]] bool is_sweep(const io::Json& tree);
// A tree of kind `sweep`; a scenario FILE in it is relative to the tree's file. Throws InputError
// with all problems.
[[nodiscard]] Sweep parse_sweep(const io::Json& tree);
// All combinations of `axes` over a scenario. Throws UsageError.
[[nodiscard]] Sweep sweep_over(const io::Json& scenario, std::vector<Axis> axes);

} // namespace stepsim::study
