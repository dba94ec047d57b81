#include "study/solve.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "base/error.hpp"
#include "document/json_text.hpp"
#include "scenario/scenario_text.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using stepsim::testing::within;
using study::testing::shipped_files;

namespace {

// One layer of 100 MB on a ring of 4: T = 6 ms + 6 a + 2 (3/4) 1e8 / B, nothing hidden.
constexpr std::string_view kOneLayer = R"({
  "workload": {"layers": [
    {"name": "one", "forward_s": 2e-3, "backward_s": 4e-3, "gradient_bytes": 100000000}]},
  "cluster": {"nodes": 4, "network": {"latency_s": 1e-5, "bandwidth_Bps": 1.25e9}},
  "communication": {"schedule": "wfbp", "collective": "ring"}
})";

study::SolveProblem one_layer(const std::string& pointer, io::Json low, io::Json high,
                              const std::string& metric, double target) {
  return {.scenario = io::parse_json(kOneLayer, "one.json"),
          .pointer = pointer,
          .low = std::move(low),
          .high = std::move(high),
          .metric = metric,
          .target = target,
          .points = {}};
}

double iteration_s(double nodes, double bandwidth) {
  return 6e-3 + 2 * (nodes - 1) * 1e-5 + 2 * (nodes - 1) / nodes * 1e8 / bandwidth;
}

} // namespace

TEST_CASE("solve: a bandwidth by the closed form of one message") {
  const auto problem =
      one_layer("/cluster/network/bandwidth_Bps", 1e8, 1e11, "iteration_time_s", 0.02);
  const auto solution = study::solve(problem, shipped_files(), {});
  REQUIRE(solution.crossings.size() == 1);
  // 0.02 = 6e-3 + 6e-5 + 1.5e8 / B
  const double expected = 1.5e8 / (0.02 - 6e-3 - 6e-5);
  CHECK(std::abs(solution.crossings[0].point.value.as_double() - expected) <= 1e-9 * expected);
  CHECK_FALSE(solution.crossings[0].rising);
  CHECK(*solution.crossings[0].point.metric_value == within(0.02, 1e-8));
  CHECK_FALSE(solution.crossings[0].beyond);
  REQUIRE(solution.points.size() == 129);
  for (const study::SolvePoint& point : solution.points) {
    CHECK(*point.metric_value == within(iteration_s(4, point.value.as_double()), 1e-12));
  }
}

TEST_CASE("solve: nodes are integers, and the answer meets the target") {
  const auto problem = one_layer("/cluster/nodes", 1, 4096, "scaling_efficiency", 0.03);
  const auto solution = study::solve(problem, shipped_files(), {});
  const auto efficiency = [](double nodes) { return 6e-3 / iteration_s(nodes, 1.25e9); };
  REQUIRE(solution.crossings.size() == 1);
  const auto& crossing = solution.crossings[0];
  REQUIRE(crossing.point.value.is_integer());
  const auto nodes = static_cast<double>(crossing.point.value.as_integer());
  CHECK(efficiency(nodes) >= 0.03);
  CHECK(efficiency(nodes + 1) < 0.03);
  REQUIRE(crossing.beyond);
  CHECK(crossing.beyond->value.as_integer() == crossing.point.value.as_integer() + 1);
  CHECK_FALSE(crossing.rising);
  // A time is met from below.
  const auto times = study::solve(one_layer("/cluster/nodes", 2, 512, "iteration_time_s", 0.17),
                                  shipped_files(), {});
  REQUIRE(times.crossings.size() == 1);
  const auto most = static_cast<double>(times.crossings[0].point.value.as_integer());
  CHECK(iteration_s(most, 1.25e9) <= 0.17);
  CHECK(iteration_s(most + 1, 1.25e9) > 0.17);
}

TEST_CASE("solve: a curve that is not monotone has two crossings") {
  // From one worker to two the speed-up falls below 1; with more it grows again.
  const auto solution =
      study::solve(one_layer("/cluster/nodes", 1, 512, "speedup", 0.6), shipped_files(), {});
  REQUIRE(solution.crossings.size() == 2);
  CHECK_FALSE(solution.crossings[0].rising);
  CHECK(solution.crossings[0].point.value.as_integer() == 1);
  CHECK(solution.crossings[1].rising);
  const auto nodes = static_cast<double>(solution.crossings[1].point.value.as_integer());
  CHECK(nodes * 6e-3 / iteration_s(nodes, 1.25e9) >= 0.6);
  CHECK((nodes - 1) * 6e-3 / iteration_s(nodes - 1, 1.25e9) < 0.6);
}

TEST_CASE("solve: no crossing, and the closest point") {
  const auto solution =
      study::solve(one_layer("/cluster/network/bandwidth_Bps", 1e8, 1e9, "scaling_efficiency", 0.9),
                   shipped_files(), {});
  CHECK(solution.crossings.empty());
  REQUIRE(solution.closest);
  CHECK(solution.closest->value.as_double() == 1e9);
  const auto above = study::solve(
      one_layer("/cluster/network/bandwidth_Bps", 1e8, 1e9, "scaling_efficiency", 1e-4),
      shipped_files(), {});
  CHECK(above.crossings.empty());
  CHECK(above.closest->value.as_double() == 1e8);
}

