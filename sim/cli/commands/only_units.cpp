// stepsim plan-training SCENARIO --only units: the sharding units with the shortest iteration, next
// to the units of the framework (TRN 6).
#include "cli/commands/emit.hpp"

#include "cli/shell/document.hpp"
#include "cli/shell/output.hpp"
#include "run/memory_figures.hpp"
#include "run/sharding_plan.hpp"
#include "study/plan_units.hpp"

namespace stepsim::cli {

namespace {

constexpr std::string_view kMemoryKey = "/cluster/gpu_memory_bytes";

void require_units(const study::Scenario& scenario, std::string_view what) {
  if (!study::has_units(scenario.training.sharding)) {
    throw UsageError(std::string(what) +
                     ": needs sharded parameters; --set /training/sharding=full_shard");
  }
}

// A device that does not hold what no division changes is an error of its number.
void require_memory(const study::Scenario& scenario, const std::string& file) {
  const buckets::UnitMemory memory = study::unit_memory(scenario);
  if (memory.fixed_bytes > memory.limit_bytes) {
    throw InputError(file, std::string(kMemoryKey), study::too_small(memory));
  }
}

std::string planning_text(const study::Scenario& scenario, const study::UnitPlanning& planning) {
  Table table{{"wrapping", "iteration [ms]", "longer by [%]", "units", "memory", "fits", "layers"},
              {}};
  const double best = planning.rows.front().step_s;
  for (const study::PlannedUnits& row : planning.rows) {
    table.rows.push_back(
        {row.name, milliseconds_cell(row.step_s),
         cell(best > 0 ? std::optional((row.step_s / best - 1) * 100) : std::nullopt),
         std::to_string(row.units.size()), base::readable_bytes(row.memory_bytes),
         row.fits                             ? *row.fits ? "yes" : "no"
         : !scenario.cluster.gpu_memory_bytes ? "-"
         : study::known_activations(scenario) ? "may not"
                                              : "activations are not known",
         groups_cell(base::collected<Ends>(row.units, [](const study::UnitResult& unit) {
           return Ends(unit.first, unit.last);
         }))});
  }
  const buckets::UnitPlan& plan = planning.plan;
  const bool blocks = study::unit_parts(scenario).size() < scenario.workload.layers.size();
  const std::string units = blocks ? "other units of whole blocks " : "other units ";
  return table_text(table) + "\n" +
         (plan.certified
              ? "no " + units + "have a shorter iteration\n"
              : units + "may be shorter by " +
                    base::significant(plan.gap() / (1 + plan.gap()) * 100, 3) + " % at most\n");
}

} // namespace

int plan_units(const study::Scenario& scenario, const std::string& file, const Common& common) {
  require_units(scenario, "--only units");
  require_memory(scenario, file);
  const study::UnitPlanning planning = study::plan_sharding_units(scenario);
  write_document(common, {.text = [&] { return planning_text(scenario, planning); },
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
  print_beside(planning_text(scenario, planning), common);
  return kOk;
}

} // namespace stepsim::cli
