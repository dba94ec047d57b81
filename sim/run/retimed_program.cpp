// Buckets first, which must be the same ones, then times of computing, then those of exchanges.
#include "run/run_program.hpp"

#include "run/planned_messages.hpp"
#include "run/sharding_plan.hpp"
#include "scenario/scenario_training.hpp"

namespace stepsim::study {

namespace {

using programs::Kind;

// The work of selecting entries, owners of tensors and groups of ranks depend on their number.
bool counts_ranks(const Scenario& scenario) {
  const auto kind = collectives::row(scenario.communication.compression.method).kind;
  const Sharding& sharding = scenario.training.sharding;
  return has_owners(sharding) || sharding.strategy == ShardingStrategy::hybrid_shard ||
         (kind != collectives::CompressionKind::dense &&
          kind != collectives::CompressionKind::codec);
}

// Whether the operations are the same ones, unless buckets change.
bool keeps_operations(const Scenario& scenario, bool as_fast, const ScenarioProgram& made) {
  const Training& training = scenario.training;
  const auto ranks = static_cast<std::uint32_t>(scenario.cluster.ranks());
  const bool same_ranks = made.program.ranks == ranks ||
                          (!counts_ranks(scenario) && ranks > 1 && made.program.ranks > 1);
  const bool cuts_units =
      made.sharded && training.sharding.wrapping.policy == layers::WrappingPolicy::optimal;
  const bool slows_layers_alone = !is_compressed(scenario) && !trains_in_rounds(training);
  return !made.simulated && same_ranks && !has_islands(training) && !cuts_units &&
         !searches_merge(scenario) && (as_fast || slows_layers_alone);
}

// Plans by the costs of the scenario. False if the buckets are others or begin at other times
// behind their layers, so that nothing but the plan is left of the program.
bool plans_the_same(const Scenario& scenario, bool as_fast, ScenarioProgram& made) {
  const std::vector<Seconds> ends = scenario.workload.backward_ends();
  if (!as_fast) {
    move_items(scenario, ends, made.problem.items);
  }
  made.problem.cost = planned_cost(scenario);
  buckets::Plan plan = plan_of(scenario, made.problem);
  bool same = plan.groups.size() == made.gates.size();
  for (std::size_t g = 0; same && g < plan.groups.size(); ++g) {
    const buckets::Group& group = plan.groups[g];
    same = group.items == made.plan.groups[g].items &&
           programs::message_gate(ends, group.ready.value) == made.gates[g];
  }
  if (!same) {
    buckets::Problem problem = std::move(made.problem);
    made = {};
    made.problem = std::move(problem);
    made.is_planned = true;
  }
  made.plan = std::move(plan);
  return same;
}

// Moves buckets to the ready times of the scenario. False where they do not begin behind the same
// layers: a planner that reads no costs lets each wait for its gradients and the buckets before it.
bool moves_alike(const Scenario& scenario, ScenarioProgram& made) {
  const std::vector<Seconds> ends = scenario.workload.backward_ends();
  std::vector<buckets::Item> items = made.problem.items;
  move_items(scenario, ends, items);
  Seconds before;
  Seconds after;
  for (std::size_t g = 0; g < made.plan.groups.size(); ++g) {
    buckets::Group& group = made.plan.groups[g];
    for (const std::uint32_t place : group.items) {
      if (items[place].bytes.value > 0) {
        before = std::max(before, made.problem.items[place].ready);
        after = std::max(after, items[place].ready);
      }
    }
    if (group.ready != before || programs::message_gate(ends, after.value) != made.gates[g]) {
      return false;
    }
    group.ready = after;
  }
  made.problem.items = std::move(items);
  return true;
}

// Forward and backward of units, or of the layers that they were merged to.
void time_computing(const Scenario& scenario, ScenarioProgram& made) {
  struct Times {
    Seconds forward, backward;
  };
  std::vector<Times> times(std::max(made.units.size(), made.layer_of.size()));
  const std::vector<layers::WorkLayer>& layers = scenario.workload.layers;
  const auto add = [&](std::size_t place, std::uint32_t layer) {
    times[made.one_forward ? 0 : place].forward += layers[layer].forward;
    times[place].backward += layers[layer].backward;
  };
  for (std::size_t u = 0; made.sharded && u < made.units.size(); ++u) {
    for (const std::uint32_t layer : made.units[u].layers) {
      add(u, layer);
    }
  }
  for (std::uint32_t l = 0; l < made.layer_of.size(); ++l) {
    add(made.layer_of[l], l);
  }
  for (programs::Operation& each : made.program.operations) {
    const auto place = static_cast<std::size_t>(made.sharded ? each.unit : each.first_layer);
    if (each.kind == Kind::forward || each.kind == Kind::backward) {
      each.seconds = each.kind == Kind::forward ? times[place].forward : times[place].backward;
    }
  }
}

void take_times(const ScenarioProgram& like, bool computing, bool exchanges,
                ScenarioProgram& made) {
  auto from = like.program.operations.begin();
  for (programs::Operation& each : made.program.operations) {
    if (each.type == programs::OperationType::exchange ? exchanges : computing) {
      each.seconds = from->seconds;
      each.startup = from->startup;
      each.data = from->data;
    }
    ++from;
  }
}

} // namespace

bool retime(const Scenario& scenario, MadeFor made_for, const ProgramMemory* like,
            ProgramMemory& memory) {
  ScenarioProgram& made = *memory.made;
  const Conditions& conditions = scenario.conditions;
  const bool as_fast = memory.computing == conditions.computing;
  if (!keeps_operations(scenario, as_fast, made)) {
    return false;
  }
  const auto ranks = static_cast<std::uint32_t>(scenario.cluster.ranks());
  const bool has_buckets = !made.sharded && !trains_in_rounds(scenario.training);
  const buckets::Planner& planner = buckets::planner(scenario.communication.schedule);
  const bool by_cost =
      has_buckets && (planner.reads_cost || planner.needs == buckets::Needs::selection_costs);
  const bool takes = like != nullptr && like->made && !made.each && !by_cost &&
                     !is_compressed(scenario) && like->made->program.ranks == ranks &&
                     like->made->gates == made.gates &&
                     like->made->program.operations.size() == made.program.operations.size();
  const bool takes_computing = takes && !as_fast && like->computing == conditions.computing;
  const bool takes_exchanges = takes && like->links == conditions.links;
  if (by_cost ? !plans_the_same(scenario, as_fast, made)
              : has_buckets && !as_fast && !takes_computing && !moves_alike(scenario, made)) {
    return false;
  }
  made.made_for = made_for;
  const bool shares_anew = made.program.ranks != ranks && scenario.training.sharding.any();
  if (shares_anew) {
    share_anew(scenario, made);
  }
  made.program.ranks = ranks;
  made.program.interference = scenario.training.overlap;
  if (takes_computing || takes_exchanges) {
    take_times(*like->made, takes_computing, takes_exchanges, made);
  }
  if (!as_fast && !takes_computing) {
    time_computing(scenario, made);
  }
  if (!takes_exchanges) {
    if (has_buckets && !by_cost) {
      made.problem.cost = planned_cost(scenario);
      if (made_for != MadeFor::period) { // of which the end is checked
        check_range(made.problem);
      }
    }
    time_exchanges(scenario, made);
  }
  if (!made.sharded || shares_anew || !as_fast || takes_exchanges) {
    made.seconds = programs::durations_of(made.program);
  }
  return true;
}

} // namespace stepsim::study
