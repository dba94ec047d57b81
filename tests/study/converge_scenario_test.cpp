#include "study/converge_scenario.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "base/error.hpp"
#include "run/run.hpp"
#include "scenario/scenario_text.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using namespace stepsim::study;
using stepsim::testing::within;

namespace {

// Compute 0.3 s, one exchange of 100 MB over a ring of 4 at 1 GB/s: 0.15 s.
Curve curve_of(const std::string& training, const CurveOptions& options,
               const std::string& communication = R"({"schedule": "single"})") {
  return loss_curve(
      study::testing::scenario(R"({"workload": {"layers": [{"name": "l", "forward_s": 0.1,
        "backward_s": 0.2, "gradient_bytes": 100000000}]},
        "cluster": {"nodes": 4, "network": {"latency_s": 0, "bandwidth_Bps": 1e9}},
        "training": )" + training +
                               R"(, "communication": )" + communication + "}"),
      options);
}

constexpr CurveOptions kTwenty{.iterations = 20};

} // namespace

TEST_CASE("loss curve: times are of the scenario, losses of the small problem") {
  const Curve sync = curve_of(R"({"algorithm": "sync_sgd"})", kTwenty);
  REQUIRE(sync.points.size() == 21);
  const std::vector<double> losses =
      learn(LogisticProblem({.seed = 1}), {.workers = 4, .iterations = 20});
  for (std::size_t t = 0; t <= 20; ++t) {
    CHECK(sync.points[t].time_s == within(static_cast<double>(t) * (0.3 + 0.15), 1e-12));
    CHECK(sync.points[t].loss == losses[t]);
  }
  CHECK(sync.iteration_time_s == within(0.45, 1e-12));
  CHECK(sync.staleness_mean == 0);

  const Curve pipe = curve_of(R"({"algorithm": "pipe_sgd"})", kTwenty);
  CHECK(pipe.pipeline_width == 2);
  CHECK(pipe.staleness_mean == 1);
  CHECK(pipe.points.back().time_s == within(20 * 0.3, 1e-12)); // compute-bound
  CHECK_FALSE(pipe.applied_gradient[1].has_value());
  CHECK(pipe.applied_gradient[2] == 0); // as in a result
  // Weights at the start of the second iteration are still the first ones: no gradient was applied.
  CHECK(pipe.points[1].loss == pipe.points[0].loss);
  CHECK(sync.points[1].loss < sync.points[0].loss);
}

TEST_CASE("loss curve: width 1, one worker and a long warm-up are synchronous") {
  const Curve sync = curve_of(R"({"algorithm": "sync_sgd"})", kTwenty);
  for (const char* training :
       {R"({"algorithm": "pipe_sgd", "pipeline_width": 1})",
        R"({"algorithm": "pipe_sgd", "iterations": 21, "warmup_iterations": 21})"}) {
    const Curve pipe = curve_of(training, kTwenty);
    for (std::size_t t = 0; t <= 20; ++t) {
      CHECK(pipe.points[t].loss == sync.points[t].loss);
      CHECK(pipe.points[t].time_s == within(sync.points[t].time_s, 1e-12));
    }
  }
}

TEST_CASE("loss curve: an asynchronous server applies updates one by one") {
  const Curve curve =
      curve_of(R"({"algorithm": "parameter_server", "mode": "async"})", {.iterations = 60}, "{}");
  REQUIRE(curve.points.size() == 61);
  // Server-bound, dedicated, 4 x 0.1 s per round; server-free workers would take 0.3 + 2 x 0.1.
  CHECK(curve.iteration_time_s == within(0.5, 1e-9));
  CHECK(curve.points[1].time_s == within(0.3 + 4 * 0.1, 1e-12)); // the fourth push has arrived
  CHECK(curve.staleness_mean == within(3, 0.05));
  CHECK(curve.points[60].loss < 0.6 * curve.points[0].loss);
  CHECK(curve.points[60].time_s == within(60 * 0.5, 0.02));
  CHECK(curve.applied_gradient.empty());
}

