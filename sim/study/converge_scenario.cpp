// Losses come from the small problem and times from the run of the scenario; both count the same
// iterations, so that point i of one belongs to point i of the other.
#include "study/converge_scenario.hpp"

#include "document/fields/members.hpp"
#include "run/run.hpp"
#include "run/run_program.hpp"
#include "run/work_estimate.hpp"

namespace stepsim::study {

namespace {

// The scenario's compression for a vector of another length: the same share of its elements.
// A number of entries that is right for a large model would select all of a small one.
collectives::Compression for_small_problem(const Scenario& scenario) {
  collectives::Compression compression = scenario.communication.compression;
  if (compression.k) {
    const auto elements = static_cast<double>(scenario.workload.values());
    compression.density =
        std::min(1.0, static_cast<double>(*compression.k) / std::max(1.0, elements));
    compression.k.reset();
  }
  return compression;
}

// The scenario's batch size is not taken: it says how long an iteration is, and means nothing for
// the small problem.
Learning learning_of(const Scenario& scenario, const CurveOptions& options) {
  return {.workers = static_cast<std::uint32_t>(scenario.cluster.ranks()),
          .iterations = options.iterations,
          .learning_rate = options.learning_rate,
          .batch = options.batch * static_cast<std::uint32_t>(scenario.training.micro_batches),
          .compression = for_small_problem(scenario),
          .server = scenario.training.algorithm == TrainingAlgorithm::parameter_server};
}

constexpr std::array kLearned{TrainingAlgorithm::sync_sgd, TrainingAlgorithm::pipe_sgd,
                              TrainingAlgorithm::parameter_server};

// Refused before the run, which may take long.
void check_possible(const Scenario& scenario, const LogisticProblem& problem) {
  if (std::ranges::find(kLearned, scenario.training.algorithm) == kLearned.end()) {
    throw SimulationError("converge: no learning rule for training algorithm " +
                          std::string(kTrainingAlgorithms[scenario.training.algorithm]));
  }
  const collectives::CompressionMethod method = scenario.communication.compression.method;
  const std::string name(collectives::row(method).name);
  if (!has_operator(method)) {
    std::string known;
    for (const collectives::CompressionRow& each : collectives::compression_table()) {
      if (has_operator(each.method)) {
        known += (known.empty() ? "" : ", ") + std::string(each.name);
      }
    }
    throw SimulationError("converge: no operator on real numbers for compression " + name +
                          "; there are " + known);
  }
  if (scenario.training.async() && method != collectives::CompressionMethod::none) {
    throw SimulationError("converge: compression " + name +
                          " is not defined for the updates of an asynchronous parameter server");
  }
  if (scenario.cluster.ranks() > problem.samples()) {
    throw SimulationError(
        fmt::format("converge: the small problem has {} samples, too few for {} workers",
                    problem.samples(), scenario.cluster.ranks()));
  }
}

void add_points(const std::vector<double>& losses, const std::vector<double>& times, Curve& curve) {
  for (std::size_t i = 0; i < losses.size(); ++i) {
    curve.points.push_back({times[i], losses[i]});
  }
}

void synchronous_curve(const Scenario& scenario, const LogisticProblem& problem, Learning& learning,
                       Curve& curve) {
  const Result result = run(scenario);
  curve.iteration_time_s = step_of(result.summary);
  curve.warnings = result.warnings;
  if (scenario.training.algorithm == TrainingAlgorithm::pipe_sgd) {
    learning.staleness = {.width = static_cast<std::int64_t>(*result.summary.pipeline_width),
                          .warmup_iterations = scenario.training.warmup_iterations,
                          .warmup_switch = scenario.training.warmup_switch};
    curve.pipeline_width = learning.staleness.width;
  }
  layers::StalenessCounts staleness;
  for (std::int64_t t = 1; t <= learning.iterations; ++t) {
    const std::int64_t applied = programs::applied_gradient(t, learning.staleness.width,
                                                            learning.staleness.warmup_iterations,
                                                            learning.staleness.warmup_switch);
    curve.applied_gradient.push_back(applied > 0 ? std::optional(applied - 1) : std::nullopt);
    if (applied > 0) {
      staleness.add(t - 1 - applied);
    }
  }
  curve.staleness_mean = staleness.mean();
  if (collectives::row(learning.compression.method).kind == collectives::CompressionKind::sparse) {
    curve.k = collectives::selected_entries(learning.compression,
                                            static_cast<std::int64_t>(problem.parameters()));
  }
  std::vector<double> times;
  for (const Iteration& iteration : result.iterations) {
    times.push_back(times.empty() ? 0 : iteration.start_s);
  }
  add_points(learn(problem, learning), times, curve);
}

void asynchronous_curve(const Scenario& scenario, const LogisticProblem& problem,
                        const Learning& learning, Curve& curve) {
  programs::AsyncInput input = async_input(scenario);
  input.iterations = learning.iterations;
  const programs::AsyncTimes times = programs::run_async(input);
  curve.iteration_time_s = times.period_s;
  curve.staleness_mean = times.staleness.mean();
  std::vector<double> ends{0};
  for (std::size_t i = learning.workers - 1; i < times.updates.size(); i += learning.workers) {
    ends.push_back(times.updates[i].applied_s);
  }
  add_points(learn_async(problem, learning, times.updates), ends, curve);
}

} // namespace

Curve loss_curve(const Scenario& given, const CurveOptions& options) {
  const LogisticProblem problem({.seed = static_cast<std::uint64_t>(given.seed)});
  check_possible(given, problem);
  Scenario scenario = given;
  // The last point is the start of one iteration more.
  scenario.training.iterations = options.iterations + 1;
  scenario.simulated_limit = Seconds{std::numeric_limits<double>::infinity()};
  const Training& training = scenario.training;
  Learning learning = learning_of(scenario, options);
  Curve curve;
  curve.workers = learning.workers;
  curve.method = collectives::row(learning.compression.method).name;
  if (training.async()) {
    curve.algorithm = "parameter_server " + std::string(kServerModes[training.mode]);
    asynchronous_curve(scenario, problem, learning, curve);
  } else {
    curve.algorithm = kTrainingAlgorithms[training.algorithm];
    if (training.algorithm == TrainingAlgorithm::parameter_server) {
      curve.algorithm += " sync";
    }
    synchronous_curve(scenario, problem, learning, curve);
  }
  const auto reached = [&](const CurvePoint& point) { return point.loss <= *options.target_loss; };
  if (options.target_loss) {
    const auto first = std::ranges::find_if(curve.points, reached);
    if (first != curve.points.end()) {
      curve.time_to_target_s = first->time_s;
      curve.iterations_to_target = first - curve.points.begin();
    }
  }
  return curve;
}

// Of learning, the loss over all samples at every iteration and the gradients of every worker
// count.
double estimated_seconds(const Scenario& given, const CurveOptions& options) {
  constexpr double kLossOfSample = 4e-7;
  constexpr double kGradientOfSample = 1e-6;
  constexpr double kGradientOfWorker = 2e-5; // one vector of the problem's size
  Scenario scenario = given;
  scenario.training.iterations = options.iterations + 1;
  const double samples = LogisticOptions{}.samples;
  const auto workers = static_cast<double>(scenario.cluster.ranks());
  const auto batch = static_cast<double>(learning_of(scenario, options).batch);
  const double iteration =
      kLossOfSample * samples + workers * (kGradientOfWorker + kGradientOfSample * batch);
  return estimated_seconds(scenario) + static_cast<double>(options.iterations) * iteration;
}

// A step function: between two updates the loss does not change.
double loss_at(const Curve& curve, double time_s) {
  double loss = curve.points.front().loss;
  for (const CurvePoint& point : curve.points) {
    if (point.time_s > time_s) {
      break;
    }
    loss = point.loss;
  }
  return loss;
}

io::Json curve_tree(const Curve& curve, const CurveOptions& options) {
  auto applied = io::write_each(curve.applied_gradient,
                                [](const auto& gradient) { return io::or_null(gradient); });
  io::Json tree = io::Object{
      {"problem", "logistic"},
      {"note", kStandInNote},
      {"compression", curve.method},
      {"step", options.learning_rate},
      {"batch_size", options.batch},
      {"converged", curve.time_to_target_s ? io::Json(true) : io::Json()},
      {"final_distance", nullptr},
      {"final_loss", curve.points.back().loss},
      {"applied_gradient", std::move(applied)},
      {"points", io::write_each(curve.points, io::tree_of<&CurvePoint::time_s, &CurvePoint::loss>)},
  };
  io::set_members<&CurveOptions::iterations, &CurveOptions::target_loss>(options, tree);
  io::set_members<&Curve::algorithm, &Curve::workers, &Curve::pipeline_width, &Curve::k,
                  &Curve::staleness_mean, &Curve::iteration_time_s, &Curve::time_to_target_s,
                  &Curve::iterations_to_target>(curve, tree);
  return tree;
}

} // namespace stepsim::study
