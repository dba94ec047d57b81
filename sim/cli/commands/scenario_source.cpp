// A result holds its scenario fully resolved, and a sweep its base scenario and axes in the header:
// both can be run again from the file alone.
#include "cli/commands/scenario_input.hpp"

#include "cli/shell/flag_values.hpp"
#include "document/json_text.hpp"
#include "import/import_detect.hpp"
#include "scenario/rules.hpp"

namespace stepsim::cli {

namespace {

// The record of a point, to be compared with a new run; null if the file has none. Records of a CSV
// file are not parsed: without types their values could not be compared.
io::Json record_of(study::RowReader& reader, study::RecordFormat format, std::int64_t point) {
  std::string_view row;
  while (reader.next(row, format)) {
    if (study::record_mark(row, format).point == point) {
      return format == study::RecordFormat::jsonl ? io::parse_json(row, "") : io::Json();
    }
  }
  return {};
}

// The digests of named files in a result or a header; null in those of earlier versions.
io::Json files_of(const io::Json& tree) {
  const io::Json* files = tree.find("files");
  return files == nullptr ? io::Json() : *files;
}

// The header holds scenario and axes, so that a point is made in the same way as when it was run.
ScenarioSource point_of(const std::string& file, const std::string& point,
                        const std::string& data_folder) {
  study::RowReader reader(file);
  const std::optional<study::SweepHeader> header = study::read_sweep_header(reader);
  if (!header) {
    throw InputError(file, "", "no complete header");
  }
  const io::Json files = files_of(header->json);
  study::Sweep sweep = study::sweep_of_header(header->json);
  study::find_named_files(sweep.base, files, data_folder);
  const std::int64_t points = sweep.grid.points();
  const std::string range = "0.." + std::to_string(points - 1);
  if (point.empty()) {
    throw UsageError(file + " holds the points " + range + " of a sweep: give --point N");
  }
  const std::int64_t wanted = count("--point", point, io::at_least(0));
  if (wanted >= points) {
    throw UsageError("--point " + point + ": " + file + " has the points " + range);
  }
  return {study::scenario_at(sweep.base, sweep.grid, wanted),
          record_of(reader, header->format, wanted), wanted % sweep.grid.replications, files};
}

// Takes the member that `pointer` leads to out of its object if it has this value; of a larger
// object the members that have. Adds what went to `taken`.
void take_out(io::Json& tree, const std::string& pointer, const io::Json& value,
              std::vector<std::pair<std::string, io::Json>>& taken) {
  const io::Json* found = io::resolve(tree, pointer);
  if (found == nullptr || io::compact(*found) != io::compact(value)) {
    for (const auto& [key, member] : value.is_object() ? value.as_object() : io::Object()) {
      take_out(tree, pointer + "/" + io::escape_token(key), member, taken);
    }
    return;
  }
  taken.emplace_back(pointer, *found);
  study::drop_key(tree, pointer);
}

// A result lists its defaults. Their keys are left open again, so that a run of it lists them, too;
// but not if they would have other values now.
void open_defaults(io::Json& scenario, const io::Json& defaults, const std::string& data_folder) {
  std::vector<std::pair<std::string, io::Json>> taken;
  study::Files files(data_folder);
  const auto resolved = [&] { // as text: 0 may be a whole number or not
    return io::compact(
        study::scenario_tree(study::parse_scenario(scenario, files, study::Leftovers::ignore),
                             study::LayerList::left_out));
  };
  try {
    const std::string before = resolved();
    for (const io::Json& each : defaults.as_array()) {
      if (const io::Json* value = each.find("value")) {
        take_out(scenario, each.text("pointer"), *value, taken);
      }
    }
    if (resolved() == before) {
      return;
    }
  } catch (const InputError&) { // whoever reads the scenario tells it
  }
  for (auto& [pointer, value] : taken) {
    io::assign(scenario, pointer, std::move(value));
  }
}

} // namespace

// A file of another program is refused with the command that imports it, instead of with errors of
// a parser that expects a scenario.
ScenarioSource read_scenario_source(const std::string& file, const std::string& point,
                                    const std::string& data_folder) {
  if (file != "-") {
    const std::string head = io::head_of(file);
    if (study::is_sweep_output(head)) {
      return point_of(file, point, data_folder);
    }
    if (const auto detected = io::detect_format(head); detected.format) {
      throw InputError(file, "", io::import_first(*detected.format));
    }
  }
  if (!point.empty()) {
    throw UsageError("--point: " + file + " is not the output of a sweep");
  }
  return scenario_in(io::read_json(file), data_folder);
}

ScenarioSource scenario_in(io::Json tree, const std::string& data_folder) {
  const io::Json* kind = tree.find("kind");
  const io::Json* inside = tree.find("scenario");
  if (kind != nullptr && *kind == io::Json("result") && inside != nullptr) {
    ScenarioSource source{study::with_short_forms_expanded(*inside), {}, 0, files_of(tree)};
    study::find_named_files(source.tree, source.files, data_folder);
    if (const io::Json* defaults = tree.find("defaults");
        defaults != nullptr && defaults->is_array()) {
      open_defaults(source.tree, *defaults, data_folder);
    }
    return source;
  }
  return {study::with_short_forms_expanded(std::move(tree)), {}, 0, {}};
}

} // namespace stepsim::cli
