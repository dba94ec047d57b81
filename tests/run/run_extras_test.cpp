// What is added to exchanges and results whatever the training algorithm: synchronisation, copies
// through host memory, coded pushes, intervals, replications, dense iterations at the start.
#include <doctest/doctest.h>

#include <array>
#include <initializer_list>
#include <numeric>
#include <string>
#include <vector>

#include "document/json_text.hpp"
#include "run/result_file.hpp"
#include "run/summary_fields.hpp"
#include "scenario/scenario_text.hpp"
#include "scenario/scenario_tree.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using stepsim::testing::within;

namespace {

constexpr double kBytes = 4e6;   // two layers of 2 MB
constexpr double kAlpha = 2e-5;  // s per message
constexpr double kBeta = 8e-10;  // s per byte
constexpr double kGamma = 1e-10; // s per byte added
constexpr double kCompute = 0.009;

struct Case {
  int workers = 4;
  std::string training{}; // keys, each followed by a comma, as the next
  std::string communication{};
  std::string variability{};
  std::string network{};
};

std::string text_of(const Case& c) {
  return R"({"workload": {"layers": [
      {"name": "a", "forward_s": 0.001, "backward_s": 0.003, "gradient_bytes": 2000000},
      {"name": "b", "forward_s": 0.002, "backward_s": 0.003, "gradient_bytes": 2000000}]},
      "cluster": {"nodes": )" +
         std::to_string(c.workers) + R"(, "network": {)" + c.network +
         R"("latency_s": 2e-5, "bandwidth_Bps": 1.25e9, "reduction_Bps": 1e10}},
      "training": {)" +
         c.training + R"("iterations": 8}, "communication": {)" + c.communication +
         R"("element_bytes": null}, "variability": {)" + c.variability + R"("exchange_cv": 0}})";
}

study::Result run_case(const Case& c) { return study::testing::run_text(text_of(c)); }

double ring_s(double bytes, double ranks) {
  return 2 * (ranks - 1) * kAlpha + (ranks - 1) / ranks * bytes * (2 * kBeta + kGamma);
}

const std::string kSingle = R"("schedule": "single", )";
const std::string kAsync = R"("algorithm": "parameter_server", "mode": "async", )";

} // namespace

