// A sweep is checked as far as it can be without running a point: axes by themselves, zips among
// axes, and whether each pointer leads into the scenario. What a value does to a scenario is only
// known at its points.
#include "study/sweep/sweep_file.hpp"

#include "document/json_text.hpp"
#include "document/kind_use.hpp"
#include "run/collective_record.hpp"
#include "scenario/scenario_tree.hpp"
#include "study/sweep/sweep_keys.hpp"

namespace stepsim::study {

namespace {

// steps values from..to, the last exactly `to`. Whole numbers stay whole where both ends are; of a
// key that takes integers all are rounded, and each is listed once.
// The last value is `to` as written, not what the steps sum up to.
std::vector<io::Json> spaced(const io::Json& from, const io::Json& to, std::int64_t steps,
                             bool logarithmic, bool integers) {
  std::vector<io::Json> values;
  values.reserve(static_cast<std::size_t>(steps));
  const double low = from.as_double();
  const double high = to.as_double();
  const bool whole = from.is_integer() && to.is_integer();
  for (std::int64_t i = 0; i < steps; ++i) {
    if (i + 1 == steps && steps > 1) {
      values.push_back(to);
      break;
    }
    const double share = i == 0 ? 0 : static_cast<double>(i) / static_cast<double>(steps - 1);
    const double value =
        logarithmic ? low * std::pow(high / low, share) : low + (high - low) * share;
    const double nearest = std::round(value);
    // 2, 4, 8, 16 in equal ratios come out of a power function, which may miss them by a few units
    // in the last place.
    if (whole && (integers || std::abs(value - nearest) <= 1e-9 * std::abs(value))) {
      values.emplace_back(static_cast<std::int64_t>(nearest));
    } else {
      // Sums and powers leave noise in the last digits: 1e-6 to 1e-4 in three steps has 1e-05 in
      // the middle.
      values.emplace_back(base::rounded_to(value, 15));
    }
  }
  if (integers && steps > 1) {
    values.erase(std::unique(values.begin(), values.end()), values.end());
  }
  return values;
}

// `from` and `to` with a unit of the field's key as numbers.
io::Json with_numeric_ends(io::Json axis) {
  const io::Json* field = axis.find("field");
  for (const std::string_view key : {"from", "to"}) {
    if (io::Json* end = axis.find(key); end != nullptr && field != nullptr && field->is_string()) {
      io::Json number = axis_value(field->as_string(), *end);
      number.set_origin(end->file_pointer(), end->pointer(), end->line());
      *end = std::move(number);
    }
  }
  return axis;
}

void parse_spaced(io::Fields& fields, Axis& axis) {
  io::Problems& problems = fields.problems();
  const bool logarithmic = fields.word("scale") == kAxisScales[1];
  const io::Range range = logarithmic ? io::above(0) : io::Range{};
  // Values are made only if nothing is wrong with this axis: a step count out of range could be
  // huge.
  const std::size_t before = problems.list().size();
  (void)fields.number("from", range);
  (void)fields.number("to", range);
  const std::int64_t steps = fields.integer("steps");
  const io::Json* from = fields.any("from");
  const io::Json* to = fields.any("to");
  // An axis that is no object, or a 21st problem, is not in the list.
  const bool numbers = from != nullptr && to != nullptr && from->is_number() && to->is_number();
  if (problems.list().size() == before && numbers) {
    axis.values =
        spaced(*from, *to, steps, logarithmic, takes_integers(axis.pointer).value_or(false));
  }
}

// The two forms are told apart by `values`; keys of the other form then get a message of their own.
Axis parse_axis(const io::Json& as_written, io::Problems& problems) {
  const io::Json json = with_numeric_ends(as_written);
  const bool listed = json.find("values") != nullptr && !json.find("values")->is_null();
  io::Fields fields(json, problems, keys::kAxisForms[listed ? 0 : 1]);
  Axis axis;
  axis.pointer = fields.string("field");
  if (fields.has("field") && !axis.pointer.empty() &&
      (!axis.pointer.starts_with('/') || axis.pointer.ends_with('/'))) {
    problems.add(json, "field",
                 "must be a JSON pointer such as /cluster/nodes, got " +
                     base::shown_value(axis.pointer));
  }
  if (listed) {
    const auto values = fields.array("values", true);
    axis.values = base::collected<io::Json>(
        values, [&](const io::Json& value) { return axis_value(axis.pointer, value); });
    if (fields.any("values")->is_array() && values.empty()) {
      problems.add(json, "values", "needs at least one value");
    }
    for (const std::string_view key : {"from", "to", "steps", "scale"}) {
      if (fields.any(key) != nullptr) {
        problems.add(json, key, "has no meaning beside values");
      }
    }
  } else {
    (void)fields.any("values");
    parse_spaced(fields, axis);
  }
  fields.no_more();
  return axis;
}

// An axis belongs to one zip at most.
void parse_zip(const io::Json& json, io::Problems& problems, Grid& grid) {
  if (!json.is_array() || json.as_array().size() < 2) {
    problems.add(json, "must be a list of at least two pointers");
    return;
  }
  std::vector<std::size_t> zip;
  for (const io::Json& pointer : json.as_array()) {
    const auto a = pointer.is_string() ? grid.axis_of(pointer.as_string()) : std::nullopt;
    if (!a) {
      problems.add(pointer, "must be the field of an axis");
      return;
    }
    const auto holds = [&](const auto& other) {
      return std::ranges::find(other, *a) != other.end();
    };
    if (holds(zip) || std::ranges::any_of(grid.zips, holds)) {
      problems.add(pointer, "zipped twice");
      return;
    }
    zip.push_back(*a);
  }
  add_zip(json, std::move(zip), problems, grid);
}

// Index of the second axis with the same field, or of none.
std::size_t repeated_axis(const Grid& grid) {
  std::size_t a = 0;
  while (a < grid.axes.size() && grid.axis_of(grid.axes[a].pointer) == a) {
    ++a;
  }
  return a;
}

// The first axis whose pointer leads nowhere in the scenario, with the reason.
// Axes up to a are applied together, because an axis may point into what an earlier one puts in.
std::pair<std::size_t, std::string> unusable_axis(const Sweep& sweep) {
  for (std::size_t a = 0; a < sweep.grid.axes.size(); ++a) {
    try {
      const Grid one{
          {sweep.grid.axes.begin(), sweep.grid.axes.begin() + static_cast<std::ptrdiff_t>(a) + 1},
          {},
          1};
      (void)scenario_at(sweep.base, one, 0);
    } catch (const UsageError& error) {
      return {a, error.what()};
    }
  }
  return {sweep.grid.axes.size(), ""};
}

} // namespace

// A delay is a member of the records where any point may have one.
io::Object Sweep::sample() const {
  if (!is_collective(base)) {
    return {};
  }
  constexpr std::string_view kDelay = "/network/delay_s";
  io::Json record = record_tree({});
  if (io::resolve(base, kDelay) != nullptr || grid.axis_of(kDelay)) {
    record.set("delay_s", nullptr);
  }
  if (has_library_keys()) {
    add_library_keys(record);
  }
  return record.as_object();
}

// An axis may set the algorithm, the node type or a key of the library.
bool Sweep::has_library_keys() const {
  return study::has_library_keys(base) || std::ranges::any_of(grid.axes, [](const Axis& axis) {
           return std::ranges::any_of(axis.values, [&](const io::Json& value) {
             const std::string pointer = axis.pointer.substr(0, axis.pointer.find('/', 1));
             return study::has_library_keys(with_value(io::Object{}, pointer, value));
           });
         });
}

void require_scenario(const Sweep& sweep) {
  if (is_collective(sweep.base)) {
    throw InputError(std::string(sweep.base.file()), "/kind",
                     io::use_of_kind("collective")->text());
  }
}

// Files without a kind are told by their axes.
bool is_sweep(const io::Json& tree) {
  return tree.text("kind") == "sweep" ||
         (tree.find("kind") == nullptr && tree.find("axes") != nullptr);
}

void add_zip(const io::Json& json, std::vector<std::size_t> axes, io::Problems& problems,
             Grid& grid) {
  const Axis& first = grid.axes[axes.front()];
  for (const std::size_t a : axes) {
    if (grid.axes[a].values.size() != first.values.size()) {
      problems.refuse(json, "zipped axes need equal lengths: {} has {}, {} has {}", first.pointer,
                      first.values.size(), grid.axes[a].pointer, grid.axes[a].values.size());
      return;
    }
  }
  grid.zips.push_back(std::move(axes));
}

Sweep parse_sweep(const io::Json& tree) {
  io::FileFields fields(tree, keys::kSweepRoot);
  io::Problems& problems = fields.problems();
  Sweep sweep;
  const io::Json* scenario = fields.any("scenario");
  if (scenario == nullptr) {
    fields.refuse("scenario", "required");
  } else if (!scenario->is_string() && !scenario->is_object()) {
    problems.add(*scenario, "must be a file name or a scenario");
  }
  const auto axes = fields.array("axes", true);
  sweep.grid.axes =
      base::collected<Axis>(axes, [&](const io::Json& json) { return parse_axis(json, problems); });
  if (const io::Json* json = fields.any("axes");
      json != nullptr && json->is_array() && axes.empty()) {
    problems.add(*json, "needs at least one axis");
  }
  if (const std::size_t a = repeated_axis(sweep.grid); a < sweep.grid.axes.size()) {
    problems.add(axes[a], "field", "is the field of an earlier axis too");
  }
  for (const io::Json& zip : fields.array("zip", false)) {
    parse_zip(zip, problems, sweep.grid);
  }
  sweep.grid.replications = fields.integer("replications");
  fields.finish();

  try {
    (void)sweep.grid.points();
  } catch (const UsageError& error) {
    fields.refuse("axes", error.what());
    problems.throw_if_any();
  }
  io::Json base = scenario->is_string() ? read_named(path_of(*scenario), *scenario) : *scenario;
  sweep.base = with_short_forms_expanded(std::move(base));
  if (sweep.grid.replications > 1 && is_collective(sweep.base)) {
    fields.refuse("replications", "has no meaning for a collective: nothing in it is random");
    problems.throw_if_any();
  }
  if (const auto [a, reason] = unusable_axis(sweep); a < sweep.grid.axes.size()) {
    problems.add(axes[a], "field", reason);
    problems.throw_if_any();
  }
  return sweep;
}

Sweep sweep_over(const io::Json& scenario, std::vector<Axis> axes) {
  Sweep sweep{with_short_forms_expanded(scenario), {std::move(axes), {}, 1}};
  if (const std::size_t a = repeated_axis(sweep.grid); a < sweep.grid.axes.size()) {
    throw UsageError("--over " + sweep.grid.axes[a].pointer + ": given twice");
  }
  (void)sweep.grid.points();
  if (const auto [a, reason] = unusable_axis(sweep); a < sweep.grid.axes.size()) {
    throw UsageError("--over " + sweep.grid.axes[a].pointer + ": " + reason);
  }
  return sweep;
}

} // namespace stepsim::study
