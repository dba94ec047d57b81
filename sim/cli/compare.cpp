// stepsim compare SCENARIO --over POINTER=V1,V2,...: alternatives side by side, best first.
#include "study/compare.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <thread>

#include "base/error.hpp"
#include "cli/commands.hpp"
#include "cli/csv.hpp"
#include "cli/over_flags.hpp"
#include "cli/record_table.hpp"
#include "cli/scenario_input.hpp"

namespace stepsim::cli {

namespace {

constexpr CommandText kText{
    "compare",
    "SCENARIO",
    "Runs every combination of the given values and lists them, the shortest iteration first, "
    "with\n"
    "the ratio to it.",
    "stepsim compare scenario.json --over /communication/schedule=wfbp,single,ddp,mg_wfbp,optimal\n"
    "stepsim compare scenario.json --over /cluster/network/bandwidth_Bps=1,10,40,100Gbps"
    " --over /cluster/nodes=8,64",
    "The scenario file is described in docs/file-formats.md and schemas/scenario.schema.json.",
};

std::string text_in(Format format, const study::Comparison& comparison) {
  switch (format) {
  case Format::table:
    return record_table(comparison.rows, comparison.varied);
  case Format::json:
    return io::pretty(io::Object{{"rows", comparison.rows}});
  case Format::jsonl: {
    std::string text;
    for (const io::Json& row : comparison.rows) {
      io::append_compact(text, row);
      text += '\n';
    }
    return text;
  }
  case Format::csv: {
    std::vector<io::Object> records;
    for (const io::Json& row : comparison.rows) {
      records.push_back(row.as_object());
    }
    return csv_text(records);
  }
  }
  return {};
}

} // namespace

int compare(const Invocation& invocation) {
  std::string file;
  std::vector<std::string> over;
  ScenarioFlags flags;
  CLI::App app;
  app.add_option("SCENARIO", file, "file of kind scenario; - = standard input")->required();
  add_over_flag(app, over)->required();
  add_scenario_flags(app, flags);
  Common common;
  if (!parse(app, kText, invocation, common)) {
    return kOk;
  }
  const study::Sweep sweep =
      study::sweep_over(read_scenario_tree(file, flags), parse_over_flags(over));
  constexpr std::int64_t kMostRows = 100'000;
  if (sweep.grid.points() > kMostRows) {
    throw UsageError("--over: " + std::to_string(sweep.grid.points()) +
                     " combinations are too many to compare; use stepsim sweep");
  }
  study::Files files(invocation.data_folder);
  const int jobs = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const study::Comparison comparison = [&] {
    try {
      return study::compare(sweep, files, jobs);
    } catch (const InputError& error) {
      rethrow_for_flags(error, sweep.base, over);
    }
  }();
  print_warnings(comparison.warnings, common);
  write_output(common, text_in(format_of(common, Format::table), comparison));
  if (comparison.failed > 0) {
    throw SimulationError(std::to_string(comparison.failed) + " of " +
                          std::to_string(comparison.rows.size()) + " combinations failed");
  }
  return kOk;
}

} // namespace stepsim::cli
