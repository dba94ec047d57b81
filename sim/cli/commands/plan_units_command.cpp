// stepsim plan-units SCENARIO: the sharding units with the shortest iteration, next to the units of
// the framework (TRN 6).
#include "cli/commands/commands.hpp"

#include <CLI/CLI.hpp>

#include <string>

#include "base/error.hpp"
#include "base/number_text.hpp"
#include "base/quantity.hpp"
#include "cli/commands/emit.hpp"
#include "cli/commands/scenario_input.hpp"
#include "cli/shell/document.hpp"
#include "cli/shell/flag_values.hpp"
#include "cli/shell/output.hpp"
#include "cli/shell/table.hpp"
#include "document/json_pointer.hpp"
#include "run/sharding_plan.hpp"
#include "study/plan_units.hpp"

namespace stepsim::cli {

namespace {

constexpr CommandText kPlanUnitsText{
    "plan-units",
    "SCENARIO",
    "Groups the layers of a model into the sharding units (FSDP, ZeRO-3) with the shortest\n"
    "iteration, under a limit of memory, and says what the units of the framework lose.",
    "stepsim plan-units examples/llama8b.scenario.json\n"
    "stepsim plan-units examples/llama8b.scenario.json --memory 80GB --json\n"
    "stepsim tune llama8b.scenario.json --emit fsdp -o units.json",
    "The keys of sharding: stepsim keys /training/sharding.",
    kJsonOrTable,
};

constexpr std::string_view kMemoryKey = "/cluster/gpu_memory_bytes";

struct PlanUnitsFlags {
  std::string file;
  std::string memory; // "" = the scenario's
  ScenarioFlags scenario;
};

void require_units(const study::Scenario& scenario, std::string_view what) {
  if (!study::has_units(scenario.training.sharding)) {
    throw UsageError(std::string(what) +
                     ": needs sharded parameters; --set /training/sharding=full_shard");
  }
}

// A device that does not hold what no division changes is an error of its number.
void require_memory(const study::Scenario& scenario, const PlanUnitsFlags& flags) {
  const buckets::UnitMemory memory = study::unit_memory(scenario);
  if (memory.fixed_bytes <= memory.limit_bytes) {
    return;
  }
  const std::string text = study::too_small(memory);
  if (!flags.memory.empty()) {
    throw UsageError("--memory: " + text);
  }
  throw InputError(flags.file, std::string(kMemoryKey), text);
}

// "{1-2}{3}{4-34}", cut after 60 characters: JSON has all units.
std::string units_text(const std::vector<study::UnitResult>& units) {
  std::string text;
  for (const study::UnitResult& unit : units) {
    text += "{" + std::to_string(unit.first) +
            (unit.last > unit.first ? "-" + std::to_string(unit.last) : "") + "}";
    if (text.size() > 60) {
      return text + "...";
    }
  }
  return text;
}

std::string planning_text(const study::UnitPlanning& planning) {
  Table table{{"wrapping", "iteration [ms]", "longer by [%]", "units", "memory", "fits", "layers"},
              {}};
  const double best = planning.rows.front().step_s;
  for (const study::PlannedUnits& row : planning.rows) {
    table.rows.push_back(
        {row.name, milliseconds_cell(row.step_s),
         cell(best > 0 ? std::optional((row.step_s / best - 1) * 100) : std::nullopt),
         std::to_string(row.units.size()), base::readable_bytes(row.memory_bytes),
         !row.fits   ? "-"
         : *row.fits ? "yes"
                     : "no",
         units_text(row.units)});
  }
  const buckets::UnitPlan& plan = planning.plan;
  return table_text(table) + "\n" +
         (plan.certified
              ? "no other units have a shorter iteration\n"
              : "other units may be shorter by " +
                    base::significant(plan.gap() / (1 + plan.gap()) * 100, 3) + " % at most\n");
}

} // namespace

int plan_units(const Invocation& invocation) {
  PlanUnitsFlags flags;
  CLI::App app;
  app.add_option("SCENARIO", flags.file, "file of kind scenario; - = standard input")->required();
  app.add_option("--memory", flags.memory, "memory of a device; replaces gpu_memory_bytes")
      ->type_name("SIZE");
  add_scenario_flags(app, flags.scenario);
  Common common;
  if (!parse(app, kPlanUnitsText, invocation, common)) {
    return kOk;
  }
  io::Json tree = read_scenario_tree(flags.file, flags.scenario, invocation.data_folder, common);
  study::Files files(invocation.data_folder, {common.output});
  study::Scenario scenario = load_scenario(tree, files, flags.scenario, study::Leftovers::refuse);
  require_units(scenario, "plan-units");
  if (!flags.memory.empty()) {
    scenario.cluster.gpu_memory_bytes = static_cast<std::int64_t>(
        quantity("--memory", flags.memory, base::QuantityKind::size, io::between(1, 1e18)));
  }
  require_memory(scenario, flags);
  const study::UnitPlanning planning = study::plan_sharding_units(scenario);
  write_document(common, {.text = [&] { return planning_text(planning); },
                          .tree = [&] { return study::unit_planning_tree(scenario, planning); },
                          .warnings = planning.warnings});
  return kOk;
}

int emit_fsdp(const study::Scenario& scenario, const io::Json& tree, const Common& common) {
  if (format_of(common, Format::json) != Format::json) {
    throw UsageError("--emit fsdp writes json only");
  }
  require_units(scenario, "--emit fsdp");
  const study::UnitPlanning planning = study::plan_sharding_units(scenario);
  print_warnings(planning.warnings, common);
  write_tree(common, study::fsdp_units_tree(scenario, tree, planning));
  print_beside(planning_text(planning), common);
  return kOk;
}

} // namespace stepsim::cli
