// The whole training: the formula of checkpoints against other ways to the same numbers, and the
// figures of /job against those of the step.
#include "run/run_figures.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "base/random.hpp"
#include "run/run.hpp"
#include "scenario/scenario_text.hpp"
#include "scenario/scenario_tree.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using namespace stepsim::study;
using namespace stepsim::study::testing;
using stepsim::testing::within;

namespace {

// Expected wall time over the time of steps with an interval, as Daly writes it.
double wall(const Failures& f, double tau) {
  return f.mtbf_s * std::exp(f.restart_s / f.mtbf_s) *
         (std::exp((tau + f.checkpoint_s) / f.mtbf_s) - 1) / tau;
}

double daly(const Failures& f) { // the published estimate, for delta < 2 M
  const double r = f.checkpoint_s / (2 * f.mtbf_s);
  return std::sqrt(2 * f.checkpoint_s * f.mtbf_s) * (1 + std::sqrt(r) / 3 + r / 9) - f.checkpoint_s;
}

// Seconds to do `segments` segments of tau seconds and a checkpoint, with failures drawn one by
// one: steps since the last checkpoint are lost, and a restart may fail as well.
double simulated(const Failures& f, double tau, int segments, base::RandomStream& random) {
  double now = 0;
  double failure = -std::log1p(-random.uniform()) * f.mtbf_s;
  const auto passes = [&](double seconds) { // false: a failure came first
    if (now + seconds <= failure) {
      now += seconds;
      return true;
    }
    now = failure;
    failure = now - std::log1p(-random.uniform()) * f.mtbf_s;
    return false;
  };
  for (int done = 0; done < segments;) {
    if (passes(tau + f.checkpoint_s)) {
      ++done;
      continue;
    }
    while (!passes(f.restart_s)) {}
  }
  return now;
}

const std::string kScenario = R"({
  "workload": {"layers": [
    {"name": "one", "forward_s": 2e-3, "backward_s": 4e-3, "gradient_bytes": 10000000}],
    "batch_size": 32},
  "cluster": {"nodes": 4, "gpus_per_node": 2,
              "intra_network": {"latency_s": 1e-6, "bandwidth_Bps": 1e11},
              "network": {"latency_s": 1e-5, "bandwidth_Bps": 1.25e9}},
  "training": {TRAINING}, "job": {JOB}})";

std::string with(const std::string& job, const std::string& training = "") {
  std::string text = kScenario;
  text.replace(text.find("JOB"), 3, job);
  return text.replace(text.find("TRAINING"), 8, training);
}

constexpr const char* kFailing = R"("node_mtbf_s": "20h", "checkpoint_s": 5, "restart_s": "2min")";

} // namespace

TEST_CASE("checkpoints: the interval is the minimum of the expected time") {
  for (const double checkpoint : {1e-6, 1e-2, 1.0, 30.0, 600.0, 5000.0, 1e5}) {
    for (const double restart : {0.0, 60.0, 3000.0}) {
      CAPTURE(checkpoint);
      const Failures f{.mtbf_s = 1e4, .checkpoint_s = checkpoint, .restart_s = restart};
      const Checkpointing best = best_checkpointing(f);
      const double here = wall(f, best.interval_s);
      CHECK(best.goodput == within(1 / here, 1e-6));
      // No other interval is better, far away and near.
      for (const double factor : {0.01, 0.3, 0.9, 0.99, 1.01, 1.1, 3.0}) {
        CHECK(wall(f, best.interval_s * factor) >= here * (1 - 1e-9));
      }
      // The derivative vanishes: (1 - x) e^(x + d) = 1.
      const double x = best.interval_s / f.mtbf_s;
      CHECK(std::log1p(-x) + x + checkpoint / f.mtbf_s ==
            stepsim::testing::plus_minus(0, 1e-9 * (1 + checkpoint / f.mtbf_s)));
    }
  }
}

