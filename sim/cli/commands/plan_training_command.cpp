// stepsim plan-training SCENARIO: the fastest way to train in the memory of the GPUs.
#include "cli/commands/commands.hpp"

#include <CLI/CLI.hpp>

#include "cli/commands/emit.hpp"
#include "cli/commands/scenario_input.hpp"
#include "cli/shell/flag_values.hpp"
#include "cli/text/record_table.hpp"
#include "scenario/parse_context.hpp"
#include "study/plan_training.hpp"
#include "study/sweep/assumed.hpp"

namespace stepsim::cli {

namespace {

constexpr CommandText kPlanTrainingText = emitting(choosing_columns({
    "plan-training",
    "SCENARIO",
    R"(Finds the fastest way to train a model in the memory of its GPUs: the strategy of sharding,
the groups of hybrid_shard, what backward computes again, the micro-batches of an update,
the size of buckets, the units of layers whose parameters are gathered together. Lists what
it ran, best first, by time per sample. A worker keeps its number of samples an update. Plans
that cannot fit, and those whose computing alone takes longer than the best plan, are not
run. Exit code 4 if nothing fits.)",
    "stepsim plan-training examples/llama3-8b-h100.scenario.json\n"
    "stepsim plan-training s.json --nodes 2,4,8 --set /workload/batch_size=8\n"
    "stepsim plan-training s.json --emit torchtitan -o planned.py\n"
    "stepsim plan-training examples/llama8b.scenario.json --only units",
    "stepsim explain says what bounds a step, stepsim tune --emit fsdp writes units for PyTorch.",
    kTableFormats,
}));

constexpr std::size_t kShownRows = 16; // of the table

// "next: stepsim run s.json --set ..", of a row.
std::string next_text(const std::string& file, const io::Json& row) {
  return "next: stepsim run " + file +
         base::listed(
             row.find("set")->as_array(),
             [](const io::Json& each) { return " --set " + each.as_string(); }, "");
}

std::string searched_text(const study::TrainingPlan& plan) {
  if (plan.too_large == plan.combinations) {
    return "each of " + base::counted(plan.combinations, "combination") +
           " needs more memory than a GPU has; the one shown needs least";
  }
  return std::to_string(plan.found.rows.size()) + " of " +
         base::counted(plan.combinations, "combination") +
         " were run: " + std::to_string(plan.too_large) + " need more memory than a GPU has, " +
         std::to_string(plan.too_slow) + " take longer to compute alone than the best takes in all";
}

// Where a row that cannot be told from the best, or is within 0.1 % of it, needs much less memory:
// the one that needs least, by what it does otherwise.
std::string lean_text(const study::Comparison& found) {
  constexpr double kMuchLess = 0.8;
  constexpr double kAlike = 1.001;
  const std::size_t best = *found.ranking.best;
  const auto memory_of = [&](std::size_t row) {
    return study::number_in(found.rows[row], "memory_bytes").value_or(HUGE_VAL);
  };
  std::size_t least = best;
  for (std::size_t row = 0; row < found.rows.size(); ++row) {
    const auto& standings = found.ranking.standings;
    const bool alike = standings.empty() ? found.ranking.ratios[row].value_or(HUGE_VAL) < kAlike
                                         : standings[row].rank == 1;
    least = alike && memory_of(row) < memory_of(least) ? row : least;
  }
  if (!(memory_of(least) < kMuchLess * memory_of(best))) {
    return {};
  }
  std::string words;
  for (const std::string& key : found.varied) {
    const io::Json& value = *found.rows[least].find(key);
    if (!value.is_null() && !(value == *found.rows[best].find(key))) {
      words += (words.empty() ? "" : ", ") + key + " " + plain_cell(value);
    }
  }
  return "not told apart from the best, with " + base::readable_bytes(memory_of(least)) +
         " of memory instead of " + base::readable_bytes(memory_of(best)) + ": " + words;
}

// The first row that fits and whose strategy the framework has; the best where there is none.
std::size_t emitted_row(std::string_view target, const study::Comparison& found) {
  for (std::size_t row = 0; row < found.rows.size(); ++row) {
    const std::string& word = found.rows[row].find("strategy")->as_string();
    if (found.ranking.ratios[row] && !study::exceeds_memory(found.rows[row]) &&
        study::has_strategy(target, *study::kShardingStrategies.find(word))) {
      return row;
    }
  }
  return *found.ranking.best;
}

// "deepspeed has no shard_grad_op: these are the settings of zero1, 4.200 % slower than the best"
std::string slower_text(std::string_view target, const study::Comparison& found, std::size_t row) {
  const auto strategy_of = [&](std::size_t each) -> const std::string& {
    return found.rows[each].find("strategy")->as_string();
  };
  const bool alike = !found.ranking.standings.empty() && found.ranking.standings[row].rank == 1;
  return fmt::format("{} has no {}: these are the settings of {}, {} slower than the best{}",
                     target, strategy_of(*found.ranking.best), strategy_of(row),
                     percent_cell(*found.ranking.ratios[row] - 1),
                     alike ? ", which is not told apart" : "");
}

// The scenario of a row.
study::Scenario scenario_of(const io::Json& tree, const io::Json& row, study::Files& files) {
  io::Json changed = tree;
  for (const io::Json& each : row.find("set")->as_array()) {
    auto [pointer, value] = study::parse_set(each.as_string());
    io::assign(changed, pointer, std::move(value));
  }
  std::vector<study::MeaninglessKey> dropped;
  return study::without_leftovers(
      changed, files, [](std::string_view) { return true; }, dropped);
}

// "a step takes 1937 ms (1539 to 2443, 80 %), memory 70.2 of 80.0 GB: fits"
std::string prediction_text(const io::Json& row) {
  const std::string memory = study::memory_verdict_of(row);
  return "stepsim plan-training: a step takes " +
         base::readable_seconds(*study::number_in(row, study::kIterationTime),
                                study::band_in(row)) +
         (memory.empty() ? "" : ", " + memory);
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
  std::string nodes;
  std::string emitted;
  std::string only;
  ScenarioFlags flags;
  CLI::App app;
  add_argument(app, "SCENARIO", flags.file, "file of kind scenario; - = standard input");
  add_value(app, "--emit", emitted, "WHAT",
            "writes the best that the framework has as the settings of torchtitan (Python), "
            "deepspeed (JSON), accelerate (YAML) or fsdp (PyTorch, Python)");
  add_value(app, "--only", only, "WHAT",
            "units: the sharding units with the shortest iteration, for the rest of the "
            "scenario as it is");
  add_value(app, "--nodes", nodes, "LIST",
            "numbers of nodes to choose from; default the scenario's");
  add_scenario_flags(app, flags);
  Common common(app, kPlanTrainingText, invocation);
  if (!emitted.empty()) {
    require_word("--emit", emitted, study::training_targets());
    if (!common.format.empty() || common.json) {
      throw UsageError("--emit writes the file of the framework, and no other format");
    }
  }
  if (!only.empty()) {
    require_word("--only", only, {"units"});
    refuse_others(common,
                  {"SCENARIO", "--only", "--set", "--method", "--seed", "--conditions", "--point"},
                  "has no meaning for --only units");
  }
  study::TrainingPlanOptions options;
  options.max_seconds = max_seconds(flags);
  options.progress = counting(common);
  if (!nodes.empty()) {
    options.nodes = counts("--nodes", nodes, io::at_least(1));
  }
  study::Files files(invocation.data_folder, {common.output});
  const io::Json tree = read_scenario_tree(flags, files, common);
  const study::Scenario scenario = load_scenario(tree, files, flags);
  if (!only.empty()) {
    return plan_units(scenario, flags.file, common);
  }
  const study::TrainingPlan plan = study::plan_training(tree, files, options);
  const study::Comparison& found = plan.found;
  const std::vector<std::string> columns =
      !common.columns.empty()
          ? common.columns
          : std::vector<std::string>{std::string(study::kIterationTime), "ratio", "samples_per_s",
                                     "memory_bytes", "bottleneck"};
  const std::size_t shown = std::min(found.rows.size(), kShownRows);
  Document document{.tables =
                        [&] {
                          return record_tables({std::span(found.rows).first(shown), found.varied,
                                                found.ranking,
                                                std::span(found.batches).first(shown), columns});
                        },
                    .tree = [&] { return tree_of_plan(plan); },
                    .records = [&] { return found.rows; },
                    .kept = found.varied,
                    .warnings = found.warnings};
  document.kept.emplace_back("set");
  std::size_t named = 0; // the row that the last note names
  if (!emitted.empty()) {
    if (found.ranking.best) {
      named = emitted_row(emitted, found);
      const io::Json& row = found.rows[named];
      const study::TrainingSettings settings =
          study::training_settings(emitted, scenario_of(tree, row, files), prediction_text(row));
      write_output(common, settings.text);
      if (named != *found.ranking.best) {
        print_note(slower_text(emitted, found, named), common);
      }
      if (!settings.note.empty()) {
        print_note(settings.note, common);
      }
    } else {
      report_error("nothing fits: no settings are written", kTargetNotMet, common.color);
    }
    for (const Table& table : document.tables()) {
      print_beside(table_text(table), common);
    }
  } else {
    write_document(common, std::move(document));
  }
  if (shown < found.rows.size()) {
    print_note("... and " + std::to_string(found.rows.size() - shown) + " more; --json lists all",
               common);
  }
  print_note(searched_text(plan), common);
  if (found.ranking.best) {
    if (const std::string lean = lean_text(found); !lean.empty()) {
      print_note(lean, common);
    }
    print_note(next_text(flags.file, found.rows[named]), common);
  }
  print_notes(study::notes_of(study::sweep_over(tree, {}), files), common);
  return found.ranking.best ? kOk : kTargetNotMet;
}

} // namespace stepsim::cli
