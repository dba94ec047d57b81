#pragma once
// Splitting a sweep over processes that know nothing of each other: point k belongs to shard
// k mod n. n may exceed the number of points; such a shard holds its header only.
//     10 points, n = 3:   shard 0 = {0,3,6,9}   shard 1 = {1,4,7}   shard 2 = {2,5,8}
// Random streams depend on the seed of a point and on its replication, never on the shard.
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace stepsim::study {

inline constexpr std::int64_t kMostShards = 1'000'000'000;

struct Shard {
  std::int64_t index = 0;
  std::int64_t count = 1; // index < count <= kMostShards

  // Number of points of the shard, of `total` in the whole sweep.
  [[nodiscard]] std::int64_t points(std::int64_t total) const {
    return total <= index ? 0 : (total - index - 1) / count + 1;
  }
  // The i-th point of the shard.
  [[nodiscard]] std::int64_t point(std::int64_t i) const { return index + i * count; }
  bool operator==(const Shard&) const = default;
};

// "2/8". Throws UsageError.
[[nodiscard]] Shard parse_shard(std::string_view text);

// `--shard auto` from the variables of batch systems and MPI launchers (IO 14.6): an array task a
// of A and a rank s of S give shard a S + s of A S; what is not set counts as 0 of 1. Throws
// UsageError where neither is set or the array is irregular.
using Environment = std::map<std::string, std::string>;
[[nodiscard]] Shard shard_from_environment(const Environment& environment);

// "{shard}" in a name becomes "INDEX-of-COUNT"; without it, and with several shards,
// ".shard-INDEX-of-COUNT" is put before the extension. "-" stays.
[[nodiscard]] std::string shard_file_name(const std::string& name, const Shard& shard);

} // namespace stepsim::study