// Their oracle is a program of one's own by the equations of each algorithm.
TEST_CASE("run: figures of small steps that were found by hand") {
  const auto layers =
      [](std::initializer_list<std::array<int, 3>> all) { // forward, backward, bytes
        std::string text;
        for (const auto& [forward, backward, bytes] : all) {
          text += std::string(text.empty() ? "" : ", ") + R"({"name": "l)" +
                  std::to_string(text.size()) + R"(", "forward_s": )" + std::to_string(forward) +
                  R"(, "backward_s": )" + std::to_string(backward) + R"(, "gradient_bytes": )" +
                  std::to_string(bytes) + "}";
        }
        return R"({"workload": {"layers": [)" + text + R"(]}, "allow_unusual": true, "cluster": )";
      };
  const auto summary = [](const std::string& text) {
    return study::testing::run_text(text).summary;
  };
  const auto step = [&](const std::string& text) { return *summary(text).iteration_time_s; };
  // od_sgd: what is received is decoded once, by the update that takes it.
  const study::Summary late = summary(
      layers({{2, 6, 32}}) +
      R"({"nodes": 4, "network": {"latency_s": 0, "bandwidth_Bps": 400}}, "training": {"algorithm":
      "od_sgd", "iterations": 6}, "communication": {"compression": {"method": "custom_codec",
      "ratio": 2, "encode_Bps": 16, "decode_Bps": 16}, "schedule": "single"}})");
  CHECK(late.iteration_time_s == 12);
  CHECK(late.update_s == 0);
  // A reduce and a broadcast have a start-up each, two halves of an all-reduce have one together.
  const auto rooted = [&](const std::string& slowdown) {
    return step(layers({{1, 6, 0}, {2, 2, 32}, {1, 2, 16}}) +
                R"({"nodes": 2, "network": {"latency_s": 4, "bandwidth_Bps": 16}}, "training":
        {"iterations": 6, "overlap": {"exchange": )" +
                slowdown + R"(}}, "communication": {"exchange": "reduce_broadcast",
        "collective": "mst", "schedule": "wfbp"}})");
  };
  CHECK(rooted("2") == within(26, 1e-12));
  CHECK(rooted("4") == within(28, 1e-12));
  CHECK(step(layers({{1, 8, 24}, {4, 1, 4}}) +
             R"({"nodes": 2, "network": {"cost": {"startup_s": 6, "per_byte_s": 0.5}}}, "training":
      {"iterations": 6, "overlap": {"exchange": 4}}, "communication": {"schedule": "dear",
      "dear_layers": 1}})") == within(35, 1e-12));
  // Exchanges of the rounds behind the last one count as those of any other.
  const auto rounds = [&](const std::string& iterations) {
    return summary(
        layers({{5, 6, 24}}) +
        R"({"nodes": 4, "gpus_per_node": 4, "network": {"latency_s": 2, "bandwidth_Bps": 0.5},
        "intra_network": {"latency_s": 1, "bandwidth_Bps": 1}}, "limits": {"simulated_s": 1e6},
        "training": {"algorithm": "local_sgd", "local_steps": 4, "overlap_steps": 2,
        "inner": "sync_sgd", "iterations": )" +
        iterations + R"(}, "communication": {"collective": "ring", "schedule": "single"}})");
  };
  CHECK(rounds("4").communication_s == within(*rounds("400").communication_s, 1e-9));
  CHECK(*rounds("4").communication_s <= *rounds("4").iteration_time_s);
  // Figures of rounds are per step.
  const study::Summary slowed =
      summary(layers({{4, 5, 4}, {2, 5, 8}, {6, 8, 8}}) +
              R"({"nodes": 4, "network": {"cost": {"startup_s": 2, "per_byte_s": 0.5}}}, "training":
      {"algorithm": "local_sgd", "iterations": 6, "local_steps": 3, "overlap_steps": 1,
      "overlap": {"compute": 1.5}}, "communication": {}})");
  CHECK(slowed.interference_s == within(4.0 / 3, 1e-12));
  CHECK(slowed.exposed_communication_s == within(4.0 / 3, 1e-12));
  // The three stations of a serial server are one.
  CHECK(
      summary(layers({{3, 5, 16}}) +
              R"({"nodes": 4, "network": {"latency_s": 1, "bandwidth_Bps": 8, "reduction_Bps": 16}},
      "training": {"algorithm": "parameter_server", "iterations": 400, "mode": "async",
      "server_mode": "serial"}, "limits": {"simulated_s": 1e6}, "communication": {}})")
          .bottleneck == "server");
  // The exchange of the last of few iterations may end behind their mean.
  const study::Summary few = summary(
      R"({"workload": [{"model": "alexnet", "batch_size": 1, "measured": {"compute_s": 0.1}, "nodes": 4},
      {"layers": [{"name": "a", "forward_s": 6e-6, "backward_s": 8e-6, "gradient_bytes": 240}],
      "nodes": 4}], "cluster": {"nodes": 8, "topology": {"preset": "star", "hosts": 12,
      "latency_s": 3.3e-5, "bandwidth_Bps": 2.92e9}, "network": {"model": "flow"}}, "training":
      {"algorithm": "od_sgd", "iterations": 2}, "communication": {"schedule":
      "mg_wfbp_small_tensors"}})");
  CHECK(*few.lower_bound_s <= *few.iteration_time_s);
  // Null takes a key out whatever the schedule is.
  CHECK(step(layers({{1, 2, 20}, {4, 1, 8}}) +
             R"({"nodes": 4, "network": {"cost": {"startup_s": 2, "per_byte_s": 0.25}}},
      "communication": {"schedule": "wfbp", "groups": null}})") > 0);
}

