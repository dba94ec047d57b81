#pragma once
// A study varies fields of a scenario or of a collective and nothing else. An axis is a JSON
// pointer with its values; a grid is all combinations, the first axis slowest, zipped axes moving
// together (IO 14). A point number decodes to one value per axis, so that a grid of any size costs
// no memory.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/json.hpp"

namespace stepsim::study {

inline constexpr std::int64_t kMostReplications = 1'000'000'000;

// Values remember the file that they were written in, because names of files in them are relative
// to it.
struct Axis {
  std::string pointer;          // "/cluster/nodes"
  std::vector<io::Json> values; // at least one
};

struct Grid {
  std::vector<Axis> axes;
  std::vector<std::vector<std::size_t>> zips; // indices of axes that move together
  std::int64_t replications = 1;              // points per combination, next to each other

  // Of all combinations, replications included. Throws UsageError as `strides` does.
  [[nodiscard]] std::int64_t points() const;
  // [0] = points, [a + 1] = how many points apart two neighbouring values of axis a are:
  // position[a] = (point / strides[a + 1]) mod values. Throws UsageError beyond 2^63 points.
  [[nodiscard]] std::vector<std::int64_t> strides() const;
  // Index into `values` per axis.
  [[nodiscard]] std::vector<std::size_t> position(std::int64_t point) const;
  // Name of each varied field in flat records: last token of its pointer, the whole pointer where
  // two names, or a name and another column of the record, would be equal. `taken`: columns that
  // the record has beside those of a run.
  [[nodiscard]] std::vector<std::string> field_names(const io::Object& taken = {}) const;

  // The axis of a pointer; empty where it is not varied.
  [[nodiscard]] std::optional<std::size_t> axis_of(std::string_view pointer) const;
  // The points that differ from `point` in that axis (and those zipped with it) only, itself
  // included, in the order of the axis.
  [[nodiscard]] std::vector<std::int64_t> along(std::size_t axis, std::int64_t point) const;
};

// A value of an axis as records hold it: a text that is a quantity with a unit of the axis's key,
// or a percentage where the key has no unit, is a number.
[[nodiscard]] io::Json axis_value(std::string_view pointer, const io::Json& value);

// The tree of the base with the point's values set. Names of files in it stay relative to the file
// that the axis was written in (to the working directory if it came from a flag).
[[nodiscard]] io::Json scenario_at(const io::Json& base, const Grid& grid, std::int64_t point);

} // namespace stepsim::study
