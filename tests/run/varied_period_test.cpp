// With factors of variability the period is the mean of the iterations that count, whether a
// formula or a program gives it (TRN 2.4, 2.10).
#include <doctest/doctest.h>

#include <string>

#include "run/run_figures.hpp"
#include "run/summary.hpp"
#include "scenario/scenario_text.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using namespace stepsim::study;
using namespace stepsim::study::testing;
using stepsim::testing::within;

namespace {

// 64 workers that differ and one message that takes next to no time.
std::string workers(double compute_s, const std::string& training, const std::string& more = "") {
  return R"({"workload": {"layers": [{"name": "a", "forward_s": )" + std::to_string(compute_s) +
         R"(, "backward_s": )" + std::to_string(2 * compute_s) +
         R"(, "gradient_bytes": 4000}]}, "cluster": {"nodes": 64,
            "network": {"latency_s": 1e-9, "bandwidth_Bps": 1e12}},
            "training": {)" +
         training + R"("iterations": 10}, "variability": {"compute_cv": 0.1})" + more + "}";
}

const std::string kBarrier = R"(, "communication": {"schedule": "single", "collective": "ring",
                                 "next_forward": "barrier"})";

// Iterations of a program may have several steps.
double mean_of_iterations(const Result& result) {
  const auto first = static_cast<std::size_t>(discarded_iterations(*result.scenario));
  double sum = 0;
  for (std::size_t t = first; t < result.iterations.size(); ++t) {
    sum += result.iterations[t].iteration_time_s;
  }
  return sum / static_cast<double>(result.iterations.size() - first) /
         result.summary.steps.value_or(1);
}

} // namespace

TEST_CASE("varied period: the mean of the iterations, inside its interval, for every algorithm") {
  for (const std::string& training :
       {std::string(), std::string(R"("micro_batches": 2, )"),
        std::string(R"("compute_slowdown": 1.5, )"), std::string(R"("sharding": "zero1", )"),
        std::string(R"("sharding": "full_shard", )"), std::string(R"("algorithm": "pipe_sgd", )"),
        std::string(R"("algorithm": "pipe_sgd", "pipeline_width": 4, )"),
        std::string(R"("algorithm": "od_sgd", )"),
        std::string(R"("algorithm": "local_sgd", "local_steps": 3, )"),
        std::string(R"("algorithm": "diloco", "local_steps": 4, "overlap_steps": 1, )"),
        std::string(R"("algorithm": "parameter_server", )")}) {
    CAPTURE(training);
    const Result result = run_text(workers(0.01, training));
    const double mean = mean_of_iterations(result);
    CHECK(*result.summary.iteration_time_s == within(mean, 1e-9));
    CHECK(*result.summary.period_s == within(mean * *result.summary.steps, 1e-9));
    CHECK(*result.summary.iteration_time_low_s < mean * (1 - 1e-3));
    CHECK(*result.summary.iteration_time_high_s > mean * (1 + 1e-3));
  }
}

TEST_CASE("varied period: the program of a step has the period of its formula") {
  const double formula = *run_text(workers(0.02, "", kBarrier)).summary.iteration_time_s;
  const auto period = [](double compute_s, const std::string& training) {
    return *run_text(workers(compute_s, training, kBarrier)).summary.iteration_time_s;
  };
  // The iterations of a program end with backward, those of the formula with forward.
  CHECK(period(0.02, R"("compute_slowdown": 1.000001, )") == within(formula, 1e-3));
  CHECK(period(0.01, R"("micro_batches": 2, )") == within(formula, 1e-3));
}