TEST_CASE("run: the loss is forward of the last layer, whatever runs") {
  // Exact in binary, so that sums have no rounding.
  const std::string loss = R"("loss_s": 0.0009765625, )";
  for (const std::string& training :
       {std::string(), std::string(R"("micro_batches": 3, )"),
        std::string(R"("sharding": "full_shard", )"), std::string(R"("algorithm": "pipe_sgd", )"),
        std::string(R"("algorithm": "od_sgd", )"),
        std::string(R"("algorithm": "easgd", "local_steps": 2, )"), kAsync}) {
    CAPTURE(training);
    const Case with{.training = training + loss};
    std::string longer = text_of({.training = training});
    const std::string forward = R"("forward_s": 0.002)";
    longer.replace(longer.find(forward), forward.size(), R"("forward_s": 0.0029765625)");
    const study::Result result = run_case(with);
    const study::Summary expected = study::testing::run_text(longer).summary;
    CHECK(*result.summary.iteration_time_s == *expected.iteration_time_s);
    CHECK(*result.summary.forward_s == *expected.forward_s);
    // The resolved scenario is the same run, and its layers are those of the file.
    const io::Json tree = study::scenario_tree(*result.scenario);
    CHECK(tree.find("workload")->find("layers")->as_array()[1].find("forward_s")->as_double() ==
          0.002);
    const study::Result again = study::testing::run_text(io::compact(tree));
    CHECK(io::compact(study::result_tree(result)) == io::compact(study::result_tree(again)));
  }
}

TEST_CASE("run: synchronisation is paid per message, copies through the host per byte, both ways") {
  const double host = 2e9;
  const std::string copies = R"("host_copy_Bps": 2e9, )";
  CHECK(*run_case({.training = R"("sync_s": 0.001, )", .communication = kSingle})
             .summary.communication_s == within(ring_s(kBytes, 4) + 0.001, 1e-12));
  CHECK(*run_case({.training = R"("sync_s": 0.001, )"}).summary.communication_s ==
        within(2 * (ring_s(kBytes / 2, 4) + 0.001), 1e-12));
  CHECK(*run_case({.training = copies, .communication = kSingle}).summary.communication_s ==
        within(ring_s(kBytes, 4) + 2 * kBytes / host, 1e-12));
  // A codec on the GPU leaves half of the bytes to copy and to send; adding is uncompressed.
  CHECK(
      *run_case({.training = copies, .communication = kSingle + R"("compression": "truncate16", )"})
           .summary.communication_s ==
      within(2 * 3 * kAlpha + 0.75 * kBytes * (kBeta + kGamma) + kBytes / host, 1e-12));
  // Planners count it: with dear messages the greedy merges.
  CHECK(run_case({.communication = R"("schedule": "mg_wfbp", )"}).buckets.size() == 2);
  CHECK(run_case({.training = R"("sync_s": 1, )", .communication = R"("schedule": "mg_wfbp", )"})
            .buckets.size() == 1);
}

TEST_CASE(
    "run: an asynchronous push is coded by the worker and decoded, added, coded by the server") {
  const auto period = [](const std::string& compression) {
    return *run_case({.workers = 1,
                      .training = kAsync,
                      .communication = kSingle + R"("compression": )" + compression + ", "})
                .summary.iteration_time_s;
  };
  CHECK(period("\"none\"") ==
        within(kCompute + 2 * kAlpha + 2 * kBytes * kBeta + kBytes * kGamma, 1e-9));
  CHECK(period("\"fp16\"") ==
        within(kCompute + 2 * kAlpha + kBytes * kBeta + kBytes / 2 * kGamma, 1e-9));
  // 1e-10 s per byte each way: once on the worker, once on the server.
  CHECK(
      period(R"({"method": "custom_codec", "ratio": 4, "encode_Bps": 1e10, "decode_Bps": 1e10})") ==
      within(kCompute + 2 * kAlpha + 2 * kBytes / 4 * kBeta + kBytes * (kGamma + 4e-10), 1e-9));
}

