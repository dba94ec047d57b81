#pragma once
// Loss over simulated time: the small logistic problem (converge.hpp) trained with the
// updates of a scenario's algorithm, each at its time in the scenario's run. The small problem
// gives the losses and the scenario gives the times. Curves therefore differ by what an algorithm
// does to updates (staleness, sparsity, coding) and by how long updates take, not by what a model
// learns.
//
//   sync_sgd, pipe_sgd and a synchronous parameter server
//       iterations count from 0; point t is when iteration t begins, which first applies the
//       gradient of iteration t - K; K is the width of pipe_sgd, 1 for the others
//   asynchronous parameter server
//       point i is when the last of the first i P updates is applied; P workers

#include "scenario/scenario.hpp"
#include "study/converge.hpp"

namespace stepsim::study {

struct CurveOptions {
  std::int64_t iterations = 300; // replaces the number in the scenario
  double learning_rate = 1;
  std::uint32_t batch = 8;             // samples of the small problem per worker and micro-batch
  std::optional<double> target_loss{}; // empty: the times to a target are not computed
};

struct CurvePoint {
  double time_s{}; // from the start of the run
  double loss{};
};

struct Curve {
  std::string algorithm; // training algorithm, with the mode of a parameter server
  std::string method;    // compression method
  std::uint32_t workers{};
  std::optional<std::int64_t> pipeline_width; // empty unless pipe_sgd
  // Entries that a worker selects of the small problem's gradient; empty unless sparse.
  std::optional<std::int64_t> k;
  double staleness_mean{};   // iterations; asynchronous: updates
  double iteration_time_s{}; // mean time of an iteration of the scenario
  // [t] iteration whose gradient iteration t applies, both from 0; empty list if asynchronous.
  std::vector<std::optional<std::int64_t>> applied_gradient;
  std::vector<CurvePoint> points; // [0] is the start
  // The time of the first point whose loss is at most the target, and its index in `points`. Empty
  // if no point reaches the target or no target was given.
  std::optional<double> time_to_target_s;
  std::optional<std::int64_t> iterations_to_target;
  std::vector<std::string> warnings;
};

inline constexpr std::string_view kStandInNote =
    "the loss is of a small stand-in problem (logistic regression on generated data), the times "
    "are of the scenario";

// Runs the scenario with one iteration more than options.iterations, because the last point is the
// start of that iteration; an asynchronous server runs options.iterations x P updates.
// /limits/simulated_s does not apply. Throws SimulationError for a training algorithm that is not
// listed above, for a compression without an operator on real numbers, for any compression with
// asynchronous updates, and for more workers than the small problem has samples.
[[nodiscard]] Curve loss_curve(const Scenario& scenario, const CurveOptions& options);

// Estimates the CPU seconds that loss_curve() takes.
[[nodiscard]] double estimated_seconds(const Scenario& scenario, const CurveOptions& options);

// Returns the loss of the last point that is not later than `time_s` >= 0.
[[nodiscard]] double loss_at(const Curve& curve, double time_s);

// Returns the result as JSON: {"problem", "algorithm", .., "points": [{"time_s", "loss"}]}.
[[nodiscard]] io::Json curve_tree(const Curve& curve, const CurveOptions& options);

} // namespace stepsim::study
