#include "run/pipeline_figures.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "layers/variability.hpp"
#include "run/run_figures.hpp"
#include "run/run_program.hpp"

namespace stepsim::study {

namespace {

using programs::OperationTimes;
using programs::OperationType;
using programs::Program;

// The end of the run on the slowest worker if it also applies the pending gradients, one after the
// other as they arrive.
double drained_s(const Scenario& scenario, const Program& program, const OperationTimes& times,
                 std::int64_t pending) {
  const layers::Jitter jitter(scenario.variability, program.ranks);
  double update = 0; // with decoding
  for (const programs::Operation& each : program.operations) {
    update += each.kind == programs::Kind::update ? each.seconds.value : 0;
  }
  double latest = 0;
  for (std::uint32_t rank = 0; rank < times.ranks; ++rank) {
    const auto end_of = [&](std::int64_t iteration, bool exchanges) {
      double end = 0;
      for (std::uint32_t o = 0; o < program.iteration_size(); ++o) {
        if ((program.operations[o].type == OperationType::exchange) == exchanges) {
          end = std::max(end, times.end[times.at(iteration, o, rank)]);
        }
      }
      return end;
    };
    double clock = end_of(times.iterations - 1, false);
    for (std::int64_t t = times.iterations - pending; t < times.iterations; ++t) {
      clock = std::max(clock, end_of(t, true)) + jitter.straggler(rank) * update;
    }
    latest = std::max(latest, clock);
  }
  return latest;
}

} // namespace

bool searches_width(const Scenario& scenario) {
  return scenario.training.algorithm == TrainingAlgorithm::pipe_sgd &&
         !scenario.training.pipeline_width;
}

std::string width_warning(std::int64_t width) {
  return "pipeline_width optimal: " + std::to_string(width) + ", staleness " +
         std::to_string(width - 1) + "; accuracy is not modelled";
}

Result run_with_best_width(const Scenario& scenario, Detail detail) {
  Scenario tried = scenario;
  tried.training.warmup_iterations = 0;
  const Training& training = scenario.training;
  const std::int64_t width =
      programs::best_width(training.max_width, training.width_tolerance, [&](std::int64_t each) {
        tried.training.pipeline_width = each;
        return *run_program(tried, Detail::period).summary.iteration_time_s;
      });
  tried.training.pipeline_width = width;
  tried.training.warmup_iterations = scenario.training.warmup_iterations;
  Result result = run_program(tried, detail);
  result.scenario = scenario;
  result.warnings.insert(result.warnings.begin(), width_warning(width));
  return result;
}

// The width of the program is 1 if one worker has nothing to exchange.
void fill_pipeline(const Scenario& scenario, const Program& program, const OperationTimes& times,
                   Result& result) {
  const Training& training = scenario.training;
  const programs::PipelineSteps steps{.iterations = training.iterations,
                                      .width = program.applies.empty()
                                                   ? *training.pipeline_width
                                                   : std::int64_t{program.applies.front().distance},
                                      .warmup_iterations = training.warmup_iterations,
                                      .warmup_switch = training.warmup_switch};
  const std::int64_t pending = programs::pending_gradients(steps);
  Summary& summary = result.summary;
  summary.pipeline_width = static_cast<double>(steps.width);
  fill_staleness(programs::pipeline_staleness(steps, training.drain), summary);
  summary.in_flight_gradients = training.drain ? 0 : static_cast<double>(pending);
  if (training.drain) {
    summary.makespan_drained_s = drained_s(scenario, program, times, pending);
  }
  for (Iteration& each : result.iterations) {
    const std::int64_t applied = programs::pipeline_step(steps, each.index + 1).applies; // from 1
    each.applied_gradient = applied > 0 ? std::optional(applied - 1) : std::nullopt;
  }
}

} // namespace stepsim::study
