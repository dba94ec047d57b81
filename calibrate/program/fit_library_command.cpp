// One set of parameters for all shapes and operations of a cluster. What the fit is worth is
// measured by refits that leave out one shape each, and a user can make that a target.
#include "calibrate/program/program.hpp"

#include <CLI/CLI.hpp>

#include "calibrate/program/fit_parts.hpp"
#include "cli/shell/entry.hpp"
#include "cli/shell/flag_values.hpp"
#include "cli/shell/output.hpp"
#include "document/json_text.hpp"
#include "import/nccl/library_measurements.hpp"

namespace stepsim::calibrate {

namespace {

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
  add_texts(app,
            {{"--preset", flags.preset, "NAME", "node type, shipped or a file (required)"},
             {"--name", flags.library, "WORD", "library that was measured; default nccl"},
             {"--library-version", flags.version, "V", "release of the library; default 2.30"},
             {"--system", flags.system, "NAME", "of a table with several systems"},
             {"--shape", flags.shape, "NxG", "of logs that do not list their devices"},
             {"--op", flags.op, "OP", "only this operation; of logs that do not say"},
             {"--max-median", flags.max_median, "RATIO", "largest median error on shapes left out"},
             {"--max-p90", flags.max_p90, "RATIO", "largest 90th percentile of the same errors"}});
  app.add_flag("--force", flags.force, "take logs of different GPUs together");
}

// "10x8". Throws UsageError.
nccl::Shape parse_shape(const std::string& text) {
  constexpr std::int64_t kMost = 1'000'000;
  const std::size_t cross = std::min(text.find('x'), text.size() - 1);
  const std::int64_t nodes = io::parse_whole(text.substr(0, cross)).value_or(0);
  const std::int64_t gpus = io::parse_whole(text.substr(cross + 1)).value_or(0);
  if (std::min(nodes, gpus) < 1 || std::max(nodes, gpus) > kMost) {
    throw UsageError("--shape: must be NODESxGPUS, such as 10x8, got " + base::shown_value(text));
  }
  return {static_cast<std::uint32_t>(nodes), static_cast<std::uint32_t>(gpus)};
}

io::MeasurementOptions measurement_options(const LibraryFlags& flags) {
  io::MeasurementOptions options;
  options.system = cli::given(flags.system);
  if (!flags.op.empty()) {
    cli::require_word("--op", flags.op, nccl::kOperations.all());
    options.operation = nccl::kOperations.find(flags.op);
  }
  if (!flags.shape.empty()) {
    options.shape = parse_shape(flags.shape);
  }
  options.several_devices = flags.force;
  options.importer = program_and_version();
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

} // namespace

int fit_library_model(const cli::Invocation& invocation) {
  LibraryFlags flags;
  CLI::App app;
  add_library_flags(app, flags);
  cli::Common common(app, kFitLibraryText, invocation);
  if (flags.preset.empty()) {
    throw UsageError("--preset is required: the node type that was measured");
  }
  const std::optional<double> median_limit = largest_allowed("--max-median", flags.max_median);
  const std::optional<double> p90_limit = largest_allowed("--max-p90", flags.max_p90);
  constexpr std::array<std::string_view, 1> kLibraries{"nccl"};
  cli::require_word("--name", flags.library, kLibraries);
  const io::MeasurementOptions options = measurement_options(flags);
  const io::NodePreset preset = io::read_node_preset(cli::find_data_folder(), flags.preset);
  const io::LibraryMeasurements measured = io::read_measurements(flags.files, options);
  const io::FittedMeasurements fitted = io::fit_measurements(
      measured, preset, common.output == "-" ? preset.node.name : io::stem_of(common.output),
      flags.version.empty() ? nccl::kPublishedVersion : nccl::parse_version(flags.version));
  const LibraryReport report = report_library(fitted.fit, fitted.calibration);
  // The file is JSON in any case; --json is about what is said beside it.
  cli::print_beside(common.json ? io::pretty(report_json(report))
                                : library_text(fitted.fit, fitted.calibration, report),
                    common);
  std::vector<std::string> warnings = measured.warnings;
  warnings.insert(warnings.end(), fitted.file.warnings.begin(), fitted.file.warnings.end());
  cli::print_warnings(warnings, common);
  cli::write_tree(common, io::to_json(fitted.file, fitted.calibration));
  const auto known = [&](double error) {
    return report.pooled.points > 0 ? std::optional(error) : std::nullopt;
  };
  const bool median = missed("--max-median", "median error on what was left out", median_limit,
                             known(report.pooled.median));
  const bool p90 = missed("--max-p90", "90th percentile on what was left out", p90_limit,
                          known(report.pooled.p90));
  return median || p90 ? cli::kTargetNotMet : cli::kOk;
}

} // namespace stepsim::calibrate
