#pragma once
// Loss over simulated time: the small logistic problem (logistic_problem.hpp) trained with the
// updates of a scenario's algorithm, each at the time the scenario's run gives. The loss is of the
// stand-in, the times are of the scenario: what differs between curves is what an algorithm does to
// updates (staleness, sparsity, coding) and how long they take, nothing that a network learns.
//
//   sync_sgd, pipe_sgd and a synchronous parameter server
//       point t is the start of iteration t + 1, which applies gradient t + 1 - K; K is the width
//       of pipe_sgd, 1 for the others
//   asynchronous parameter server
//       point i is when the last of the first i P updates is applied; P workers
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/converge.hpp"
#include "scenario/scenario.hpp"
#include "json/json.hpp"

namespace stepsim::study {

struct CurveOptions {
  std::int64_t iterations = 300; // replaces the number in the scenario
  double learning_rate = 1;
  std::uint32_t batch = 8;             // samples of the small problem per worker and iteration
  std::optional<double> target_loss{}; // empty: no time to a target is asked for
};

struct CurvePoint {
  double time_s{}; // from the start of the run
  double loss{};
};

struct Curve {
  std::string algorithm; // of training, with the mode of a parameter server
  std::string method;    // of compression
  std::uint32_t workers{};
  std::optional<std::int64_t> pipeline_width;                // pipe_sgd
  std::optional<std::int64_t> k;                             // entries of the small problem, sparse
  double staleness_mean{};                                   // in iterations; async: in updates
  double iteration_time_s{};                                 // of the scenario
  std::vector<std::optional<std::int64_t>> applied_gradient; // [t - 1], from 0; none with async
  std::vector<CurvePoint> points;                            // [0] is the start
  // First point at or below the target: its time, and its place in `points`. Empty if there is
  // none, or no target.
  std::optional<double> time_to_target_s;
  std::optional<std::int64_t> iterations_to_target;
  std::vector<std::string> warnings;
};

inline constexpr std::string_view kStandInNote =
    "the loss is of a small stand-in problem (logistic regression on generated data), the times "
    "are of the scenario";

// Runs the scenario with one iteration more than asked for, because the last point is the start of
// that iteration; an asynchronous server runs options.iterations x P updates. /limits/simulated_s
// does not apply. Throws SimulationError for a compression without an operator on real numbers, for
// any compression with asynchronous updates, and for more workers than the small problem has
// samples.
[[nodiscard]] Curve loss_curve(const Scenario& scenario, const CurveOptions& options);

// CPU seconds that the curve takes, about.
[[nodiscard]] double estimated_seconds(const Scenario& scenario, const CurveOptions& options);

// The loss of the last point that is not later than `time_s` >= 0.
[[nodiscard]] double loss_at(const Curve& curve, double time_s);

// {"problem", "algorithm", .., "points": [{"time_s", "loss"}]}
[[nodiscard]] io::Json curve_tree(const Curve& curve, const CurveOptions& options);

} // namespace stepsim::study
