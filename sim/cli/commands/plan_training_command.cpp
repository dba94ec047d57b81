// stepsim plan-training SCENARIO: the fastest way to train in the memory of the GPUs.
#include "cli/commands/commands.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "base/number_text.hpp"
#include "cli/commands/scenario_input.hpp"
#include "cli/shell/document.hpp"
#include "cli/shell/flag_values.hpp"
#include "cli/shell/output.hpp"
#include "cli/text/record_table.hpp"
#include "study/plan_training.hpp"
#include "study/sweep/assumed.hpp"

namespace stepsim::cli {

namespace {

constexpr CommandText kPlanTrainingText = choosing_columns({
    "plan-training",
    "SCENARIO",
    "Finds the fastest way to train a model in the memory of its GPUs: the strategy of sharding,\n"
    "what backward computes again, the micro-batches of an update, the size of buckets. Lists "
    "what\n"
    "it ran, best first. An update keeps its number of samples. What needs more memory than a GPU\n"
    "has whatever the step, and what computes longer than the best takes, is not run. Exit code 4\n"
    "if nothing fits.",
    "stepsim plan-training examples/llama3-8b-h100.scenario.json\n"
    "stepsim plan-training s.json --nodes 2,4,8 --set /workload/batch_size=8",
    "stepsim plan-units finds the best units for one of them, stepsim explain what bounds it.",
    kTableFormats,
});

constexpr std::size_t kShownRows = 16; // of the table

// "next: stepsim run s.json --set ..", the best.
std::string next_text(const std::string& file, const study::TrainingPlan& plan) {
  std::string text = "next: stepsim run " + file;
  for (const io::Json& each : plan.found.rows.front().find("set")->as_array()) {
    text += " --set " + each.as_string();
  }
  return text;
}

std::string searched_text(const study::TrainingPlan& plan) {
  return std::to_string(plan.found.rows.size()) + " of " +
         base::counted(plan.combinations, "combination") +
         " were run: " + std::to_string(plan.too_large) + " need more memory than a GPU has, " +
         std::to_string(plan.too_slow) + " compute longer than the best takes";
}

io::Json tree_of_plan(const study::TrainingPlan& plan) {
  const auto& best = plan.found.ranking.best;
  return io::Object{{"best", best ? io::Json(static_cast<std::int64_t>(*best)) : io::Json()},
                    {"best_by", study::kBestBy[plan.found.ranking.by]},
                    {"combinations", plan.combinations},
                    {"too_large", plan.too_large},
                    {"too_slow", plan.too_slow},
                    {"rows", plan.found.rows}};
}

} // namespace

int plan_training(const Invocation& invocation) {
  std::string file;
  std::string nodes;
  ScenarioFlags flags;
  CLI::App app;
  app.add_option("SCENARIO", file, "file of kind scenario; - = standard input")->required();
  app.add_option("--nodes", nodes, "numbers of nodes to choose from; default the scenario's")
      ->type_name("LIST");
  add_scenario_flags(app, flags);
  Common common;
  if (!parse(app, kPlanTrainingText, invocation, common)) {
    return kOk;
  }
  study::TrainingPlanOptions options;
  options.max_seconds = max_seconds(flags);
  options.progress = counting(common);
  for (const double value :
       nodes.empty() ? std::vector<double>()
                     : numbers("--nodes", nodes, base::QuantityKind::count, io::at_least(1))) {
    options.nodes.push_back(static_cast<std::int64_t>(value));
  }
  const io::Json tree = read_scenario_tree(file, flags, invocation.data_folder, common);
  study::Files files(invocation.data_folder, {common.output});
  (void)load_scenario(tree, files, flags, study::Leftovers::refuse);
  const study::TrainingPlan plan = study::plan_training(tree, files, options);
  const study::Comparison& found = plan.found;
  const std::vector<std::string> columns =
      !common.columns.empty()
          ? common.columns
          : std::vector<std::string>{"iteration_time_s", "ratio", "samples_per_s", "memory_bytes",
                                     "bottleneck"};
  const std::size_t shown = std::min(found.rows.size(), kShownRows);
  Document document{.tables =
                        [&] {
                          return record_tables({std::span(found.rows).first(shown), found.varied,
                                                found.ranking,
                                                std::span(found.batches).first(shown), columns});
                        },
                    .tree = [&] { return tree_of_plan(plan); },
                    .records = [&] { return records_in(tree_of_plan(plan), "rows"); },
                    .kept = found.varied,
                    .warnings = found.warnings};
  document.kept.emplace_back("set");
  write_document(common, std::move(document));
  if (shown < found.rows.size()) {
    print_note("... and " + std::to_string(found.rows.size() - shown) + " more; --json lists all",
               common);
  }
  print_note(searched_text(plan), common);
  if (found.ranking.best) {
    print_note(next_text(file, plan), common);
  }
  print_assumed(study::assumed_text(tree, files), common);
  return found.ranking.best ? kOk : kTargetNotMet;
}

} // namespace stepsim::cli
