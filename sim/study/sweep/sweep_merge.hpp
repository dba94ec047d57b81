#pragma once
// Merges the shards of a sweep: the records of all shards in point order, after the header of the
// whole sweep. The output is byte for byte the file of an unsharded run.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "study/sweep/shard.hpp"

namespace stepsim::study {

// The report of a merge. If points are missing, no output was written, and the report says which.
struct MergeReport {
  std::int64_t points = 0; // points of the whole sweep
  std::int64_t failed = 0; // records with status error
  // The points that no file has, as ranges first..last (both included); the first 100 shards to
  // which they belong, ascending; and the number of further such shards.
  std::vector<std::pair<std::int64_t, std::int64_t>> missing;
  std::vector<Shard> shards_to_run;
  std::int64_t more_shards_to_run = 0;
};

// Merges the files `shards` and writes `output` ("-" = standard output) unless points are missing.
// A point may be in several files if its records are identical. Time and memory depend on the
// number of records in the files, not on the number of points in the headers. Throws InputError if
// a file is not the output of a sweep, if the sweeps, their formats or their numbers of shards
// differ, or if two records of a point differ.
MergeReport merge_sweeps(const std::vector<std::string>& shards, const std::string& output);

} // namespace stepsim::study