TEST_CASE("checkpoints: Young's and Daly's intervals agree to their order") {
  double young_before = 0;
  double daly_before = 0;
  for (const double checkpoint : {1e-4, 1e-2, 1.0, 100.0}) {
    const Failures f{.mtbf_s = 1e6, .checkpoint_s = checkpoint, .restart_s = 60};
    const double best = best_checkpointing(f).interval_s;
    const double young = std::abs(std::sqrt(2 * checkpoint * f.mtbf_s) / best - 1);
    const double published = std::abs(daly(f) / best - 1);
    const double s = std::sqrt(checkpoint / f.mtbf_s);
    CHECK(young <= s);                          // first order in sqrt(delta / M)
    CHECK(published <= 0.2 * s * s * s + 1e-8); // third order
    CHECK(young >= young_before);
    CHECK(published + 1e-8 >= daly_before);
    young_before = young;
    daly_before = published;
  }
}

TEST_CASE("checkpoints: drawn failures take the expected time") {
  base::RandomStream random({.seed = 7});
  for (const auto& [checkpoint, restart] :
       {std::pair{30.0, 600.0}, std::pair{200.0, 0.0}, std::pair{2000.0, 3000.0}}) {
    const Failures f{.mtbf_s = 5000, .checkpoint_s = checkpoint, .restart_s = restart};
    const Checkpointing best = best_checkpointing(f);
    constexpr int kRuns = 4000;
    constexpr int kSegments = 20;
    double sum = 0;
    double squares = 0;
    for (int run = 0; run < kRuns; ++run) {
      const double time =
          simulated(f, best.interval_s, kSegments, random) / (kSegments * best.interval_s);
      sum += time;
      squares += time * time;
    }
    const double mean = sum / kRuns;
    const double error = std::sqrt((squares / kRuns - mean * mean) / kRuns);
    CAPTURE(mean);
    CHECK(1 / best.goodput == stepsim::testing::plus_minus(mean, 4 * error));
    CHECK(error < 0.02 * mean);
  }
}

TEST_CASE("checkpoints: a short training has one at its end") {
  const Failures f{.mtbf_s = 1e5, .checkpoint_s = 30, .restart_s = 600};
  const Checkpointing best = best_checkpointing(f, 100.0);
  CHECK(best.interval_s == within(100.0, 1e-12));
  CHECK(best.goodput == within(1 / wall(f, 100), 1e-9));
  // What is beyond numbers is 0 or 1.
  CHECK(best_checkpointing({1e300, 1e-30, 0}).goodput == 1);
  CHECK(best_checkpointing({1, 1e6, 0}).goodput == 0);
  CHECK(best_checkpointing({1, 1e6, 0}).interval_s == 1);
}

TEST_CASE("job: steps, time and cost follow from the step") {
  const Summary s = run_text(with(R"("samples": 1e9, "price_per_gpu_hour": 2.5)")).summary;
  CHECK(*s.steps_to_finish == std::ceil(1e9 / (32 * 8)));
  CHECK(*s.time_to_finish_s == *s.steps_to_finish * *s.iteration_time_s);
  CHECK(*s.cost_usd == within(*s.time_to_finish_s * 8 * 2.5 / 3600, 1e-12));
  CHECK_FALSE(s.goodput);
  CHECK_FALSE(s.checkpoint_interval_s);
  // Micro-batches count, and rounds of several steps have steps of one batch.
  CHECK(*run_text(with(R"("samples": 1e9)", R"("micro_batches": 4)")).summary.steps_to_finish ==
        std::ceil(1e9 / (32 * 8 * 4)));
  CHECK(*run_text(with(R"("samples": 1e9)", R"("algorithm": "local_sgd", "local_steps": 5)"))
             .summary.steps_to_finish == std::ceil(1e9 / (32 * 8)));
  const std::string tokens = R"("tokens": "300B", "tokens_per_sample": 4096)";
  CHECK(*run_text(with(tokens)).summary.steps_to_finish == std::ceil(3e11 / 4096 / (32 * 8)));
}