TEST_CASE("solve: points that fail are reported and nothing is sought beside them") {
  const auto problem = one_layer("/cluster/nodes", 0, 8, "iteration_time_s", 0.1);
  const auto solution = study::solve(problem, shipped_files(), {});
  CHECK(solution.points[0].error == "/cluster/nodes: must be an integer in [1, 1048576], got 0");
  CHECK_FALSE(solution.points[0].metric_value);
  CHECK(solution.crossings.size() == 1);
  CHECK(solution.warnings.back() == "1 of 9 points failed, first 0: " + solution.points[0].error);
}

TEST_CASE("solve: leftovers of the file do not disturb, wrong fields and metrics do") {
  auto problem = one_layer("/communication/collective", 1, 2, "speedup", 1);
  CHECK_THROWS_AS((void)study::solve(problem, shipped_files(), {}), InputError);
  problem = one_layer("/cluster/nodes", 1.5, 4, "speedup", 1);
  CHECK_THROWS_WITH_AS((void)study::solve(problem, shipped_files(), {}),
                       "--between: /cluster/nodes takes integers, got 1.5", UsageError);
  problem = one_layer("/cluster/nodes", 1, 4, "speed_up", 1);
  CHECK_THROWS_WITH_AS((void)study::solve(problem, shipped_files(), {}),
                       "--target: unknown metric \"speed_up\"; did you mean \"speedup\"?",
                       UsageError);
  problem = one_layer("/cluster/network/bandwidth_Bps", 1e8, 1e11, "iteration_time_s", 0.02);
  io::assign(problem.scenario, "/communication/cycle_s", 0.001); // of horovod
  CHECK(study::solve(problem, shipped_files(), {}).crossings.size() == 1);
}

TEST_CASE("solve: a pointer that names no field is an error whatever the values") {
  const io::Json scenario = one_layer("/cluster/nodes", 1, 4, "speedup", 1).scenario;
  const auto require = [&](const std::string& pointer) {
    study::require_field(scenario, pointer, shipped_files());
  };
  CHECK_THROWS_WITH_AS(require("/cluster/network/bandwidth"),
                       "/cluster/network/bandwidth: unknown key, did you mean bandwidth_Bps?",
                       UsageError);
  CHECK_THROWS_WITH_AS(require("/clustr/nodes"),
                       "/clustr/nodes: /clustr: unknown key, did you mean cluster?", UsageError);
  require("/cluster/nodes");
  require("/variability/compute_cv"); // of an object that the scenario does not have
}

TEST_CASE("solve: a number that does not exist here is an error that says so") {
  CHECK_THROWS_WITH_AS((void)study::solve(one_layer("/cluster/nodes", 1, 4, "samples_per_s", 1),
                                          shipped_files(), {}),
                       "--target samples_per_s: only a run with a batch size has samples_per_s; "
                       "add --set /workload/batch_size=...",
                       UsageError);
}

TEST_CASE("solve: targets carry the unit of their metric") {
  const study::Target target = study::parse_target("scaling_efficiency=90%");
  CHECK(target.metric == "scaling_efficiency");
  CHECK(target.value == 0.9);
  CHECK_FALSE(target.at_least);
  CHECK(study::parse_target("iteration_time_s=200ms").value == 0.2);
  CHECK(study::parse_target("iteration_time_s=0.2").value == 0.2);
  CHECK(study::parse_target("samples_per_s=1500").value == 1500);
  CHECK(study::parse_target("wire_bytes=1MB").value == 1e6);
  const study::Target days = study::parse_target("time_to_finish_s<=3d");
  CHECK(days.metric == "time_to_finish_s");
  CHECK(days.value == 3 * 86400);
  CHECK(days.at_least == false);
  CHECK(study::parse_target("goodput>=90%").at_least == true);
  for (const std::string_view wrong :
       {"scaling_efficiency", "=1", "speedup=", "speedup=fast", "iteration_time_s=5GB", "<=3"}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS((void)study::parse_target(wrong), UsageError);
  }
}

namespace {

// Machines fail so often that more of them do not always finish sooner, and messages cost so much
// that a step of many machines is long: the time falls, rises and jumps with the planner's buckets.
constexpr std::string_view kJob = R"({
  "workload": {"layers": [
    {"name": "one", "forward_s": 2e-2, "backward_s": 4e-2, "gradient_bytes": 100000000}],
    "batch_size": 32},
  "cluster": {"nodes": 4, "gpus_per_node": 2,
              "intra_network": {"latency_s": 1e-6, "bandwidth_Bps": 1e11},
              "network": {"latency_s": 2e-4, "bandwidth_Bps": 1.25e9}},
  "job": {"samples": 1e9, "price_per_gpu_hour": 2.5, "node_mtbf_s": 1e6, "checkpoint_s": 60,
          "restart_s": 600}
})";

} // namespace

