#include "run/run_program.hpp"

#include "run/run_figures.hpp"
#include "scenario/scenario_training.hpp"

namespace stepsim::study {

namespace {

using programs::OperationType;

// The end of the run on the slowest worker if it also applies the pending gradients, one after the
// other as they arrive.
double drained_s(const Scenario& scenario, const programs::Program& program,
                 const programs::OperationTimes& times, std::int64_t pending) {
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
          end = std::max(end, times.end[times.at(times.row(iteration), o, rank)] +
                                  times.later_s(iteration));
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

// Period by formula: constant times, and the exchange in one piece after backward or a width of 2
// or more, where only the sums count (PIP 4, 7, 12). With a width of 1 an exchange starts while
// backward still runs, so that its end depends on every single piece. The published total,
// T / K (c + m), holds for a run of T iterations whose work is spread evenly over K pipelines.
void fill_forms(const Scenario& scenario, const programs::Program& program, std::int64_t width,
                Result& result) {
  const Training& training = scenario.training;
  double compute = 0;
  double exchange = 0;
  bool in_one_piece = true;
  std::uint32_t last = 0; // operation of the compute stream
  bool plain = one_slowdown(training.overlap).has_value();
  for (std::uint32_t o = 0; o < program.iteration_size(); ++o) {
    const programs::Operation& each = program.operations[o];
    if (each.type == OperationType::exchange) {
      exchange += each.startup.value + each.data.value;
      const auto waits = program.waits_of(o);
      in_one_piece &= std::ranges::all_of(
          waits, [&](const programs::Wait& wait) { return wait.operation == last; });
    } else if (each.type == OperationType::compute && each.stream == program.operations[0].stream) {
      compute += each.seconds.value;
      last = o;
    } else { // a delay, or a selection on the copy stream
      plain = false;
    }
  }
  Summary& summary = result.summary;
  summary.paper_form_s =
      static_cast<double>(training.iterations) / static_cast<double>(width) * (compute + exchange);
  const bool by_formula = plain && (in_one_piece || width > 1) && width <= training.iterations;
  if (by_formula && !scenario.variability.varies() && !is_simulated(scenario)) {
    summary.closed_form_s = programs::pipeline_period(compute, exchange, width,
                                                      one_slowdown(training.overlap).value_or(1));
  }
}

} // namespace

bool searches_width(const Scenario& scenario) {
  return scenario.training.algorithm == TrainingAlgorithm::pipe_sgd &&
         !scenario.training.pipeline_width;
}

Scenario with_best_width(const Scenario& scenario) {
  Scenario tried = scenario;
  tried.training.warmup_iterations = 0;
  const Training& training = scenario.training;
  tried.training.pipeline_width =
      programs::best_width(training.max_width, training.width_tolerance, [&](std::int64_t each) {
        tried.training.pipeline_width = each;
        return program_period(tried);
      });
  tried.training.warmup_iterations = scenario.training.warmup_iterations;
  return tried;
}

// The width of the program is 1 if one worker has nothing to exchange.
void fill_pipeline(const Scenario& scenario, const ScenarioProgram& made,
                   const programs::OperationTimes& times, Result& result) {
  const programs::Program& program = made.program;
  const Training& training = scenario.training;
  const programs::PipelineSteps steps{.iterations = training.iterations,
                                      .width = !program.applies.empty()
                                                   ? std::int64_t{program.applies.front().distance}
                                               : program.ranks == 1 ? 1
                                                                    : *training.pipeline_width,
                                      .warmup_iterations = training.warmup_iterations,
                                      .warmup_switch = training.warmup_switch};
  const std::int64_t pending = programs::pending_gradients(steps);
  Summary& summary = result.summary;
  summary.pipeline_width = static_cast<double>(steps.width);
  constexpr double kRounding = 1e-9;
  if (std::abs(*summary.iteration_time_s - *summary.period_s) > kRounding * *summary.period_s) {
    result.warnings.push_back("the second half of the iterations, over which iteration_time_s is "
                              "the mean, is not the steady state of the pipeline, in which a step "
                              "takes " +
                              base::readable_seconds(*summary.period_s));
  }
  fill_staleness(programs::pipeline_staleness(steps, training.drain), summary);
  summary.in_flight_gradients = training.drain ? 0 : static_cast<double>(pending);
  if (training.drain) {
    summary.makespan_drained_s = drained_s(scenario, program, times, pending);
  }
  if (!made.simulated) {
    fill_forms(scenario, program, steps.width, result);
  }
  for (Iteration& each : result.iterations) {
    const std::int64_t applied = programs::applied_gradient(steps, each.index + 1); // from 1
    each.applied_gradient = applied > 0 ? std::optional(applied - 1) : std::nullopt;
  }
}

} // namespace stepsim::study
