#pragma once
// Merges the shards of a sweep: the records of all shards in point order, after the header of the
// whole sweep. The output is byte for byte the file of an unsharded run.

#include "study/sweep/sweep_output.hpp"

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

// Reads an input file of a merge: the header, and then one record after the other, each as a line.

// One input file and its next record.
struct MergeInput {
  std::string path;
  std::unique_ptr<RowReader> reader;
  SweepHeader header;
  std::int64_t total = 0; // points of the whole sweep
  Shard shard;            // the shard whose points the file has
  RecordMark mark;        // mark of the next record; its point is -1 after the last one
  std::string row;        // the next record without its line end

  // Reads the next record. An incomplete last row is ignored. Throws InputError if the next record
  // is out of order or not of the shard.
  void advance();
};

// Opens a file and reads its header and its first record. Throws InputError if the file is not the
// output of a sweep.
[[nodiscard]] MergeInput open_merge_input(const std::string& path);

} // namespace stepsim::study