TEST_CASE("run: replications give the mean of their runs and its interval") {
  const std::string jitter = R"("compute_cv": 0.3, )";
  study::Scenario scenario =
      study::testing::scenario(text_of({.communication = kSingle, .variability = jitter}));
  std::vector<double> periods;
  const std::uint64_t seed = scenario.variability.seed;
  for (int r = 0; r < 5; ++r) {
    scenario.variability.seed = study::replication_seed(seed, r);
    periods.push_back(*study::run(scenario).summary.iteration_time_s);
  }
  scenario.variability.seed = seed;
  const study::Summary summary = study::run_replications(scenario, 5).summary;
  CHECK(*summary.iteration_time_s ==
        within(std::accumulate(periods.begin(), periods.end(), 0.0) / 5, 1e-12));
  CHECK(*summary.iteration_time_low_s < *summary.iteration_time_s);
  CHECK(periods[0] != periods[1]);
  // Nothing random: every replication is the same.
  const std::string straggler = R"("stragglers": [{"worker": 1, "factor": 2}], )";
  const study::Summary fixed =
      study::run_replications(
          study::testing::scenario(text_of({.communication = kSingle, .variability = straggler})),
          3)
          .summary;
  CHECK(*fixed.iteration_time_low_s == within(*fixed.iteration_time_high_s, 1e-12));
  CHECK(*fixed.iteration_time_s == within(2 * kCompute + ring_s(kBytes, 4), 1e-12));
}

TEST_CASE("run: what follows from times follows from their means over replications") {
  const study::Scenario scenario = study::testing::scenario(text_of(
      {.training =
           R"("convergence": {"epochs_lossless": 10, "iterations_per_epoch": 100, "x2": 0.3, "beta": 1}, )",
       .communication = kSingle + R"("compression": "fp16", )",
       .variability = R"("compute_cv": 0.3, )"}));
  const int replications = 5;
  double dense = 0; // sum of the periods without compression
  for (int r = 0; r < replications; ++r) {
    const study::Summary one = study::run(study::replicated(scenario, r)).summary;
    dense += *one.speedup_vs_dense_overlapped * *one.iteration_time_s;
  }
  const study::Summary mean = study::run_replications(scenario, replications).summary;
  CHECK(*mean.time_to_accuracy_s == within(10 * 100 * *mean.iteration_time_s, 1e-12));
  CHECK(*mean.speedup_vs_dense_overlapped ==
        within(dense / replications / *mean.iteration_time_s, 1e-12));
}

TEST_CASE("run: times and losses of messages are means over replications") {
  const study::Scenario scenario = study::testing::scenario(
      R"({"workload": {"layers": [{"name": "a", "forward_s": 0.001, "backward_s": 0.002,
                                   "gradient_bytes": 400000}]},
          "cluster": {"nodes": 4, "network": {"model": "packet", "latency_s": 1e-5,
                      "bandwidth_Bps": 1.25e9, "packet": {
                      "transport": {"kind": "dlcp", "loss_bound_push": 0.2},
                      "faults": {"link_loss": [{"link": 0, "probability": 0.05}]}}}},
          "training": {"iterations": 3, "convergence": {"epochs_lossless": 10,
                       "iterations_per_epoch": 100, "x2": 0.3, "beta": 1}}})");
  double fct = 0;
  double loss = 0;
  for (int r = 0; r < 3; ++r) {
    const study::Summary one = study::run(study::replicated(scenario, r)).summary;
    fct += *one.fct_mean_s / 3;
    loss += *one.loss_fraction / 3;
  }
  const study::Summary mean = study::run_replications(scenario, 3).summary;
  CHECK(*mean.fct_mean_s == within(fct, 1e-12));
  CHECK(*mean.loss_fraction == within(loss, 1e-12));
  CHECK(*mean.time_to_accuracy_s == within(*mean.epochs * 100 * *mean.iteration_time_s, 1e-12));
}

TEST_CASE("run: over replications a figure is what its row says, and no time stays the first's") {
  constexpr int kRuns = 3;
  for (const char* training :
       {"", R"("algorithm": "pipe_sgd", )", R"("algorithm": "parameter_server", )",
        R"("algorithm": "parameter_server", "mode": "async", )",
        R"("algorithm": "diloco", "local_steps": 2, )", R"("overlap": {"compute": 1.5}, )",
        R"("sharding": "zero1", )"}) {
    const study::Scenario scenario = study::testing::scenario(
        text_of({.training = training, .variability = R"("compute_cv": 0.3, )"}));
    CAPTURE(training);
    std::vector<study::Summary> runs;
    for (int r = 0; r < kRuns; ++r) {
      runs.push_back(study::run(study::replicated(scenario, r)).summary);
    }
    const study::Summary all = study::run_replications(scenario, kRuns).summary;
    for (const study::SummaryField& field : study::kSummaryFields) {
      const auto* number = std::get_if<study::SummaryNumber>(&field.value);
      if (number == nullptr || !(all.**number)) {
        continue;
      }
      CAPTURE(field.key);
      const bool weighted = field.replicated == study::Replicated::weighted;
      double sum = 0, weight = 0;
      for (const study::Summary& each : runs) {
        const double of_run = weighted ? *each.iteration_time_s : 1;
        sum += *(each.**number) * of_run;
        weight += of_run;
      }
      if (field.replicated != study::Replicated::first) {
        CHECK(*(all.**number) == within(sum / weight, 1e-12));
      } else if (field.key.ends_with("_s") && *(runs[0].**number) != *(runs[1].**number)) {
        CHECK(*(all.**number) != *(runs[0].**number));
      }
    }
  }
}

