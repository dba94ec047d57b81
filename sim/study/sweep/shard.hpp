#pragma once
// Splits a sweep over n independent processes: point k belongs to shard k mod n. n may exceed the
// number of points; a shard without points has a header only.
//     10 points, n = 3:   shard 0 = {0,3,6,9}   shard 1 = {1,4,7}   shard 2 = {2,5,8}
// Random numbers depend on the seed of a point and on its replication, never on the shard.
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace stepsim::study {

inline constexpr std::int64_t kMostShards = 1'000'000'000;

struct Shard {
  std::int64_t index = 0;
  std::int64_t count = 1; // index < count <= kMostShards

  // Number of points of the shard, if the whole sweep has `total`.
  [[nodiscard]] std::int64_t points(std::int64_t total) const {
    return total <= index ? 0 : (total - index - 1) / count + 1;
  }
  // The i-th point of the shard.
  [[nodiscard]] std::int64_t point(std::int64_t i) const { return index + i * count; }
  bool operator==(const Shard&) const = default;
};

// Parses "2/8", index 2 of 8 shards. Throws UsageError for any other text, and for an index that is
// not below the count.
[[nodiscard]] Shard parse_shard(std::string_view text);

// The shard for `--shard auto`, from environment variables of batch systems and MPI launchers
// (IO 14.6): array task a of A and rank s of S give shard a S + s of A S. If only one of the two is
// set, the other is 0 of 1. The rank is that of Open MPI, else of PMI, else of a step of Slurm.
// Throws UsageError if neither is set, or if the tasks of the array are not numbered in equal steps
// (1,5,7).
using Environment = std::function<const char*(const char* name)>; // null: not set
[[nodiscard]] Shard shard_from_environment(const Environment& environment);

// The name of a shard's output file. "{shard}" in `name` is replaced by "INDEX-of-COUNT". If `name`
// does not have it and there are several shards, ".shard-INDEX-of-COUNT" is inserted before the
// extension. "-" is not changed.
[[nodiscard]] std::string shard_file_name(const std::string& name, const Shard& shard);

} // namespace stepsim::study
