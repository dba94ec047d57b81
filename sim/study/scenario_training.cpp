// /training and /variability of a scenario (PIP 2, 9).
#include <array>
#include <string>
#include <string_view>

#include "study/scenario_parts.hpp"

namespace stepsim::study {

void parse_training(io::Fields& fields, const ParseContext& context, Scenario& scenario) {
  Training& training = scenario.training;
  static constexpr std::array<std::string_view, 1> kAlgorithms{"sync_sgd"};
  (void)fields.word("algorithm", kAlgorithms, 0);
  training.iterations = fields.integer("iterations", io::between(1, 1e6), 10);
  training.discard_iterations = fields.optional_integer("discard_iterations", io::at_least(0));
  if (training.discard_iterations.value_or(0) >= training.iterations) {
    context.problems.add(fields.json(), "discard_iterations",
                         "must be less than iterations (" + std::to_string(training.iterations) +
                             "), got " + std::to_string(*training.discard_iterations));
  }
  training.update = {fields.number("update_s", io::at_least(0), scenario.workload.update.value)};
  training.input = {fields.number("input_s", io::at_least(0), 0)};
  training.input_pipelined = fields.boolean("input_pipelined", true);
}

void parse_variability(io::Fields& fields, const ParseContext& context) {
  for (const std::string_view key : {"compute_cv", "exchange_cv"}) {
    if (fields.number(key, io::at_least(0), 0) > 0) {
      context.problems.add(fields.json(), key, "only 0 is supported: workers do not vary");
    }
  }
  static constexpr std::array<std::string_view, 5> kLaws{"lognormal", "uniform", "exponential",
                                                         "gamma", "empirical"};
  (void)fields.word("distribution", kLaws, 0);
  (void)fields.array("factors", false);
  if (!fields.array("stragglers", false).empty()) {
    context.problems.add(fields.json(), "stragglers",
                         "only an empty list is supported: workers do not vary");
  }
}

} // namespace stepsim::study
