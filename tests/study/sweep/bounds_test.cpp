// Lower bounds, the best merge, baselines and the few numbers that say how far a run is from them.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <ctime>
#include <initializer_list>
#include <map>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "buckets/planners.hpp"
#include "document/json_text.hpp"
#include "scenario/scenario_text.hpp"
#include "study/sweep/rows.hpp"
#include "study/sweep/sweep.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using stepsim::study::Result;
using stepsim::study::Summary;
using stepsim::study::testing::run_text;
using stepsim::testing::within;

namespace {

// One layer of 1 + 2 ms and 100 MB at 1.25 GB/s, 10 us, additions at 2 GB/s.
std::string one_layer(int nodes, const std::string& communication) {
  return R"({"workload": {"layers": [{"name": "a", "forward_s": 1e-3, "backward_s": 2e-3,
      "gradient_bytes": 100000000}]}, "cluster": {"nodes": )" +
         std::to_string(nodes) +
         R"(, "network": {"latency_s": 1e-5, "bandwidth_Bps": 1.25e9, "reduction_Bps": 2e9}},
      "communication": {"schedule": "wfbp", )" +
         communication + "}}";
}

bool has_warning(const Result& result, std::string_view part) {
  for (const std::string& warning : result.warnings) {
    if (warning.find(part) != std::string::npos) {
      return true;
    }
  }
  return false;
}

// Two layers on `nodes` workers, with random factors.
std::string varied(int nodes, const std::string& training, const std::string& variability,
                   const std::string& communication, int seed) {
  return R"({"seed": )" + std::to_string(seed) +
         R"(, "workload": {"layers": [
      {"name": "a", "forward_s": 1e-2, "backward_s": 2e-2, "gradient_bytes": 10000},
      {"name": "b", "forward_s": 1e-2, "backward_s": 2e-2, "gradient_bytes": 10000}]},
      "cluster": {"nodes": )" +
         std::to_string(nodes) +
         R"(, "network": {"latency_s": 1e-5, "bandwidth_Bps": 1.25e9}}, "training": {)" + training +
         R"(}, "variability": {)" + variability + R"(}, "communication": {)" + communication + "}}";
}

} // namespace

TEST_CASE("lower bound: a closed form that is itself an upper bound is none") {
  for (const char* collective : {"recursive_doubling", "mst"}) {
    for (const int nodes : {3, 5, 6, 7, 12}) {
      CAPTURE(collective);
      CAPTURE(nodes);
      const std::string communication = R"("collective": ")" + std::string(collective) + "\"";
      const Summary summary = run_text(one_layer(nodes, communication)).summary;
      const double P = nodes;
      // 3 ms and what every rank must send and receive: 2 (P-1)/P n beta; adding takes less.
      CHECK(*summary.lower_bound_s == within(3e-3 + 2 * (P - 1) / P * 1e8 / 1.25e9, 1e-12));
      CHECK(*summary.lower_bound_s <= *summary.iteration_time_s);
      CHECK(*summary.closed_form_is_bound);
      CHECK(*summary.closed_form_s > *summary.iteration_time_s);
    }
  }
  // Exact forms stay the bound of a single message.
  const Summary ring = run_text(one_layer(6, R"("collective": "ring")")).summary;
  CHECK(*ring.lower_bound_s == within(*ring.iteration_time_s, 1e-12));
  CHECK_FALSE(*ring.closed_form_is_bound);
}

TEST_CASE("lower bound: several tensors of the first layer may travel at once") {
  // asc_wfbp, contention 0: two messages of 5 MB take as long as one.
  const auto run_with = [](const std::string& tensors) {
    return run_text(R"({"workload": {"layers": [{"name": "a", "forward_s": 1e-3, "backward_s": 2e-3,
        )" + tensors +
                    R"(}]}, "cluster": {"nodes": 4, "network": {"latency_s": 1e-6,
        "bandwidth_Bps": 1e9}}, "communication": {"schedule": "asc_wfbp", "contention": 0}})")
        .summary;
  };
  const Summary summary = run_with(R"("gradient_bytes": 10000000)");
  CHECK(*summary.lower_bound_s <= *summary.iteration_time_s);
  // a + b n / 2: two slots move data at twice the rate.
  CHECK(*summary.lower_bound_s == within(3e-3 + 6e-6 + 1.5 * 1e7 / 1e9 / 2, 1e-12));
}

