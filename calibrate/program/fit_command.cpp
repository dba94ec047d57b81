// stepsim-calibrate fit SAMPLES... -o CAL: network parameters and curves from measured times (CAL
// 4.2, 4.3, 4.5). All samples are grouped by operation, algorithm, ranks and column. Every group
// gets a curve of its own; the groups whose messages can be counted then share one latency and one
// bandwidth, the link.
#include "calibrate/program/program.hpp"

#include <CLI/CLI.hpp>

#include "calibrate/program/fit_parts.hpp"
#include "cli/shell/entry.hpp"
#include "cli/shell/flag_values.hpp"
#include "cli/shell/output.hpp"
#include "collectives/algorithms.hpp"
#include "scenario/files/keys/samples_keys.hpp"

namespace stepsim::calibrate {

namespace {

constexpr cli::CommandText kFitText{
    "fit",
    "SAMPLES... -o CAL",
    "Fits latency, bandwidth and curves per collective to measured times: samples (JSON, CSV) or\n"
    "logs of nccl-tests and OSU. Prints what was measured beside what the fit gives, and what it\n"
    "gives each size when that size is left out: these errors make the grade. Where they exceed\n"
    "--max-median or --max-p90, or the grade is fail: exit 4, after the file is written.",
    "stepsim-calibrate fit nccl.log --op allreduce --assume ring -o h100.calibration.json\n"
    "stepsim-calibrate fit samples.csv --robust huber -o bed.calibration.json\n"
    "stepsim-calibrate fit osu_allreduce.log --ranks 16 --max-p90 25% -o mpi.calibration.json",
    "Use: \"cluster\": {\"network\": {\"calibration\": \"h100.calibration.json\"}}; see "
    "docs/calibrate.md.",
    cli::kJsonOnly,
    kProgram,
};

struct FitFlags { // as typed; an empty text means that the flag was not given
  std::vector<std::string> files;
  std::string robust, assume, op, column = "out-of-place", link_class = "network", ranks, seed;
  std::string max_median, max_p90;
  GpuFlags gpu;
  bool compare_ols = false;
  bool force = false;
};

void add_flags(CLI::App& app, FitFlags& flags) {
  app.add_option("SAMPLES", flags.files, "measured times; several files are fitted together")
      ->required();
  add_texts(app,
            {{"--op", flags.op, "OP", "only this operation; default all"},
             {"--assume", flags.assume, "ALGORITHM",
              "of a library that does not say: gives latency and bandwidth per hop; default none"},
             {"--robust", flags.robust, "WORD",
              "huber or none; default huber where every size was repeated 3 times, else none"},
             {"--column", flags.column, "WORD", "out-of-place or in-place; default out-of-place"},
             {"--class", flags.link_class, "WORD",
              "of the link: network, nvlink, pcie, host or same-device; default network"},
             {"--ranks", flags.ranks, "N", "of logs that do not say"},
             {"--seed", flags.seed, "N", "of resampled intervals; default 1"},
             {"--max-median", flags.max_median, "RATIO",
              "largest median error of a curve on sizes left out, e.g. 5%"},
             {"--max-p90", flags.max_p90, "RATIO",
              "largest 90th percentile of the same errors, e.g. 25%"}});
  add_gpu_flags(app, flags.gpu);
  app.add_flag("--compare-ols", flags.compare_ols, "also print ordinary least squares");
  app.add_flag("--force", flags.force, "exit 0 also where the grade is fail");
}

// Words are checked before any file is read.
void check_words(const FitFlags& flags) {
  check(flags.gpu);
  cli::require_word("--class", flags.link_class, links::kLinkClasses);
  if (!flags.op.empty()) {
    cli::require_word("--op", flags.op, io::kSampleOps);
  }
}

// Throws UsageError unless the word names an algorithm whose time is a sum of counts times latency,
// seconds per byte and seconds per added byte, for some operation. Only such a time can be solved
// for the link. Whether counts exist does not depend on ranks and size: 8 ranks and 1 MB stand for
// all.
void check_assumption(const std::string& assume) {
  constexpr std::array kOps{collectives::Op::broadcast, collectives::Op::reduce,
                            collectives::Op::allreduce, collectives::Op::reduce_scatter,
                            collectives::Op::allgather};
  std::vector<std::string_view> known;
  for (const collectives::Op op : kOps) {
    for (const collectives::AlgorithmId algorithm : collectives::valid_algorithms(op)) {
      const std::string_view word = collectives::name(algorithm);
      const bool counts = cost_counts(collectives::name(op), word, 8, 1e6).has_value();
      if (counts && word == assume) {
        return;
      }
      if (counts && std::ranges::find(known, word) == known.end()) {
        known.push_back(word);
      }
    }
  }
  if (collectives::parse_algorithm(assume)) {
    throw UsageError("--assume " + assume + ": its time is not latency and bandwidth times counts");
  }
  throw UsageError("--assume: " + base::unknown_word("algorithm", assume, known));
}

// What decides which samples of a file are used.
InputOptions input_options(const FitFlags& flags) {
  InputOptions options;
  options.op = cli::given(flags.op);
  options.ranks = cli::optional_count("--ranks", flags.ranks, io::between(1, io::keys::kMostRanks));
  cli::read_word("--column", flags.column, io::kNcclColumns, options.column);
  options.importer = program_and_version();
  return options;
}

// Absent flags leave the choice to the fit, which looks at the repetitions.
FitOptions fit_options(const FitFlags& flags) {
  FitOptions options;
  cli::read_word("--robust", flags.robust, kRobusts, options.robust);
  if (const auto seed = cli::optional_count("--seed", flags.seed, io::at_least(0))) {
    options.seed = static_cast<std::uint64_t>(*seed);
  }
  return options;
}

} // namespace

// A file of gpu_bench is told by its first line and takes a way of its own. The calibration is
// written whatever its grade: the exit code says that it is not to be trusted.
int fit(const cli::Invocation& invocation) {
  FitFlags flags;
  CLI::App app;
  add_flags(app, flags);
  cli::Common common(app, kFitText, invocation);
  const FitOptions options = fit_options(flags);
  const InputOptions input = input_options(flags);
  check_words(flags);
  if (!flags.assume.empty()) {
    check_assumption(flags.assume);
  }
  const CurveTargets targets{largest_allowed("--max-median", flags.max_median),
                             largest_allowed("--max-p90", flags.max_p90)};
  // Standard input is never looked at, because reading its first line would take it away from the
  // reader of samples. Records of gpu_bench are therefore only taken from a file.
  if (flags.files.size() == 1 && flags.files.front() != "-" &&
      gpu::looks_like_gpu_samples(io::read_text(flags.files.front()))) {
    return write_gpu_calibration(gpu::read_gpu_samples(flags.files.front(), program_and_version()),
                                 options, targets, flags.force, flags.gpu, common);
  }
  CalibrationText text;
  text.importer = program_and_version();
  text.assume = flags.assume;
  text.link_class = flags.link_class;
  const std::vector<io::Samples> files = read_inputs(flags.files, input);
  const auto fits = base::collected<GroupFit>(
      group_samples(files), [&](const Group& group) { return fit_group(group, options); });
  const std::optional<LinkFit> link = fit_link(fits, flags.assume);
  // An assumption that no group needed is an error: the user would believe that the numbers rest on
  // it.
  if (!flags.assume.empty() && (!link || link->assumed.empty())) {
    throw UsageError("--assume " + flags.assume + ": no measured operation has it");
  }
  text.name = common.output == "-" ? files.front().name : io::stem_of(common.output);

  std::string tables;
  for (const GroupFit& each : fits) {
    tables += fit_text(each, flags.compare_ols) + "\n";
  }
  tables += link ? link_text(*link, flags.assume) : "";
  cli::print_beside(tables, common);
  std::vector<std::string> warnings = all_warnings(files, fits, link);
  for (const GroupFit& each : fits) {
    if (each.grade == Grade::fail) {
      warnings.push_back("grade fail: " + each.failure);
    }
  }
  cli::print_warnings(warnings, common);
  const io::Json tree = calibration_tree(files, fits, link, text);
  cli::write_tree(common, tree);
  const bool failed = refused(tree.find("grade")->as_string(), flags.force);
  return missed(fits, targets) || failed ? cli::kTargetNotMet : cli::kOk;
}

} // namespace stepsim::calibrate
