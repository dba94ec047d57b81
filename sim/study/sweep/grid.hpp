#pragma once
// The grid of a sweep, which varies fields of a scenario or of a collective. An axis is a JSON
// pointer with its values. A grid has all combinations of the values; the first axis varies slowest
// and zipped axes vary together (IO 14). The values at a point are computed from its number, so
// that a grid of any size takes no memory.
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

} // namespace stepsim::study
