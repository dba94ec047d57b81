// One set of parameters for all shapes and operations of a cluster. What the fit is worth is
// measured by refits that leave out one shape each, and a user can make that a target.
#include "calibrate/program/fit_library_command.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "base/percent.hpp"
#include "calibrate/core/library_fit.hpp"
#include "calibrate/core/library_measurements.hpp"
#include "calibrate/cuda/gpu_samples.hpp"
#include "calibrate/program/fit_library_text.hpp"
#include "calibrate/program/program.hpp"
#include "calibrate/program/targets.hpp"
#include "cli/shell/entry.hpp"
#include "cli/shell/flag_values.hpp"
#include "cli/shell/output.hpp"
#include "cli/shell/version.hpp"
#include "document/json_text.hpp"
#include "scenario/files/import_source.hpp"
#include "scenario/files/library_file.hpp"
#include "scenario/files/node_file.hpp"

namespace stepsim::calibrate {

namespace {

constexpr std::size_t kFewestPoints = 6;

constexpr cli::CommandText kFitLibraryText{
    "fit-library",
    "LOG|FOLDER|CSV... --preset NAME -o CAL",
    "Fits the model of NCCL to logs of nccl-tests or rccl-tests of several shapes (nodes x GPUs "
    "per\n"
    "node), or to records of `stepsim-calibrate cuda --mpi --backend nccl --records FILE`.\n"
    "Prints the parameters, the errors, and the errors on each shape when it is left out of the "
    "fit.\n"
    "Where these exceed --max-median or --max-p90: exit 4.",
    "stepsim-calibrate fit-library logs/ --preset dgx_h100 -o cluster.library.json\n"
    "stepsim-calibrate fit-library one.log ten.log --preset p5 --max-median 5% -o p5.library.json\n"
    "stepsim-calibrate fit-library times.csv --system lab --preset dgx_a100 -o lab.json --json",
    "The node types: stepsim topologies list. The file is of kind library_calibration.",
    cli::kJsonOnly,
    kProgram,
};

struct LibraryFlags { // as typed; an empty text means that the flag was not given
  std::vector<std::string> files;
  std::string preset, library = "nccl", version, system, shape, op, max_median, max_p90;
  bool force = false;
};

void add_library_flags(CLI::App& app, LibraryFlags& flags) {
  app.add_option("FILES", flags.files, "logs, folders of logs, or a table of measurements in CSV")
      ->required();
  const auto add = [&](const char* name, std::string& value, const char* type, const char* text) {
    app.add_option(name, value, text)->type_name(type);
  };
  add("--preset", flags.preset, "NAME", "node type, shipped or a file (required)");
  add("--name", flags.library, "WORD", "library that was measured; default nccl");
  add("--library-version", flags.version, "V", "release of the library; default 2.30");
  add("--system", flags.system, "NAME", "of a table with several systems");
  add("--shape", flags.shape, "NxG", "of logs that do not list their devices");
  add("--op", flags.op, "OP", "only this operation; of logs that do not say");
  add("--max-median", flags.max_median, "RATIO", "largest median error on shapes left out");
  add("--max-p90", flags.max_p90, "RATIO", "largest 90th percentile of the same errors");
  app.add_flag("--force", flags.force, "take logs of different GPUs together");
}

// "10x8". Throws UsageError.
nccl::Shape parse_shape(const std::string& text) {
  nccl::Shape shape;
  const std::size_t cross = text.find('x');
  const auto whole = [&](std::string_view part, std::uint32_t& value) {
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    return error == std::errc{} && end == part.data() + part.size() && value > 0;
  };
  const std::string_view all(text);
  if (cross == std::string::npos || !whole(all.substr(0, cross), shape.nodes) ||
      !whole(all.substr(cross + 1), shape.gpus)) {
    throw UsageError("--shape: must be NODESxGPUS, such as 10x8, got " + base::shown_value(text));
  }
  return shape;
}

MeasurementOptions measurement_options(const LibraryFlags& flags, std::string importer) {
  MeasurementOptions options;
  if (!flags.system.empty()) {
    options.system = flags.system;
  }
  if (!flags.op.empty()) {
    cli::require_word("--op", flags.op, nccl::kOperations.all());
    options.operation = nccl::kOperations.find(flags.op);
  }
  if (!flags.shape.empty()) {
    options.shape = parse_shape(flags.shape);
  }
  options.several_devices = flags.force;
  options.importer = std::move(importer);
  options.other = [](const std::string& text,
                     const std::string& file) -> std::optional<io::Samples> {
    if (!gpu::looks_like_gpu_samples(text)) {
      return std::nullopt;
    }
    io::Samples samples = gpu::nccl_samples(gpu::parse_gpu_samples(text, file));
    if (samples.sets.empty()) {
      throw InputError(file, "", "no times of NCCL; measure with --backend nccl");
    }
    return samples;
  };
  return options;
}

// Points that the node type cannot have are an error of the input, with the reason.
LibraryFit fit_of(const LibraryFlags& flags, const LibraryMeasurements& measured,
                  const nccl::NodeType& node) {
  if (measured.points.size() < kFewestPoints) {
    throw InputError(flags.files.front(), "",
                     "a fit needs at least " + std::to_string(kFewestPoints) + " points, got " +
                         std::to_string(measured.points.size()));
  }
  const nccl::Version version =
      flags.version.empty() ? nccl::kPublishedVersion : nccl::parse_version(flags.version);
  for (const nccl::MeasuredPoint& point : measured.points) {
    try {
      (void)nccl::layout_of(node, point.shape);
    } catch (const UsageError& error) {
      throw InputError(flags.files.front(), "", error.what());
    }
  }
  return fit_library(node, measured.points, version);
}

// Shares of the preset's nominal rates, where the measurements determine the rate. More than the
// nominal rate is an error of the data sheet or of the fit, and no share.
std::vector<io::SourcedNumber> nominal_shares(const io::NodePreset& preset, const LibraryFit& fit,
                                              const nccl::Calibration& calibration) {
  std::vector<io::SourcedNumber> shares;
  const auto add = [&](const char* key, std::optional<double> nominal, double rate,
                       nccl::Parameter parameter) {
    const auto i = static_cast<std::size_t>(parameter);
    if (!nominal || fit.from_prior[i]) {
      return;
    }
    const base::Interval factor = io::parameter_interval(calibration, parameter);
    const double value =
        rate * nccl::factor(parameter, calibration.fitted.parameters[i]) / *nominal;
    if (value <= 1) {
      shares.push_back({.key = key,
                        .value = value,
                        .low = std::min(value, rate * factor.low / *nominal),
                        .high = std::clamp(rate * factor.high / *nominal, value, 1.0),
                        .label = "fitted",
                        .source = calibration.fitted.name});
    }
  };
  add("link", preset.link_nominal_Bps, preset.node.ring_Bps, nccl::Parameter::bw_nvl);
  add("nic", preset.nic_nominal_Bps, preset.node.nic_Bps, nccl::Parameter::bw_nic);
  return shares;
}

// Whether the errors on shapes that were left out are as small as was asked for.
bool within_targets(const LibraryFlags& flags, const ErrorNumbers& pooled) {
  const auto median = largest_allowed("--max-median", flags.max_median);
  const auto p90 = largest_allowed("--max-p90", flags.max_p90);
  if (pooled.points == 0) {
    return !median && !p90; // nothing was left out: a target without errors is missed
  }
  return !(median && pooled.median > *median) && !(p90 && pooled.p90 > *p90);
}

} // namespace

int fit_library_model(const cli::Invocation& invocation) {
  LibraryFlags flags;
  CLI::App app;
  add_library_flags(app, flags);
  cli::Common common;
  if (!cli::parse(app, kFitLibraryText, invocation, common)) {
    return cli::kOk;
  }
  if (flags.preset.empty()) {
    throw UsageError("--preset is required: the node type that was measured");
  }
  constexpr std::array<std::string_view, 1> kLibraries{"nccl"};
  cli::require_word("--name", flags.library, kLibraries);
  const MeasurementOptions options =
      measurement_options(flags, std::string(kProgram) + " " + std::string(cli::version()));
  const io::NodePreset preset = io::read_node_preset(cli::find_data_folder(), flags.preset);
  const LibraryMeasurements measured = read_measurements(flags.files, options);
  LibraryFit fit = fit_of(flags, measured, preset.node);
  fit.fitted.name = common.output == "-" ? preset.node.name : io::stem_of(common.output);
  const nccl::Calibration calibration = nccl::calibration_of(fit.fitted);
  const LibraryReport report = report_library(fit, calibration);

  io::LibraryFile file;
  file.fitted = calibration.fitted;
  file.from_prior = fit.from_prior;
  file.of_nominal = nominal_shares(preset, fit, calibration);
  file.sources.assign(measured.sources.begin(), measured.sources.end());
  file.warnings = library_warnings(fit);
  // The file is JSON in any case; --json is about what is said beside it.
  cli::print_beside(common.json ? io::pretty(report_json(report))
                                : library_text(fit, calibration, report),
                    common);
  std::vector<std::string> warnings = measured.warnings;
  if (measured.skipped > 0) {
    warnings.push_back(std::to_string(measured.skipped) +
                       " rows without a usable operation, size or time were left out");
  }
  warnings.insert(warnings.end(), file.warnings.begin(), file.warnings.end());
  cli::print_warnings(warnings, common);
  cli::write_tree(common, io::to_json(file, calibration));
  if (within_targets(flags, report.pooled)) {
    return cli::kOk;
  }
  if (report.pooled.points == 0) {
    return cli::report_error("nothing was left out of the fit, so that its errors are unknown",
                             cli::kTargetNotMet);
  }
  return cli::report_error("errors on what was left out of the fit: median " +
                               base::percent(report.pooled.median) + ", p90 " +
                               base::percent(report.pooled.p90),
                           cli::kTargetNotMet);
}

} // namespace stepsim::calibrate
