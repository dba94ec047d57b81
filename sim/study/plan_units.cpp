#include "study/plan_training.hpp"

#include <ranges>

#include "buckets/unit_tables.hpp"
#include "document/fields/members.hpp"
#include "document/json_text.hpp"
#include "document/sha256.hpp"
#include "run/run.hpp"
#include "run/sharding_plan.hpp"

namespace stepsim::study {

namespace {

using layers::Wrapping;
using layers::WrappingPolicy;

// A time without the last digit, in which sums differ from the number that they stand for: 30 s and
// not 30.000000000000004 s.
double without_noise(double seconds) { return base::rounded_to(seconds, 15); }

PlannedUnits with_wrapping(Scenario scenario, std::string name, Wrapping wrapping,
                           std::vector<std::string>& warnings) {
  scenario.training.sharding.wrapping = std::move(wrapping);
  Result result = run(scenario);
  append_each_once(warnings, result.warnings);
  return {.name = std::move(name),
          .step_s = without_noise(step_of(result.summary)),
          .memory_bytes = result.summary.memory_bytes.value_or(0),
          .fits = result.summary.memory_fits,
          .units = std::move(result.units)};
}

double gain_over_default(const UnitPlanning& planning) {
  const double standard = row_of(planning, "default").step_s;
  return standard > 0 ? 1 - planning.rows.front().step_s / standard : 0;
}

// [first layer, last layer, names], layers from 1.
io::Json units_tree(const Scenario& scenario, const std::vector<UnitResult>& units) {
  io::Array all;
  for (const UnitResult& unit : units) {
    io::Array names;
    for (std::int64_t l = unit.first; l <= unit.last; ++l) {
      names.emplace_back(scenario.workload.layers[static_cast<std::size_t>(l - 1)].name);
    }
    all.emplace_back(io::Array{unit.first, unit.last, std::move(names)});
  }
  return all;
}

// A string that Python reads as it is.
std::string quoted(const std::string& text) { return io::compact(io::Json(text)); }

// The last unit stays gathered where the scenario keeps it.
std::string snippet(const Scenario& scenario, const PlannedUnits& best) {
  const Sharding& sharding = scenario.training.sharding;
  std::vector<std::uint32_t> begins;
  for (const UnitResult& unit : best.units) {
    begins.push_back(static_cast<std::uint32_t>(unit.first - 1));
  }
  const std::string reshard = sharding.reshard_after_forward ? "True" : "False";
  const bool keeps = sharding.reshard_after_forward && sharding.keep_last;
  return "from torch.distributed.fsdp import fully_shard\n\n" +
         python_units(scenario.workload, begins) +
         "reshard_after_forward=" + (keeps ? "unit is not units[-1]" : reshard) +
         ")\nfully_shard(model)\n";
}

// Where a run has what no planner knows (other jobs on a simulated network, random workers) the
// fastest row that fits is the best one.
void take_fastest(UnitPlanning& planning) {
  PlannedUnits& best = planning.rows.front();
  for (const PlannedUnits& row : planning.rows) {
    if (row.fits.value_or(true) && row.step_s < best.step_s * (1 - buckets::kEqualPeriods)) {
      best = row;
      best.name = "optimal";
      planning.plan.period = Seconds{row.step_s};
      planning.plan.certified = false;
    }
  }
  planning.plan.cuts.clear();
  for (const UnitResult& unit : best.units | std::views::drop(1)) {
    planning.plan.cuts.push_back(static_cast<std::uint32_t>(unit.first - 1));
  }
}

} // namespace

std::string python_units(const layers::Workload& workload,
                         const std::vector<std::uint32_t>& begins) {
  const std::vector<std::int64_t> parameters = layers::layer_parameters(workload);
  std::string text = "units = [\n";
  for (std::size_t u = 0; u < begins.size(); ++u) {
    const std::size_t end = u + 1 < begins.size() ? begins[u + 1] : parameters.size();
    std::string names;
    for (std::size_t l = begins[u]; l < end; ++l) {
      if (parameters[l] > 0) {
        names += (names.empty() ? "" : ", ") + quoted(workload.layers[l].name);
      }
    }
    text += names.empty() ? "" : "    [" + names + "],\n";
  }
  return text + "]\nfor unit in units:\n"
                "    fully_shard([model.get_submodule(name) for name in unit], ";
}

const PlannedUnits& row_of(const UnitPlanning& planning, std::string_view name) {
  return *std::ranges::find(planning.rows, name, &PlannedUnits::name);
}

UnitPlanning plan_sharding_units(const Scenario& scenario) {
  const Sharding& sharding = scenario.training.sharding;
  UnitPlanning planning;
  planning.plan = best_units(scenario);
  planning.largest_unit = largest_unit_of(scenario);
  const auto add = [&](std::string name, Wrapping wrapping) {
    planning.rows.push_back(
        with_wrapping(scenario, std::move(name), std::move(wrapping), planning.warnings));
  };
  add("optimal", wrapping_of(planning.plan.cuts));
  const Wrapping standard{.policy = sharding.preset == ShardingPreset::fsdp1
                                        ? WrappingPolicy::size
                                        : WrappingPolicy::block};
  const bool configured =
      sharding.wrapping.policy != WrappingPolicy::optimal && sharding.wrapping != standard;
  if (configured) {
    add("configured", sharding.wrapping);
  }
  add("default", standard);
  if (standard != Wrapping{} && sharding.wrapping != Wrapping{}) {
    add("block", {});
  }
  add("layer", {.policy = WrappingPolicy::layer});
  add("all", {.policy = WrappingPolicy::all});
  take_fastest(planning);
  return planning;
}

io::Json unit_planning_tree(const Scenario& scenario, const UnitPlanning& planning) {
  const buckets::UnitPlan& plan = planning.plan;
  io::Array rows = io::write_each(planning.rows, [](const PlannedUnits& row) {
    io::Json tree =
        io::tree_of<&PlannedUnits::name, &PlannedUnits::step_s, &PlannedUnits::memory_bytes>(row);
    tree.set("units", row.units.size());
    tree.set("fits", row.fits ? io::Json(*row.fits) : io::Json());
    return tree;
  });
  io::Json tree(io::Object{
      {"units", units_tree(scenario, planning.rows.front().units)},
      {"predicted_step_s", planning.rows.front().step_s},
      {"default_step_s", row_of(planning, "default").step_s},
      {"gain", gain_over_default(planning)},
      {"lower_bound_s", without_noise(plan.lower_bound.value)},
      {"gap", plan.gap()},
      {"alternatives", std::move(rows)},
  });
  io::set_members<&buckets::UnitPlan::cuts, &buckets::UnitPlan::certified,
                  &buckets::UnitPlan::labels>(plan, tree);
  io::set_members<&UnitPlanning::warnings>(planning, tree);
  io::set_given(tree, "largest_unit_parameters", planning.largest_unit);
  return tree;
}

io::Json fsdp_units_tree(const Scenario& scenario, const io::Json& tree,
                         const UnitPlanning& planning) {
  return io::Object{
      {"units", units_tree(scenario, planning.rows.front().units)},
      {"reshard_after_forward", scenario.training.sharding.reshard_after_forward},
      {"predicted_step_s", planning.rows.front().step_s},
      {"default_step_s", row_of(planning, "default").step_s},
      {"gain", gain_over_default(planning)},
      {"scenario_sha256", io::sha256(io::compact(tree))},
      {"python", snippet(scenario, planning.rows.front())},
  };
}

} // namespace stepsim::study