TEST_CASE("merge: the best merge is evaluated as the run is, so no run beats it") {
  const std::string text = R"({"workload": {"layers": [{"name": "a", "forward_s": 0,
      "backward_s": 1e-3, "gradient_bytes": 1000000}]}, "cluster": {"nodes": 3,
      "network": {"latency_s": 0, "bandwidth_Bps": 1e9, "reduction_Bps": 1e9}},
      "communication": {"collective": "recursive_doubling", "schedule": "wfbp"}})";
  const Summary one = run_text(text).summary;
  CHECK(*one.iteration_time_s == within(1e-3 + 4e-3, 1e-12)); // three hops, one addition
  CHECK(*one.merge_optimal_iteration_time_s == within(5e-3, 1e-12));
  CHECK(*one.merge_gap_to_optimal == 0);
  CHECK(*one.closed_form_s == within(6e-3, 1e-12)); // two additions
  CHECK(*one.closed_form_is_bound);

  for (const std::string collective : {"recursive_doubling", "mst", "double_binary_tree", "be"}) {
    for (const int nodes : {3, 6, 8}) {
      for (const std::string chunking : {"real", "integer"}) {
        double best = HUGE_VAL;
        std::map<std::string, Summary> runs;
        for (const std::string schedule :
             {"wfbp", "single", "ddp", "horovod", "mg_wfbp", "optimal", "eager", "exhaustive"}) {
          runs[schedule] = run_text(R"({"workload": {"layers": [
              {"name": "a", "forward_s": 1e-4, "backward_s": 4e-4, "gradient_bytes": 400001},
              {"name": "b", "forward_s": 1e-4, "backward_s": 9e-4, "gradient_bytes": 3000},
              {"name": "c", "forward_s": 1e-4, "backward_s": 2e-4, "gradient_bytes": 100003},
              {"name": "d", "forward_s": 1e-4, "backward_s": 7e-4, "gradient_bytes": 900001}]},
              "cluster": {"nodes": )" +
                                    std::to_string(nodes) +
                                    R"(, "network": {"latency_s": 5e-5, "bandwidth_Bps": 1e9,
              "reduction_Bps": 7e8}}, "communication": {"chunking": ")" +
                                    chunking + R"(", "collective": ")" + collective +
                                    R"(", "schedule": ")" + schedule + R"("}})")
                               .summary;
          best = std::min(best, *runs[schedule].iteration_time_s);
        }
        for (const auto& [schedule, summary] : runs) {
          CAPTURE(collective);
          CAPTURE(nodes);
          CAPTURE(chunking);
          CAPTURE(schedule);
          CHECK(*summary.merge_optimal_iteration_time_s <= *summary.iteration_time_s);
          CHECK(*summary.merge_gap_to_optimal >= 0);
          if (chunking == "real" && collective != "double_binary_tree") {
            CHECK(*summary.merge_optimal_iteration_time_s == within(best, 1e-9));
          }
        }
      }
    }
  }
}

TEST_CASE("variability: a transfer that a factor makes shorter than its bytes is said to be so") {
  const auto text = [](int seed) {
    return R"({"seed": )" + std::to_string(seed) +
           R"(, "workload": {"layers": [{"name": "a", "forward_s": 1e-3, "backward_s": 2e-3,
        "gradient_bytes": 1000000}]}, "cluster": {"nodes": 3, "network": {"latency_s": 0,
        "bandwidth_Bps": 1e7}}, "variability": {"exchange_cv": 2}, "training": {"iterations": 3}})";
  };
  const double bound = 3e-3 + 4.0 / 3 * 1e6 / 1e7;
  int below = 0;
  for (int seed = 1; seed <= 10; ++seed) {
    const Result result = run_text(text(seed));
    const double time = *result.summary.iteration_time_s;
    // One message: the bound with the factors drawn is the time itself.
    CHECK(*result.summary.lower_bound_s == within(time, 1e-12));
    CHECK(has_warning(result, "lognormal factors below 1") == (time < bound));
    CHECK(has_warning(result, "lower_bound_s counts the factors") == (time < bound));
    below += time < bound ? 1 : 0;
  }
  CHECK(below > 0);
  CHECK(below < 10);
}

