// A grid is never written out: the number of a point is read as a number of mixed radix, whose
// digits are the positions on the axes. Memory is that of the axes, whatever the number of points.
#include "study/sweep/grid.hpp"

#include <array>

#include "document/json_text.hpp"
#include "run/collective_keys.hpp"
#include "run/summary_fields.hpp"
#include "scenario/scenario_tree.hpp"

namespace stepsim::study {

// Replications are the fastest digit, so that the runs of one point lie next to each other. Axes of
// a zip share the digit of their first one.
std::vector<std::int64_t> Grid::strides() const {
  // Leader of an axis: the first axis of its zip, else itself. Only leaders count as dimensions.
  std::vector<std::size_t> leader(axes.size());
  std::iota(leader.begin(), leader.end(), std::size_t{0});
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
  return base::collected_n<std::int64_t>(size, [&](std::int64_t i) { return first + i * stride; });
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

std::optional<bool> takes_integers(std::string_view pointer) {
  for (const io::Key* root : {&keys::kScenario, &keys::kCollectiveFile}) {
    if (const io::Key* key = io::key_at(*root, pointer)) {
      const auto has = [&](io::KeyKind kind) {
        return key->kind == kind || (key->kind == io::KeyKind::either &&
                                     std::ranges::count(key->keys, kind, &io::Key::kind) > 0);
      };
      return has(io::KeyKind::integer) && !has(io::KeyKind::number);
    }
  }
  return std::nullopt;
}

io::Json with_value(io::Json tree, std::string_view pointer, io::Json value) {
  io::assign(tree, pointer, std::move(value));
  return tree;
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

} // namespace stepsim::study
