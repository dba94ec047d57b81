#include "run/program_bottleneck.hpp"

#include <algorithm>
#include <cstdint>

#include "program/explain/binding_path.hpp"
#include "program/explain/program_evaluation.hpp"
#include "program/recurrence.hpp"
#include "program/steady_state.hpp"
#include "run/run_figures.hpp"
#include "run/verdict.hpp"

namespace stepsim::study {

namespace {

using program::OperationType;
using program::Program;

// Seconds of exchanges on the binding path, per step. On a network of links, and where too few
// iterations were run to follow the path, only the exposed communication is known.
double exchanges_on_path(const Scenario& scenario, const Program& made,
                         const EvaluatedProgram& found, const program::Factors& factors,
                         const Summary& summary) {
  const std::int64_t discard = std::max<std::int64_t>(1, discarded_iterations(scenario));
  if (found.network || discard >= found.times.iterations) {
    return *summary.exposed_communication_s;
  }
  const bool varies = scenario.variability.varies();
  const Program program = varies ? made : program::one_rank(made);
  const program::BindingPath path =
      !varies && program::recurrence_applies(program)
          ? program::critical_cycle(program, program::steady_state(program))
          : program::binding_path(program, found.times, factors, discard);
  double seconds = 0;
  for (const program::PathStep& step : path.steps) {
    const bool exchange = program.operations[step.operation].type == OperationType::exchange;
    seconds += exchange ? step.seconds() : 0;
  }
  return seconds / path.iterations / program.steps;
}

// Start-up or data, whichever is more of all exchanges.
// On a network of links there is no single start-up to name.
std::string largest_of(const Program& made, bool on_network) {
  if (on_network) {
    return "bandwidth";
  }
  double startup = 0;
  double data = 0;
  for (std::uint32_t o = 0; o < made.iteration_size(); ++o) {
    startup += made.operations[o].startup.value;
    data += made.operations[o].data.value;
  }
  return startup > data ? "latency" : "bandwidth";
}

} // namespace

std::string program_bottleneck(const Scenario& scenario, const Program& program,
                               const EvaluatedProgram& found, const program::Factors& factors,
                               const Summary& summary) {
  if (summary.straggler_wait_s.value_or(0) > kStragglerShare * *summary.iteration_time_s) {
    return "straggler";
  }
  return verdict(
      summary, [&] { return exchanges_on_path(scenario, program, found, factors, summary); },
      [&] { return largest_of(program, found.network.has_value()); });
}

} // namespace stepsim::study
