#pragma once
// Joining the shards of a sweep: their records in point order under the header of the whole sweep,
// byte for byte the file of an unsharded run.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sweep/shard.hpp"
#include "sweep/sweep_records.hpp"

namespace stepsim::study {

// What a merge found, also where it wrote nothing.
struct MergeReport {
  std::int64_t points = 0; // in the whole sweep
  std::int64_t failed = 0; // records with status error
  // Points that no file has, as ranges first..last with both ends; the first 100 of the shards that
  // they belong to, ascending; and how many more such shards there are.
  std::vector<std::pair<std::int64_t, std::int64_t>> missing;
  std::vector<Shard> shards_to_run;
  std::int64_t more_shards_to_run = 0;
};

// Writes `output` ("-" = standard output) unless points are missing. Every point may appear in
// several files if its records are identical. Takes time and memory by the records that there
// are, whatever the headers say. Throws InputError: no sweep output, different sweeps, a point
// twice with different records.
// `format`: of the output; without it JSON Lines for binary inputs, else that of the inputs. Only
// JSON Lines and the binary form become each other.
MergeReport merge_sweeps(const std::vector<std::string>& shards, const std::string& output,
                         std::optional<RecordFormat> format = {});

} // namespace stepsim::study