TEST_CASE("loss curve: compression is scaled to the small problem") {
  // 250,000 of 25,000,000 values are 1 %, so 20 of 2,010.
  const Curve k =
      curve_of(R"({"algorithm": "sync_sgd"})", kTwenty,
               R"({"schedule": "single", "compression": {"method": "topk", "k": 250000}})");
  const Curve density = curve_of(R"({"algorithm": "sync_sgd"})", kTwenty,
                                 R"({"compression": {"method": "topk", "density": 0.01}})");
  CHECK(k.k == 20);
  CHECK(density.k == 20);
  CHECK(k.points.back().loss == density.points.back().loss);
  CHECK(k.method == "topk");
  CHECK_THROWS_WITH_AS(
      (void)curve_of(R"({"algorithm": "sync_sgd"})", kTwenty,
                     R"({"compression": {"method": "qsgd"}})"),
      "converge: no operator on real numbers for compression qsgd; there are none, truncate16, "
      "quantize8, topk, gtopk_tree, gtopk_butterfly, gtopk_exact",
      SimulationError);
}

TEST_CASE("loss curve: the first point at or below the target") {
  const Curve curve =
      curve_of(R"({"algorithm": "sync_sgd"})", {.iterations = 60, .target_loss = 1.2});
  REQUIRE(curve.iterations_to_target.has_value());
  const auto first = static_cast<std::size_t>(*curve.iterations_to_target);
  CHECK(curve.points[first].loss <= 1.2);
  CHECK(curve.points[first - 1].loss > 1.2);
  CHECK(curve.time_to_target_s == curve.points[first].time_s);
  const Curve never =
      curve_of(R"({"algorithm": "sync_sgd"})", {.iterations = 5, .target_loss = 0.1});
  CHECK_FALSE(never.time_to_target_s.has_value());
}

TEST_CASE("loss curve: the loss at a time is that of the last point not later") {
  Curve curve;
  curve.points = {{0, 3}, {1, 2}, {4, 1}};
  CHECK(loss_at(curve, 0) == 3);
  CHECK(loss_at(curve, 0.99) == 3);
  CHECK(loss_at(curve, 1) == 2);
  CHECK(loss_at(curve, 9) == 1);
}

TEST_CASE("loss curve: as JSON it has the keys of the interface, null where nothing is known") {
  const CurveOptions options{.iterations = 2, .target_loss = 0.1};
  const io::Json tree = curve_tree(curve_of(R"({"algorithm": "pipe_sgd"})", options), options);
  CHECK(tree.find("problem")->as_string() == "logistic");
  CHECK(tree.find("note")->as_string() == kStandInNote);
  CHECK(tree.find("pipeline_width")->as_integer() == 2);
  CHECK(tree.find("step")->as_double() == 1);
  CHECK(tree.find("iterations")->as_integer() == 2);
  CHECK(tree.find("converged")->is_null());
  CHECK(tree.find("final_distance")->is_null());
  CHECK(tree.find("time_to_target_s")->is_null());
  CHECK(tree.find("applied_gradient")->as_array().size() == 2);
  REQUIRE(tree.find("points")->as_array().size() == 3);
  CHECK(tree.find("points")->as_array()[2].find("time_s")->as_double() == within(0.6, 1e-12));
  CHECK(tree.find("points")->as_array()[0].find("loss")->as_double() ==
        within(std::log(10.0), 1e-12));
  const CurveOptions easy{.iterations = 2, .target_loss = 3};
  CHECK(curve_tree(curve_of(R"({"algorithm": "pipe_sgd"})", easy), easy)
            .find("converged")
            ->as_bool());
}

TEST_CASE("loss curve: more workers than samples are refused") {
  CHECK_THROWS_AS(
      (void)loss_curve(study::testing::scenario(R"({"workload": {"layers": [{"name": "l",
        "forward_s": 0.1, "backward_s": 0.2, "gradient_bytes": 1000}]},
        "cluster": {"nodes": 4096, "network": {"latency_s": 0, "bandwidth_Bps": 1e9}}})"),
                       kTwenty),
      SimulationError);
}
