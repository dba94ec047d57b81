#pragma once
// The grid of a sweep, which varies fields of a scenario or of a collective. An axis is a JSON
// pointer with its values. A grid has all combinations of the values; the first axis varies slowest
// and zipped axes vary together (IO 14). The values at a point are computed from its number, so
// that a grid of any size takes no memory.
#include <functional>
#include <optional>

#include "document/json.hpp"

namespace stepsim::study {

inline constexpr std::int64_t kMostReplications = 1'000'000'000;

// One axis. Its values know their file, because names of files in them are relative to that file.
struct Axis {
  std::string pointer;          // "/cluster/nodes"
  std::vector<io::Json> values; // at least one
};

struct Grid {
  std::vector<Axis> axes;
  std::vector<std::vector<std::size_t>> zips; // indices of axes that move together
  std::int64_t replications = 1;              // points per combination, with consecutive numbers

  // Number of points, including replications. Throws UsageError if it does not fit into 63 bits.
  [[nodiscard]] std::int64_t points() const;
  // [0] is the number of points; [a + 1] is the distance, in points, between neighbouring values of
  // axis a, so that position[a] = (point / strides[a + 1]) mod values. Throws UsageError if there
  // are more points than fit into 63 bits.
  [[nodiscard]] std::vector<std::int64_t> strides() const;
  // [axis]: index into its `values` at this point.
  [[nodiscard]] std::vector<std::size_t> position(std::int64_t point) const;
  // The name of each varied field in flat records: the last token of its pointer, or the whole
  // pointer if two fields have the same last token or a column of the record has that name. `taken`
  // has the names of further columns, which the records of collectives have.
  [[nodiscard]] std::vector<std::string> field_names(const io::Object& taken = {}) const;

  // The axis with this pointer; empty if the field is not varied.
  [[nodiscard]] std::optional<std::size_t> axis_of(std::string_view pointer) const;
  // The points that differ from `point` in this axis (and in axes zipped with it) only, including
  // `point`, in the order of the axis.
  [[nodiscard]] std::vector<std::int64_t> along(std::size_t axis, std::int64_t point) const;
};

// The value of an axis as shown in records. A text such as "25Gbps" is converted to a number if its
// unit suits the suffix of the key; a percentage is converted if the key has no unit.
[[nodiscard]] io::Json axis_value(std::string_view pointer, const io::Json& value);

// Whether a number at a pointer of a scenario or a collective is an integer; empty if no key is
// there.
[[nodiscard]] std::optional<bool> takes_integers(std::string_view pointer);

// `tree` with the value at a pointer.
[[nodiscard]] io::Json with_value(io::Json tree, std::string_view pointer, io::Json value);

// The scenario or collective of a point: `base` with the values of the axes at the point. Names of
// files in the values remain relative to the file of the axis, or to the working directory if the
// axis is from a flag.
[[nodiscard]] io::Json scenario_at(const io::Json& base, const Grid& grid, std::int64_t point);

// Parses axes and values from the command line.

// These parse the argument of a flag: `--over POINTER=V1,V2,..` and `--set POINTER=VALUE`. A value
// is JSON, else a quantity whose unit suits the suffix of the key (_s, _Bps, _bytes, _Ps), else a
// string. --over also takes lists and ranges of quantities (base/quantity.hpp). Both throw
// UsageError if the text is invalid.
[[nodiscard]] Axis parse_over(std::string_view text);
[[nodiscard]] std::pair<std::string, io::Json> parse_set(std::string_view text);

// Splits a sweep over n independent processes: point k belongs to shard k mod n. n may exceed the
// number of points; a shard without points has a header only.
//     10 points, n = 3:   shard 0 = {0,3,6,9}   shard 1 = {1,4,7}   shard 2 = {2,5,8}
// Random numbers depend on the seed of a point and on its replication, never on the shard.

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