TEST_CASE("job: failures of all machines lengthen the training") {
  const Summary bare = run_text(with(R"("samples": 1e9)")).summary;
  const std::string priced = R"("samples": 1e9, "price_per_gpu_hour": 2.5, )";
  const Summary s = run_text(with(priced + kFailing)).summary;
  const Checkpointing best = best_checkpointing({20 * 3600 / 4.0, 5, 120});
  CHECK(*s.checkpoint_interval_s == best.interval_s);
  CHECK(*s.goodput == best.goodput);
  CHECK(*s.time_to_finish_s == within(*bare.time_to_finish_s / best.goodput, 1e-12));
  CHECK(*s.cost_usd == within(*s.time_to_finish_s * 8 * 2.5 / 3600, 1e-12));
  // Goodput needs no end of the training; dedicated servers are machines, too.
  CHECK(*run_text(with(kFailing)).summary.goodput == best.goodput);
  const std::string servers = R"("algorithm": "parameter_server", "servers": 2)";
  CHECK(*run_text(with(kFailing, servers)).summary.goodput ==
        best_checkpointing({20 * 3600 / 6.0, 5, 120}).goodput);
  CHECK_THROWS_AS((void)run_text(with(priced + R"("node_mtbf_s": 1, "checkpoint_s": 5000,
                                                  "restart_s": 60)")),
                  SimulationError);
}

TEST_CASE("job: the resolved scenario has the keys, and gives the same figures") {
  const Result result = run_text(with(std::string(R"("samples": 1e9, )") + kFailing));
  const Result again = run(parse_scenario(scenario_tree(*result.scenario), shipped_files()));
  CHECK(flat_summary(again.summary) == flat_summary(result.summary));
}

TEST_CASE("job: tokens of a model and the price of a node type are defaults") {
  const std::string text = R"({"workload": {"model": "gpt2", "gpu": "h100", "batch_size": 8},
    "cluster": {"preset": "p5", "nodes": 2}, "job": {"tokens": "10B"}})";
  const io::Json tree = io::parse_json(text, "test.json");
  const Scenario scenario = parse_scenario(tree, shipped_files());
  CHECK(*scenario.job.tokens_per_sample == 1024);
  CHECK(*scenario.job.price_per_gpu_hour == 6.88);
  CHECK(*run(scenario).summary.steps_to_finish == std::ceil(1e10 / 1024 / (8 * 16)));
  std::string found;
  for (const DefaultValue& each : defaults_that_decide(tree, scenario)) {
    found += each.pointer.starts_with("/job/") ? each.pointer + ": " + each.reason + "\n" : "";
  }
  CHECK(found.starts_with("/job/tokens_per_sample: sequence length of the model\n"
                          "/job/price_per_gpu_hour: node type p5, list_price; AWS on demand"));
}

TEST_CASE("job: keys that change nothing are refused") {
  const auto problem = [](const std::string& job) { return problem_of(with(job)); };
  CHECK(problem(R"("price_per_gpu_hour": 2)").find("without samples and tokens") !=
        std::string::npos);
  CHECK(problem(R"("checkpoint_s": 2)").find("no node_mtbf_s") != std::string::npos);
  CHECK(problem(R"("restart_s": 2)").find("no node_mtbf_s") != std::string::npos);
  CHECK(problem(R"("node_mtbf_s": 2, "restart_s": 1)").find("required with node_mtbf_s") !=
        std::string::npos);
  CHECK(problem(R"("samples": 2, "tokens": 3)").find("not both") != std::string::npos);
  CHECK(problem(R"("tokens": 3)").find("needs tokens_per_sample") != std::string::npos);
  CHECK(problem(R"("samples": 3, "tokens_per_sample": 3)").find("without tokens") !=
        std::string::npos);
  CHECK(problem_of(R"({"workload": {"layers": [
    {"name": "a", "forward_s": 1, "backward_s": 1, "gradient_bytes": 4}]},
    "cluster": {"nodes": 1}, "job": {"samples": 3}})")
            .find("without batch_size") != std::string::npos);
}