TEST_CASE("job: every way to the figures of a whole training gives the same bits") {
  for (const std::int64_t micro_batches : {1, 2}) { // quick, and shared
    io::Json tree = io::parse_json(kJob, "job.json");
    io::assign(tree, "/training/micro_batches", micro_batches);
    const std::vector<io::Json> nodes{2, 3, 5, 8};
    const study::Rows rows =
        study::rows_of(study::sweep_over(tree, {{"/cluster/nodes", nodes}}), shipped_files(), {});
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      io::assign(tree, "/cluster/nodes", nodes[i]);
      const io::Json flat =
          study::flat_summary(study::run(study::parse_scenario(tree, shipped_files())).summary);
      for (const std::string_view key : {"steps_to_finish", "time_to_finish_s", "cost_usd",
                                         "goodput", "checkpoint_interval_s"}) {
        CAPTURE(key);
        CHECK(rows.records[i].find(key)->as_double() == flat.find(key)->as_double());
      }
    }
  }
}

TEST_CASE("solve: the cheapest number of machines in time is that of all runs") {
  for (const double days : {1.0, -1.0, 3.0, -3.0, 20.0}) { // negative: no sooner than that
    CAPTURE(days);
    study::SolveProblem problem{.scenario = io::parse_json(kJob, "job.json"),
                                .pointer = "/cluster/nodes",
                                .low = 1,
                                .high = 160,
                                .metric = "time_to_finish_s",
                                .target = std::abs(days) * 86400,
                                .points = {},
                                .minimize = "cost_usd"};
    if (days < 0) {
      problem.at_least = true;
    }
    const study::Solution solution = study::solve(problem, shipped_files(), {});
    std::optional<std::int64_t> cheapest;
    double least = HUGE_VAL;
    for (std::int64_t nodes = 1; nodes <= 160; ++nodes) {
      io::Json tree = problem.scenario;
      io::assign(tree, "/cluster/nodes", nodes);
      const study::Summary summary =
          study::run(study::parse_scenario(tree, shipped_files())).summary;
      const bool meets = days < 0 ? *summary.time_to_finish_s >= problem.target
                                  : *summary.time_to_finish_s <= problem.target;
      if (meets && *summary.cost_usd < least) {
        least = *summary.cost_usd;
        cheapest = nodes;
      }
    }
    REQUIRE(solution.best.has_value() == cheapest.has_value());
    if (cheapest) {
      CHECK(solution.best->value.as_integer() == *cheapest);
      CHECK(*solution.best->minimized == least);
    }
  }
}

TEST_CASE("solve: of bytes a target is the most, and the table says so of every figure") {
  auto problem = one_layer("/cluster/nodes", 2, 16, "wire_bytes", 1.8e8);
  problem.minimize = "iteration_time_s";
  const study::Solution solution = study::solve(problem, shipped_files(), {});
  REQUIRE(solution.best); // 2 (n - 1) / n * 100 MB
  CHECK(solution.best->value.as_integer() == 2);
  CHECK(*solution.best->metric_value == 1e8);
  problem = one_layer("/cluster/nodes", 2, 16, "wire_bytes", 2e8);
  CHECK_FALSE(study::solve(problem, shipped_files(), {}).met_everywhere); // crossings are asked for
  problem.at_least = false;
  CHECK(study::solve(problem, shipped_files(), {}).met_everywhere);
  const auto more_is_better = [](const char* metric) {
    return study::require_metric("--target", metric).is_better_high;
  };
  for (const char* metric : {"speedup", "scaling_efficiency", "samples_per_s", "overlap_fraction",
                             "goodput", "utilization", "speedup_vs_dense_overlapped"}) {
    CHECK_MESSAGE(more_is_better(metric), metric);
  }
  for (const char* metric :
       {"iteration_time_s", "cost_usd", "wire_bytes", "memory_bytes", "memory_parts_context_bytes",
        "epochs", "loss_fraction", "staleness_mean", "steps_to_finish", "merge_gap_to_optimal"}) {
    CHECK_FALSE_MESSAGE(more_is_better(metric), metric);
  }
}

TEST_CASE("solve: what --minimize cannot try is refused") {
  study::SolveProblem problem =
      one_layer("/cluster/network/bandwidth_Bps", 1e8, 1e11, "iteration_time_s", 0.02);
  problem.minimize = "wire_bytes";
  CHECK_THROWS_AS((void)study::solve(problem, shipped_files(), {}), UsageError);
  problem = one_layer("/cluster/nodes", 1, 200'000, "iteration_time_s", 0.02);
  problem.minimize = "wire_bytes";
  CHECK_THROWS_AS((void)study::solve(problem, shipped_files(), {}), UsageError);
  problem = one_layer("/cluster/nodes", 1, 4, "iteration_time_s", 0.2);
  problem.minimize = "cost_usd";
  CHECK_THROWS_WITH_AS((void)study::solve(problem, shipped_files(), {}),
                       "--minimize cost_usd: only a run with samples or tokens and a price has "
                       "cost_usd; add --set /job/price_per_gpu_hour=...",
                       UsageError);
}
