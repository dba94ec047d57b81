#pragma once
// The hash that identifies a sweep. It is equal for equal work, independent of the location of the
// files and of the number of shards. Resuming and merging compare it, so that records of two grids
// are never mixed in one file.
#include <string>

#include "scenario/files.hpp"
#include "study/sweep/sweep_file.hpp"

namespace stepsim::study {

// 16 hex digits: 64-bit FNV-1a of the canonical (sorted keys, compact, shortest numbers) scenario
// with its defaults resolved, the contents of the files it names, the axes, zips and replications,
// and the schema version. Paths, jobs, shards and output do not change it; a key that no point
// reads may change it. A file that cannot be read is hashed by name, and its points fail later.
[[nodiscard]] std::string grid_hash(const Sweep& sweep, Files& files);

} // namespace stepsim::study