TEST_CASE("run: a replication has a seed of its own wherever the scenario draws") {
  const study::Scenario scenario = study::testing::scenario(
      R"({"workload": {"layers": [{"name": "a", "forward_s": 0.001, "backward_s": 0.002,
                                   "gradient_bytes": 4000000}]},
          "cluster": {"nodes": 4, "network": {"model": "packet", "latency_s": 1e-5,
                      "bandwidth_Bps": 1.25e9, "packet": {"transport": "dctcp"}}}})");
  const study::Scenario first = study::replicated(scenario, 0);
  CHECK(first.seed == scenario.seed);
  const study::Scenario other = study::replicated(scenario, 3);
  const std::uint64_t seed = study::replication_seed(1, 3);
  CHECK(other.seed == static_cast<std::int64_t>(seed));
  CHECK(other.variability.seed == seed);
  CHECK(other.cluster.network.packet.options.seed == seed);
  CHECK(other.cluster.fabric->paths.seed == seed);
  CHECK(scenario.cluster.fabric->paths.seed == 1);
}

TEST_CASE("run: ok_topk starts with dense iterations; its bytes follow from the formula") {
  const study::Result result = run_case(
      {.communication =
           kSingle +
           R"("compression": {"method": "ok_topk", "density": 0.01, "dense_warmup_iterations": 3}, )"});
  const double k = 1e4;
  const double wire = (2 * 4 + 2 * 2) * kAlpha + 3 * k * 8 * 0.75 * kBeta;
  double end = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    CAPTURE(i);
    const double time = kCompute + (i < 3 ? ring_s(kBytes, 4) : wire);
    CHECK(result.iterations[i].iteration_time_s == within(time, 1e-9));
    CHECK(result.iterations[i].start_s == within(end, 1e-9));
    CHECK(result.iterations[i].density.has_value() == (i >= 3));
    end += time;
  }
  CHECK(*result.summary.makespan_s == within(end, 1e-9));
  CHECK(*result.summary.iteration_time_s == within(kCompute + wire, 1e-9));
  CHECK(*result.summary.wire_bytes == within(3 * k * 8 * 0.75, 1e-12));
}

TEST_CASE("run: messages together share the link, unless a measured cost stands for it") {
  const auto contention = [](const std::string& network, const std::string& communication) {
    return run_case(
        {.communication = R"("schedule": "asc_wfbp", )" + communication, .network = network});
  };
  CHECK(contention("", "").scenario->communication.schedule_options.contention == 1);
  const std::string cost = R"("cost": {"startup_s": 1e-4, "per_byte_s": 1e-9}, )";
  CHECK(contention(cost, "").scenario->communication.schedule_options.contention == 0.5);
  const study::Result below = contention("", R"("contention": 0.5, )");
  REQUIRE(below.warnings.size() == 1);
  CHECK(below.warnings.front().find("1.333 times the bandwidth") != std::string::npos);
}

TEST_CASE("run: the optimal width is 2 for constant times, 1 where nothing is exchanged") {
  const auto width = [](const std::string& exchange) {
    return *run_case({.training =
                          R"("algorithm": "pipe_sgd", "pipeline_width": "optimal", )" + exchange})
                .summary.pipeline_width;
  };
  CHECK(width("") == 2);
  CHECK(width(R"("exchange_s": 0, )") == 1);
}
