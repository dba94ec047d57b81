#pragma once
// The identity of a sweep: equal for equal work, wherever its files lie and however it is split.
// Resuming and merging compare it, so that records of two grids never meet in one file.
#include <string>

#include "scenario/files.hpp"
#include "sweep/sweep_file.hpp"

namespace stepsim::study {

// 16 hex digits: 64-bit FNV-1a of the canonical (sorted keys, compact, shortest numbers) scenario
// with its defaults resolved, the contents of the files it names, the axes, zips and replications,
// and the schema version. Paths, jobs, shards and output do not enter. A key that no point reads
// may still change it.
// A file that cannot be read enters by its name; the points that use it fail then.
[[nodiscard]] std::string grid_hash(const Sweep& sweep, Files& files);

} // namespace stepsim::study
