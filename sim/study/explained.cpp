#include "study/explained.hpp"

#include "programs/event_pass.hpp"
#include "run/evaluated_program.hpp"
#include "run/run.hpp"
#include "run/run_figures.hpp"
#include "study/step_changes.hpp"

namespace stepsim::study {

using programs::Operation;
using programs::Program;

Explained explained_program(const ProgramFile& file, const programs::ProgramLabels& labels) {
  Explained result;
  result.name = file.name;
  result.program = file.program;
  result.links = file.links;
  result.explanation = programs::explain(
      file.program, {.evaluation = file.evaluation, .labels = labels, .links = file.links});
  result.iterations = file.evaluation.iterations;
  result.makespan_s = programs::evaluate(file.program, file.evaluation).makespan_s;
  result.step_s = result.explanation.path.period_s / file.program.steps;
  result.bottleneck = bottleneck_of(result);
  result.warnings = file.warnings;
  return result;
}

void add_program_changes(const ProgramFile& file, Explained& explained) {
  const auto add = [&](std::string change, const std::function<void(Program&)>& apply) {
    Program changed = file.program;
    apply(changed);
    const double step = programs::period_s(changed, file.evaluation) / changed.steps;
    const double gain = explained.step_s > 0 ? 1 - step / explained.step_s : 0;
    explained.what_if.push_back({std::move(change), {}, step, gain});
  };
  const auto scale = [](Seconds Operation::*part, bool only_compute) {
    return [=](Program& program) {
      for (Operation& operation : program.operations) {
        if (!only_compute || operation.type == programs::OperationType::compute) {
          operation.*part = operation.*part * 0.5;
        }
      }
    };
  };
  add("half the start-up of every exchange", scale(&Operation::startup, false));
  add("twice the bandwidth", scale(&Operation::data, false));
  add("computing twice as fast", scale(&Operation::seconds, true));
  if (file.program.interference.any()) {
    add("no interference of computing and communication",
        [](Program& program) { program.interference = {}; });
  }
  sort_by_gain(explained.what_if);
}

namespace {

programs::ProgramLabels labels_of(const Scenario& scenario, const ScenarioProgram& made) {
  programs::ProgramLabels labels;
  const bool plain_rounds = trains_in_rounds(scenario.training) && !has_islands(scenario.training);
  labels.unit_noun = made.sharded ? "unit" : plain_rounds ? "message" : "bucket";
  for (const layers::WorkLayer& layer : scenario.workload.layers) {
    labels.layers.push_back(layer.name);
  }
  for (const ProgramUnit& unit : made.units) {
    if (unit.owner) {
      labels.first_broadcast =
          std::min(labels.first_broadcast, static_cast<std::int32_t>(labels.unit_parts.size()));
    }
    std::vector<programs::UnitLayer> parts;
    for (std::size_t i = 0; i < unit.layers.size(); ++i) {
      const layers::WorkLayer& layer = scenario.workload.layers[unit.layers[i]];
      parts.push_back({.layer = unit.layers[i],
                       .forward_s = layer.forward.value,
                       .backward_s = layer.backward.value,
                       .bytes = unit.layer_bytes[i]});
    }
    labels.unit_parts.push_back(std::move(parts));
  }
  return labels;
}

// Where every byte goes over equal links and nothing else takes time, an exchange is start-ups and
// bytes; elsewhere its parts have no single latency and bandwidth. Nor has a broadcast in blocks,
// whose number depends on both.
programs::LinkConstants links_of(const Scenario& given, const ScenarioProgram& made) {
  const Scenario scenario = outer_cluster_of(given);
  const Cluster& cluster = scenario.cluster;
  const bool plain = exchanges(scenario) && cluster.has_network && !cluster.fabric &&
                     !cluster.network.curve && !scenario.communication.question &&
                     !scenario.training.exchange && !is_compressed(scenario) &&
                     (cluster.gpus_of_domain() == 1 || cluster.nodes == 1) &&
                     !has_islands(given.training) && cluster.network.reduction_Bps == 0 &&
                     scenario.training.sync.value == 0 && scenario.training.host_copy_Bps == 0 &&
                     std::ranges::none_of(made.units, [](const ProgramUnit& unit) {
                       return unit.owner && unit.gather.time.startup.value == 0;
                     });
  if (!plain) {
    return {};
  }
  const collectives::LinkCost link = exchange_of(scenario).links.all;
  return {.latency_s = link.startup_s(), .seconds_per_byte = link.per_byte_s};
}

void set_factors(const Scenario& scenario, ProgramFile& file) {
  file.evaluation.after = programs::iterations_after(file.program);
  file.evaluation.factors =
      factors_of(scenario, file.program, file.evaluation.iterations + file.evaluation.after);
}

} // namespace

ExplainableScenario explainable(const Scenario& scenario) {
  ScenarioProgram made = scenario_program(scenario);
  ExplainableScenario result;
  result.labels = labels_of(scenario, made);
  ProgramFile& file = result.file;
  file.name = scenario.name;
  file.program = std::move(made.program);
  file.links = links_of(scenario, made);
  file.evaluation.iterations = 400;
  file.evaluation.discard = 200;
  if (scenario.variability.varies()) {
    const Window window = window_of(scenario, file.program);
    file.evaluation.iterations = std::max<std::int64_t>(2, window.to + 1);
    file.evaluation.discard =
        std::clamp<std::int64_t>(window.from + 1, 1, file.evaluation.iterations - 1);
    set_factors(scenario, file);
  }
  file.warnings = scenario.workload.warnings;
  file.warnings.insert(file.warnings.end(), scenario.warnings.begin(), scenario.warnings.end());
  return result;
}

} // namespace stepsim::study
