// A grid is never written out: the number of a point is read as a number of mixed radix, whose
// digits are the positions on the axes. Memory is that of the axes, whatever the number of points.
#include "study/sweep/grid.hpp"

#include <array>
#include <optional>

#include "base/error.hpp"
#include "base/quantity.hpp"
#include "document/json_text.hpp"
#include "run/summary_fields.hpp"
#include "scenario/scenario.hpp"
#include "scenario/scenario_tree.hpp"

namespace stepsim::study {

// Replications are the fastest digit, so that the runs of one point lie next to each other. Axes of
// a zip share the digit of their first one.
std::vector<std::int64_t> Grid::strides() const {
  // Leader of an axis: the first axis of its zip, else itself. Only leaders count as dimensions.
  std::vector<std::size_t> leader(axes.size());
  for (std::size_t a = 0; a < axes.size(); ++a) {
    leader[a] = a;
  }
  for (const auto& zip : zips) {
    for (const std::size_t a : zip) {
      leader[a] = *std::min_element(zip.begin(), zip.end());
    }
  }
  std::vector<std::int64_t> result(axes.size() + 1);
  std::int64_t stride = replications;
  for (std::size_t a = axes.size(); a-- > 0;) {
    if (leader[a] == a) {
      result[a + 1] = stride;
      if (__builtin_mul_overflow(stride, static_cast<std::int64_t>(axes[a].values.size()),
                                 &stride)) {
        throw UsageError("the grid has more than 2^63 points");
      }
    }
  }
  for (std::size_t a = 0; a < axes.size(); ++a) {
    result[a + 1] = result[leader[a] + 1];
  }
  result[0] = stride;
  return result;
}

std::int64_t Grid::points() const { return strides()[0]; }

std::vector<std::size_t> Grid::position(std::int64_t point) const {
  const std::vector<std::int64_t> stride = strides();
  std::vector<std::size_t> result(axes.size());
  for (std::size_t a = 0; a < axes.size(); ++a) {
    result[a] = static_cast<std::size_t>(point / stride[a + 1]) % axes[a].values.size();
  }
  return result;
}

// A record has the columns of sweeps and the figures of runs beside the varied fields; a field with
// one of those names would be two columns under one key, so that it gets its whole pointer.
std::vector<std::string> Grid::field_names(const io::Object& further) const {
  static constexpr std::array<std::string_view, 6> kReserved{"record", "point", "status",
                                                             "method", "error", "replication"};
  std::vector<std::string> last;
  for (const Axis& axis : axes) {
    const auto tokens = io::pointer_tokens(axis.pointer);
    last.push_back(tokens.empty() ? std::string() : tokens.back());
  }
  std::vector<std::string> taken(kReserved.begin(), kReserved.end());
  for (const SummaryField& field : kSummaryFields) {
    taken.emplace_back(field.key);
  }
  for (const auto& [key, value] : further) {
    taken.push_back(key);
  }
  std::vector<std::string> names = last;
  for (std::size_t a = 0; a < names.size(); ++a) {
    if (std::count(last.begin(), last.end(), last[a]) > 1 ||
        std::find(taken.begin(), taken.end(), last[a]) != taken.end()) {
      names[a] = axes[a].pointer;
    }
  }
  return names;
}

std::optional<std::size_t> Grid::axis_of(std::string_view pointer) const {
  const auto found = std::ranges::find(axes, pointer, &Axis::pointer);
  return found == axes.end() ? std::nullopt
                             : std::optional(static_cast<std::size_t>(found - axes.begin()));
}

// The digit of the axis runs through its values while all others stay.
std::vector<std::int64_t> Grid::along(std::size_t axis, std::int64_t point) const {
  const std::int64_t stride = strides()[axis + 1];
  const auto size = static_cast<std::int64_t>(axes[axis].values.size());
  const std::int64_t first = point - point / stride % size * stride;
  std::vector<std::int64_t> points;
  for (std::int64_t i = 0; i < size; ++i) {
    points.push_back(first + i * stride);
  }
  return points;
}

namespace {

// Names of files stay relative to the file that the value was written in. `placed` is `value` in
// its place, a short form written out.
void keep_files(io::Json& placed, const io::Json& value, const std::string& pointer) {
  // The short form of an object, such as a file name for a network, has been expanded: the name now
  // stands one level further down.
  if (value.is_string() && placed.is_object()) {
    if (const auto key = short_form_key(pointer)) {
      keep_files(*placed.find(*key), value, pointer + "/" + std::string(*key));
    }
  } else if (value.is_string() && names_file(pointer)) {
    placed.set_origin(value.file_pointer(), pointer, 0);
  } else if (value.is_object()) {
    for (const auto& [key, member] : value.as_object()) {
      if (io::Json* same = placed.find(key)) {
        keep_files(*same, member, pointer + "/" + io::escape_token(key));
      }
    }
  } else if (value.is_array() && placed.is_array()) {
    for (std::size_t i = 0; i < value.as_array().size(); ++i) {
      keep_files(placed.as_array()[i], value.as_array()[i], pointer + "/" + std::to_string(i));
    }
  }
}

} // namespace

io::Json axis_value(std::string_view pointer, const io::Json& value) {
  if (!value.is_string()) {
    return io::with_numbers(value);
  }
  return io::quantity_at(pointer, value.as_string()).value_or(value);
}

// Axes are applied in their order, so that a later one can vary a part of what an earlier one puts
// in.
io::Json scenario_at(const io::Json& base, const Grid& grid, std::int64_t point) {
  io::Json tree = base;
  const std::vector<std::size_t> position = grid.position(point);
  for (std::size_t a = 0; a < grid.axes.size(); ++a) {
    const Axis& axis = grid.axes[a];
    const io::Json& value = axis.values[position[a]];
    keep_files(io::assign(tree, axis.pointer, value), value, axis.pointer);
    // Expanded after every axis: the next one may point into the object that this one gave in
    // short.
    if (may_hold_short_form(axis.pointer)) {
      tree = with_short_forms_expanded(std::move(tree));
    }
  }
  return tree;
}

// Shards are told by the user or by the environment of a job. Anything irregular is refused: a
// guess that is wrong would leave points out or compute them twice, which shows only when the
// shards are merged.

namespace {

std::optional<std::int64_t> whole_number(std::string_view text) {
  const auto value = base::parse_number<std::int64_t>(text);
  return value && *value >= 0 ? value : std::nullopt;
}

Shard checked(std::int64_t index, std::int64_t count, const std::string& text) {
  if (count < 1) {
    throw UsageError("--shard " + text + ": needs at least one shard");
  }
  if (count > kMostShards) {
    throw UsageError("--shard " + text + ": more than " + std::to_string(kMostShards) + " shards");
  }
  if (index < 0 || index >= count) {
    throw UsageError("--shard " + text + ": index must be 0.." + std::to_string(count - 1));
  }
  return {index, count};
}

// A variable that must be there and be a whole number.
// A batch system sets all of its variables; if one is missing, something else has set the others.
std::int64_t variable(const Environment& environment, const std::string& name) {
  const char* text = environment(name.c_str());
  if (text == nullptr) {
    throw UsageError("--shard auto: " + name + " is not set: give --shard explicitly");
  }
  const auto value = whole_number(text);
  if (!value) {
    throw UsageError("--shard auto: " + name + "=" + base::shown_value(text) +
                     " is no whole number: give --shard explicitly");
  }
  return *value;
}

// An array such as 0-9:2 has its tasks in equal steps; lists such as 1,5,7 have not, and the
// position of a task in them cannot be computed from its number.
std::optional<Shard> array_part(const Environment& environment) {
  if (environment("SLURM_ARRAY_TASK_ID") == nullptr) {
    return std::nullopt;
  }
  const std::int64_t id = variable(environment, "SLURM_ARRAY_TASK_ID");
  const std::int64_t min = variable(environment, "SLURM_ARRAY_TASK_MIN");
  const std::int64_t max = variable(environment, "SLURM_ARRAY_TASK_MAX");
  const std::int64_t step = variable(environment, "SLURM_ARRAY_TASK_STEP");
  const std::int64_t count = variable(environment, "SLURM_ARRAY_TASK_COUNT");
  const bool regular = step >= 1 && id >= min && id <= max && (id - min) % step == 0 &&
                       (max - min) / step + 1 == count;
  if (!regular) {
    throw UsageError("--shard auto: the job array is no regular range (task " + std::to_string(id) +
                     " of " + std::to_string(min) + ".." + std::to_string(max) + ", step " +
                     std::to_string(step) + ", " + std::to_string(count) +
                     " tasks): give --shard explicitly");
  }
  return Shard{(id - min) / step, count};
}

// Not SLURM_NTASKS: in a batch script started with -n 2 it is 2 while one process runs.
// A launcher may start several processes per array task; each is a shard of its own.
std::optional<Shard> rank_part(const Environment& environment) {
  static constexpr std::array<std::array<const char*, 2>, 3> kLaunchers{
      {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
       {"PMI_RANK", "PMI_SIZE"},
       {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}}};
  for (const auto& [rank, size] : kLaunchers) {
    if (environment(rank) != nullptr && environment(size) != nullptr) {
      return checked(variable(environment, rank), variable(environment, size),
                     std::string("auto (") + rank + ", " + size + ")");
    }
  }
  return std::nullopt;
}

} // namespace

Shard parse_shard(std::string_view text) {
  const std::string shown = base::shown_value(text);
  const std::size_t slash = text.find('/');
  const auto index = whole_number(text.substr(0, slash));
  const auto count =
      slash == std::string_view::npos ? std::nullopt : whole_number(text.substr(slash + 1));
  if (!index || !count) {
    throw UsageError("--shard " + shown + ": must be INDEX/COUNT (0/4) or auto");
  }
  return checked(*index, *count, shown);
}

Shard shard_from_environment(const Environment& environment) {
  const auto array = array_part(environment);
  const auto rank = rank_part(environment);
  if (!array && !rank) {
    throw UsageError("--shard auto: neither a job array nor an MPI launcher in the environment: "
                     "give --shard explicitly");
  }
  const Shard a = array.value_or(Shard{});
  const Shard s = rank.value_or(Shard{});
  std::int64_t count{};
  if (__builtin_mul_overflow(a.count, s.count, &count) || count > kMostShards) {
    throw UsageError("--shard auto: too many shards");
  }
  return {a.index * s.count + s.index, count};
}

// Different shards must never write to the same file, so that the name is changed even if it holds
// no "{shard}". A leading dot of a hidden file is no extension.
std::string shard_file_name(const std::string& name, const Shard& shard) {
  const std::string text = std::to_string(shard.index) + "-of-" + std::to_string(shard.count);
  static constexpr std::string_view kPlace = "{shard}";
  std::string result = name;
  if (result.find(kPlace) != std::string::npos) {
    for (std::size_t at = result.find(kPlace); at != std::string::npos;
         at = result.find(kPlace, at + text.size())) {
      result.replace(at, kPlace.size(), text);
    }
    return result;
  }
  if (shard.count == 1 || name == "-") {
    return name;
  }
  const std::size_t slash = name.rfind('/');
  const std::size_t base_begin = slash == std::string::npos ? 0 : slash + 1;
  const std::size_t dot = name.rfind('.');
  const bool has_extension = dot != std::string::npos && dot > base_begin;
  result.insert(has_extension ? dot : name.size(), ".shard-" + text);
  return result;
}

} // namespace stepsim::study