TEST_CASE("variability: one worker is as efficient as itself, with the factors that it drew") {
  for (int seed = 1; seed <= 20; ++seed) {
    for (const char* iterations : {"1", "2", "3", "10"}) {
      const Summary summary = run_text(varied(1, R"("iterations": )" + std::string(iterations),
                                              R"("compute_cv": 0.7)", "", seed))
                                  .summary;
      CHECK(*summary.scaling_efficiency == within(1, 1e-12));
      CHECK(*summary.scaling_efficiency <= 1);
      CHECK(*summary.forward_s + *summary.backward_s == within(*summary.iteration_time_s, 1e-12));
    }
  }
}

TEST_CASE("variability: a fast worker is the baseline, a slow one is not") {
  const auto efficiency = [](const char* factor) {
    return *run_text(
                varied(4, R"("exchange_s": 0.02)",
                       R"("stragglers": [{"worker": 1, "factor": )" + std::string(factor) + "}]",
                       R"("schedule": "single")", 1))
                .summary.scaling_efficiency;
  };
  const double c = 0.06;
  CHECK(efficiency("2") == within(c / (2 * c + 0.02), 1e-12));
  CHECK(efficiency("1") == within(c / (c + 0.02), 1e-12));
  CHECK(efficiency("0.5") == within(c / 2 / (c + 0.02), 1e-12));
}

TEST_CASE("variability: no bound counts gathers with the factor of another iteration") {
  for (int seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    const Summary summary =
        run_text(R"({"seed": )" + std::to_string(seed) +
                 R"(, "workload": {"model": "gpt2", "gpu": "a100-80", "batch_size": 8,
            "scale_backward_to_s": 0.1}, "cluster": {"nodes": 16, "gpus_per_node": 3,
            "nvls_Bps": 4.32e10, "intra_network": {"latency_s": 1e-6, "bandwidth_Bps": 3.01e11,
            "bus": "nvlink"}, "network": {"latency_s": 4.2e-5, "bandwidth_Bps": 1e9,
            "transport": "tcp"}}, "training": {"iterations": 3}, "variability": {"exchange_cv": 1},
            "communication": {"schedule": "dear", "collective": "nvls_tree"},
            "conditions": "typical"})")
            .summary;
    CHECK(summary.lower_bound_s.value_or(0) <= *summary.iteration_time_s);
  }
}

TEST_CASE("variability: computing and exposed communication are all of a step, waiting is part") {
  for (int seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    for (const char* schedule : {"dear", "wfbp", "priority", "single"}) {
      const Summary summary =
          run_text(varied(8, R"("iterations": 2)", R"("compute_cv": 2)",
                          R"("schedule": ")" + std::string(schedule) + "\"", seed))
              .summary;
      const double period = *summary.iteration_time_s;
      CHECK(*summary.forward_s + *summary.backward_s + *summary.exposed_communication_s ==
            within(period, 1e-12));
      CHECK(*summary.straggler_wait_s >= 0);
      CHECK(*summary.straggler_wait_s <= period);
      CHECK(*summary.scaling_efficiency <= 1);
    }
  }
}

TEST_CASE("variability: the interval stays above what workers compute with the least factor") {
  const auto interval = [](const std::string& variability, int seed) {
    const Summary summary =
        run_text(varied(4, R"("iterations": 3)", variability, "", seed)).summary;
    CHECK(*summary.iteration_time_low_s <= *summary.iteration_time_s);
    CHECK(*summary.iteration_time_high_s >= *summary.iteration_time_s);
    return *summary.iteration_time_low_s;
  };
  const double c = 0.06;
  for (int seed = 1; seed <= 20; ++seed) {
    CHECK(interval(R"("compute_cv": 3)", seed) >= 0); // lognormal: any factor above 0
    CHECK(interval(R"("exchange_cv": 3)", seed) >= c);
    CHECK(interval(R"("compute_cv": 0.2, "distribution": "uniform")", seed) >=
          (1 - std::sqrt(3.0) * 0.2) * c);
  }
}

