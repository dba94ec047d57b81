#include "programs/explain/explanation.hpp"

namespace stepsim::programs {

Explanation explain(const Program& given, const ExplainOptions& options) {
  const Evaluation& evaluation = options.evaluation;
  const bool equal = evaluation.factors.compute.empty();
  const Program program = equal ? one_rank(given) : given;
  Explanation result;
  result.evaluator = evaluator_of(program, evaluation);
  std::optional<SteadyState> state;
  if (result.evaluator == Evaluator::closed_form) {
    state = steady_state(program);
    result.path = critical_cycle(program, *state);
  } else {
    const Evaluation steady = settled(program, evaluation);
    result.path = binding_path(program, evaluate(program, steady, Record::all), steady.factors,
                               steady.discard);
  }
  const double period = result.path.period_s;
  result.exposed_s = beyond_s(without_exchanges(program), evaluation, period);
  if (program.interference.any()) {
    Program alone = program;
    alone.interference = {};
    result.interference_s = beyond_s(alone, evaluation, period);
  }
  result.attribution = attribution(program, result.path, options.labels);

  std::vector<Parameter> parameters = parameters_of(program, options.links);
  std::vector<PathStep> steps = result.path.steps;
  std::ranges::stable_sort(steps, std::ranges::greater(), &PathStep::seconds);
  for (std::size_t i = 0; i < std::min(options.operations, steps.size()); ++i) {
    if (steps[i].seconds() > 0) {
      parameters.push_back(seconds_of(program, steps[i].operation));
    }
  }
  for (const Parameter& parameter : parameters) {
    result.sensitivities.push_back(
        state ? exact_sensitivity(*state, parameter)
              : numeric_sensitivity(program, parameter, evaluation, period));
  }
  return result;
}

} // namespace stepsim::programs
