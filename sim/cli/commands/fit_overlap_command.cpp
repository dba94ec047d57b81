// stepsim fit-overlap MEASURED -o OVERLAP: fits the slowdowns of overlapping compute and exchanges
// to measured steps.
#include "cli/commands/commands.hpp"

#include <CLI/CLI.hpp>

#include "base/printable.hpp"
#include "cli/shell/entry.hpp"
#include "study/fits.hpp"

namespace stepsim::cli {

namespace {

constexpr CommandText kFitOverlapText{
    "fit-overlap",
    "MEASURED",
    "Fits three constants to measured steps of one network: the start-up and the time per byte of\n"
    "an exchange, and the factor by which an exchange slows computing that it overlaps.",
    "stepsim fit-overlap reproduce/overlap/v100-10gbe.steps.json\n"
    "stepsim fit-overlap reproduce/overlap/v100-10gbe.steps.json --leave-out /workload/model"
    " -o v100.overlap.json\n"
    "stepsim fit-overlap reproduce/overlap/v100-10gbe.steps.json --keep compute",
    "MEASURED is of kind measured_steps, the output of kind overlap: docs/file-formats.md.",
    kJsonOrTable,
};

constexpr std::array<std::string_view, 3> kConstants{"startup_s", "per_byte_s", "compute"};

study::KeptConstants kept_of(const std::vector<std::string>& words) {
  study::KeptConstants kept;
  const std::array places{&kept.startup, &kept.per_byte, &kept.compute};
  for (const std::string& word : words) {
    const auto* found = std::ranges::find(kConstants, word);
    if (found == kConstants.end()) {
      throw UsageError("--keep: " + base::unknown_word("constant", word, kConstants));
    }
    *places[static_cast<std::size_t>(found - kConstants.begin())] = true;
  }
  return kept;
}

std::vector<std::string> cells(const std::string& name, const io::OverlapConstants& constants,
                               const io::OverlapQuality& quality) {
  return {name,
          base::significant(constants.startup_s),
          base::significant(constants.per_byte_s),
          base::significant(constants.compute),
          std::to_string(quality.rows),
          base::percent_number(quality.median_error),
          base::percent_number(quality.max_error)};
}

// Errors of a fold are those of the rows that its constants have not seen.
Table fit_table(const io::OverlapFit& fit) {
  Table table{
      {"left out", "startup_s", "per_byte_s", "compute", "rows", "median error %", "max error %"},
      {}};
  table.rows.push_back(cells("nothing", fit.constants, fit.quality));
  for (const io::OverlapFold& fold : fit.folds) {
    table.rows.push_back(cells(base::printable(fold.left_out), fold.constants, fold.quality));
  }
  return table;
}

} // namespace

int fit_overlap_command(const Invocation& invocation) {
  std::string name;
  std::string leave_out;
  std::vector<std::string> keep;
  CLI::App app;
  add_argument(app, "MEASURED", name, "file of kind measured_steps; - = standard input");
  add_value(app, "--leave-out", leave_out, "POINTER",
            "key of the scenarios: each of its values is also predicted by constants fitted "
            "to the rows of the others, e.g. /workload/model");
  app.add_option("--keep", keep,
                 "constants that are not fitted: startup_s and per_byte_s stay as in the network "
                 "of the scenarios, compute stays 1")
      ->delimiter(',')
      ->type_name("NAME,...");
  Common common(app, kFitOverlapText, invocation);
  const study::KeptConstants kept = kept_of(keep);
  study::Files files(invocation.data_folder, {common.output});
  const study::MeasuredSteps measured =
      study::read_measured_steps(io::read_json(name), files, leave_out);
  const io::OverlapFit fit = [&] {
    try {
      return study::fit_overlap(measured, leave_out, kept);
    } catch (const UsageError& error) {
      throw InputError(name, "/rows", error.what());
    }
  }();
  return write_document(common, {.tables = [&] { return std::vector{fit_table(fit)}; },
                                 .tree = [&] { return io::to_json(fit); }});
}

} // namespace stepsim::cli
