// The hash is of a canonical text of the work: contents of files instead of names, numbers in one
// form, keys sorted, defaults filled in. But for collisions two sweeps with one hash have the same
// points with the same results.
#include "study/sweep/sweep.hpp"

#include "document/fields/written.hpp"
#include "document/json_text.hpp"
#include "run/collective_file.hpp"
#include "run/collective_keys.hpp"
#include "scenario/scenario_tree.hpp"

namespace stepsim::study {

namespace {

constexpr int kHashVersion = 1; // of the scenario schema

// Content of the file that the string at `pointer` names, or the string itself where it cannot be
// read: the points that use it will tell.
io::Json content_of(const io::Json& name, const std::string& pointer, Files& files) {
  try {
    return io::Json("content " + files.digest(name, pointer));
  } catch (const InputError&) {
    return name;
  }
}

// 1.25e9 and 1250000000 are one number.
io::Json canonical_number(const io::Json& json) {
  if (json.is_number() && !json.is_integer()) {
    const double value = json.as_double();
    if (value == std::floor(value) && std::abs(value) < 0x1p53) {
      return {static_cast<std::int64_t>(value)};
    }
  }
  return json;
}

// `json` stands at `pointer` of a scenario: file names become contents.
// `$schema` at the root is for editors and changes no result.
io::Json canonical(const io::Json& json, const std::string& pointer, Files& files) {
  if (json.is_string()) {
    return names_file(pointer) ? content_of(json, pointer, files) : json;
  }
  if (json.is_object()) {
    io::Object object;
    for (const auto& [key, value] : json.as_object()) {
      if (!(pointer.empty() && key == "$schema")) {
        object.emplace_back(key, canonical(value, pointer + "/" + io::escape_token(key), files));
      }
    }
    return {std::move(object)};
  }
  if (json.is_array()) {
    io::Array array;
    for (const io::Json& value : json.as_array()) {
      // Whether a text in a list names a file does not depend on its position.
      array.push_back(canonical(value, pointer + "/-", files));
    }
    return {std::move(array)};
  }
  return canonical_number(json);
}

// Keys of `under` that `over` does not have, in objects at every depth.
// What is written wins over the default.
void fill_in(io::Json& over, const io::Json& under) {
  if (!over.is_object() || !under.is_object()) {
    return;
  }
  for (const auto& [key, value] : under.as_object()) {
    if (io::Json* own = over.find(key)) {
      fill_in(*own, value);
    } else {
      over.set(key, value);
    }
  }
}

} // namespace

std::string grid_hash(const Sweep& sweep, Files& files) {
  const io::Json first = scenario_at(sweep.base, sweep.grid, 0);
  // The scenario as written, because a key that the first point ignores may matter to another, and
  // under it the defaults, so that writing a default does not make another sweep.
  io::Json scenario = canonical(first, "", files);
  try {
    const io::Json defaults = is_collective(first)
                                  ? io::defaults_of(keys::kCollectiveFile)
                                  : scenario_tree(parse_scenario(first, files, Leftovers::ignore));
    fill_in(scenario, canonical(defaults, "", files));
  } catch (const InputError&) { // the first point is one that fails
  } catch (const SimulationError&) {}
  io::Array axes = io::write_each(sweep.grid.axes, [&](const Axis& axis) {
    return io::Object{{"field", axis.pointer},
                      {"values", io::write_each(axis.values, [&](const io::Json& value) {
                         return canonical(value, axis.pointer, files);
                       })}};
  });
  return fnv1a(io::compact(io::Json(io::Object{{"schema_version", kHashVersion},
                                               {"scenario", std::move(scenario)},
                                               {"axes", std::move(axes)},
                                               {"zip", io::list_of(sweep.grid.zips)},
                                               {"replications", sweep.grid.replications}})));
}

} // namespace stepsim::study