TEST_CASE("one worker: no schedule makes it wait, and nothing is copied") {
  for (const std::string communication :
       {R"("schedule": "horovod", "cycle_s": 0.05)", R"("schedule": "horovod", "phase_s": 1)",
        R"("schedule": "single", "copy_bandwidth_Bps": 1e6)", R"("schedule": "dear")",
        R"("schedule": "priority")", R"("schedule": "asc_wfbp")"}) {
    for (const std::string& training : {std::string(), std::string(R"("algorithm": "pipe_sgd")")}) {
      CAPTURE(communication);
      CAPTURE(training);
      Result result;
      try {
        result = study::run(study::testing::scenario(varied(1, training, "", communication, 1),
                                                     study::Leftovers::ignore));
      } catch (const InputError&) { // no schedule of pipe_sgd
        continue;
      }
      CHECK(*result.summary.communication_s == 0);
      CHECK(*result.summary.exposed_communication_s == 0);
      CHECK(*result.summary.speedup == within(1, 1e-12));
      CHECK(*result.summary.iteration_time_s == within(0.06, 1e-12));
    }
  }
}

TEST_CASE("pipe_sgd: waiting for horovod's tick is exposed, not computed") {
  const Summary summary =
      run_text(varied(4, R"("algorithm": "pipe_sgd", "pipeline_width": 1, "iterations": 20)", "",
                      R"("schedule": "horovod", "cycle_s": 0.1)", 1))
          .summary;
  CHECK(*summary.compute_s == within(0.06, 1e-12));
  CHECK(*summary.compute_s + *summary.exposed_communication_s ==
        within(*summary.iteration_time_s, 1e-12));
  CHECK(*summary.exposed_communication_s > 0.06); // the tick is 100 ms after backward starts
}

TEST_CASE("sweep: a record has every key of the summary of run, with the same value") {
  const std::string convergence =
      R"({"workload": {"layers": [{"name": "a", "forward_s": 1e-3, "backward_s": 2e-3,
      "gradient_bytes": 1000000}]}, "cluster": {"nodes": 4, "topology": "star_16",
      "network": {"model": "packet", "packet": {"transport": "dlcp"}}},
      "training": {"iterations": 3, "algorithm": "parameter_server",
      "convergence": {"epochs_lossless": 10, "iterations_per_epoch": 100, "x1": 0.1, "x2": 0.3,
      "beta": 2}}})";
  for (const std::string& text :
       {convergence,
        varied(4, R"("algorithm": "pipe_sgd", "iterations": 5)", R"("compute_cv": 0.5)", "", 3),
        varied(4, "", "", R"("schedule": "mg_wfbp")", 1), one_layer(4, R"("collective": "ring")"),
        varied(4, R"("algorithm": "parameter_server", "mode": "async")", "", "", 1)}) {
    CAPTURE(text);
    const io::Json tree = io::parse_json(text, "test.json");
    const Summary summary =
        study::run(study::testing::scenario(text), study::Detail::summary).summary;
    const io::Json record = study::row_of(tree, study::testing::shipped_files());
    for (const auto& [key, value] : study::flat_summary(summary)) {
      CAPTURE(key);
      const io::Json* found = record.find(key);
      REQUIRE(found != nullptr);
      CHECK(io::compact(*found) == io::compact(value));
    }
  }
  CHECK(run_text(convergence).summary.converges == true);
}

