// A result holds its scenario fully resolved, and a sweep its base scenario and axes in the header:
// both can be run again from the file alone.
#include "cli/commands/scenario_input.hpp"

#include "cli/shell/flag_values.hpp"
#include "document/json_text.hpp"
#include "import/import_detect.hpp"
#include "scenario/short_forms.hpp"
#include "study/sweep/sweep_output.hpp"

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

// What a file of another kind is for, which is more use than a list of keys that it lacks.
void refuse_by_use(const std::string& file, std::string_view kind) {
  struct Use {
    std::string_view kind;
    std::string_view advice;
  };
  static constexpr std::array kUses{
      Use{"trace", "name it at /workload/trace of a scenario"},
      Use{"model", "name it at /workload/model of a scenario"},
      Use{"topology", "name it at /cluster/topology of a scenario"},
      Use{"network_calibration", "name it at /cluster/network/calibration of a scenario"},
      Use{"cost", "name it at /cluster/network/cost of a scenario"},
      Use{"sweep", "stepsim sweep runs it; plot and report read the records that it writes"},
      Use{"problem", "stepsim plan reads it"},
      Use{"links", "stepsim collective --links reads it"},
      Use{"sparse_semantics", "stepsim semantics runs it"},
      Use{"compression_breakeven",
          "stepsim compare FILE --break-even reads it, without --over, --algorithms and --rows"},
      Use{"samples", "stepsim-calibrate fit makes a calibration of it"}};
  const auto* use = std::ranges::find(kUses, kind, &Use::kind);
  if (use != kUses.end()) {
    throw InputError(file, "/kind",
                     "this is a file of kind " + std::string(kind) + ": " +
                         std::string(use->advice));
  }
}

} // namespace

// A file of another program is refused with the command that imports it, instead of with errors of
// a parser that expects a scenario.
ScenarioSource read_scenario_source(const std::string& file, const std::string& point,
                                    const std::string& data_folder, std::string_view other_kind) {
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
  io::Json tree = io::read_json(file);
  const io::Json* kind = tree.find("kind");
  const io::Json* inside = tree.find("scenario");
  if (kind != nullptr && *kind == io::Json("result") && inside != nullptr) {
    ScenarioSource source{study::with_short_forms_expanded(*inside), {}, 0, files_of(tree)};
    study::find_named_files(source.tree, source.files, data_folder);
    return source;
  }
  if (kind != nullptr && kind->is_string() && kind->as_string() != other_kind) {
    refuse_by_use(file, kind->as_string());
  }
  return {study::with_short_forms_expanded(std::move(tree)), {}, 0, {}};
}

} // namespace stepsim::cli
