#pragma once
// What a sweep is asked to do: a scenario, and the grid of values put into it. Made from a file of
// kind `sweep` or from a scenario and `--over` flags. `grid_hash` is its identity: equal for equal
// work, wherever the files lie and however it is split.
#include <string>
#include <vector>

#include "scenario/files.hpp"
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

// 16 hex digits: 64-bit FNV-1a of the canonical (sorted keys, compact, shortest numbers) scenario
// with its defaults resolved, the contents of the files it names, the axes, zips and replications,
// and the schema version. Paths, jobs, shards and output do not enter. A key that no point reads
// may still change it.
[[nodiscard]] std::string grid_hash(const Sweep& sweep, Files& files);

} // namespace stepsim::study