TEST_CASE("buckets: layers are layers, whether they have a gradient, one or several") {
  const auto layers = [](const std::string& bytes) {
    const Result result = run_text(R"({"workload": {"layers": [
        {"name": "a", "forward_s": 1e-3, "backward_s": 2e-3, "gradient_bytes": 1000},
        {"name": "b", "forward_s": 1e-3, "backward_s": 2e-3, "gradient_bytes": )" +
                                   bytes + R"(},
        {"name": "c", "forward_s": 1e-3, "backward_s": 2e-3, "gradient_bytes": 1000}]},
        "cluster": {"nodes": 4, "network": {"latency_s": 1e-5, "bandwidth_Bps": 1.25e9}},
        "communication": {"schedule": "single"}})");
    return std::pair{result.buckets[0].first, result.buckets[0].last};
  };
  CHECK(layers("0") == std::pair<std::int64_t, std::int64_t>{1, 3});
  CHECK(layers("1000") == std::pair<std::int64_t, std::int64_t>{1, 3});
  // ResNet-50 has several tensors per layer: buckets follow one another to its last layer.
  const Result resnet = run_text(R"({"workload": {"trace": "traces/resnet50.ddp.2xa100.json"},
      "cluster": {"nodes": 2, "network": {"latency_s": 1e-5, "bandwidth_Bps": 1.25e9}},
      "communication": {"schedule": "ddp"}})");
  const auto count = static_cast<std::int64_t>(resnet.scenario->workload.layers.size());
  CHECK(resnet.buckets.front().first >= 1);
  CHECK(resnet.buckets.back().last <= count);
  CHECK(resnet.buckets.size() > 1);
  for (std::size_t b = 1; b < resnet.buckets.size(); ++b) {
    CHECK(resnet.buckets[b].first >= resnet.buckets[b - 1].last);
  }
}

TEST_CASE("lp: without latency and with slow additions a plan takes no longer than with them") {
  std::string layers;
  for (int l = 0; l < 20; ++l) {
    layers += std::string(l > 0 ? "," : "") + R"({"name": "l)" + std::to_string(l) +
              R"(", "forward_s": 1e-3, "backward_s": 2e-3, "gradient_bytes": )" +
              std::to_string(300'000 * (l + 1)) + "}";
  }
  for (const std::string network :
       {R"("latency_s": 0)", R"("latency_s": 1e-6, "block_latency_s": 0)"}) {
    const std::clock_t before = std::clock();
    const Summary summary = run_text(R"({"workload": {"layers": [)" + layers +
                                     R"(]}, "cluster": {"nodes": 16,
        "network": {)" + network + R"(, "bandwidth_Bps": 1e11, "reduction_Bps": 2e9}},
        "communication": {"collective": "lp", "schedule": "horovod"}})")
                                .summary;
    CHECK(*summary.merge_gap_to_optimal >= 0);
    // Half a million transfers for the largest message, not for each of 210 sizes.
    CHECK(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC < 5);
  }
}

TEST_CASE("infinite times are an error, whatever the schedule and the algorithm") {
  const auto message = [](const std::string& text) -> std::string {
    try {
      (void)study::run(study::testing::scenario(text, study::Leftovers::ignore));
      return "no error";
    } catch (const SimulationError& error) {
      return error.what();
    } catch (const InputError&) {
      return "refused";
    } catch (const UsageError&) {
      return "refused";
    }
  };
  for (const buckets::Planner& planner : buckets::planners()) {
    for (const std::string training :
         {"", R"("algorithm": "pipe_sgd")", R"("algorithm": "parameter_server")",
          R"("algorithm": "parameter_server", "mode": "async")"}) {
      for (const std::string network : {R"("latency_s": 1e308, "bandwidth_Bps": 1e9)",
                                        R"("latency_s": 1e-3, "bandwidth_Bps": 1e-308)"}) {
        CAPTURE(planner.name);
        CAPTURE(training);
        CAPTURE(network);
        const auto text = [&](const std::string& flops, const std::string& nodes) {
          return R"({"workload": {"model": "lstm_ptb", "device": {"flops_Ps": )" + flops +
                 R"(}, "batch_size": 32}, "cluster": {"nodes": )" + nodes + R"(, "network": {)" +
                 network + R"(}}, "training": {)" + training +
                 R"(}, "communication": {"schedule": ")" + std::string(planner.name) + "\"}}";
        };
        constexpr const char* kBeyond = "the times of the run are beyond the range of numbers";
        for (const std::string& given : {text("1e-300", "1"), text("1e-300", "2")}) {
          const std::string found = message(given);
          CHECK((found == kBeyond || found == "refused"));
        }
        const std::string slow = message(text("1e12", "3"));
        CHECK((slow == kBeyond || slow == "refused" || slow.starts_with("the run lasts")));
      }
    }
  }
}
