// The acceptance values of pipelined and parameter-server training (PIP 18 C, D, E) through whole
// scenarios: network N4 is 4 workers, 50 us, 1.25 GB/s, adding at 10 GB/s.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "scenario/scenario_text.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using stepsim::testing::plus_minus;
using stepsim::testing::within;

namespace {

constexpr std::int64_t kMlp = 2'592'040;
constexpr std::int64_t kResNet18 = 46'758'048;
constexpr std::int64_t kAlexNet = 243'860'896;
constexpr double kMs = 1e-3;

struct Case {
  std::int64_t bytes = kAlexNet;
  int workers = 4;
  double compute_s = 0.2;
  std::string training{}; // keys, each followed by a comma
  std::string communication = R"("schedule": "single")";
  int layers = 1;
};

study::Result run_case(const Case& c) {
  std::string layers;
  for (int l = 0; l < c.layers; ++l) {
    layers += (l == 0 ? "" : ", ") + std::string(R"({"name": "l)") + std::to_string(l) +
              R"(", "forward_s": )" + std::to_string(c.compute_s / 3 / c.layers) +
              R"(, "backward_s": )" + std::to_string(2 * c.compute_s / 3 / c.layers) +
              R"(, "gradient_bytes": )" + std::to_string(c.bytes / c.layers) + "}";
  }
  const std::string text =
      R"({"workload": {"layers": [)" + layers + R"(]}, "cluster": {"nodes": )" +
      std::to_string(c.workers) +
      R"(, "network": {"latency_s": 5e-5, "bandwidth_Bps": 1.25e9, "reduction_Bps": 1e10}},
        "training": {)" +
      c.training + R"("iterations": 100}, "communication": {)" + c.communication + "}}";
  return study::testing::run_text(text);
}

study::Summary summary_of(const Case& c) { return run_case(c).summary; }

std::string codec(const std::string& method) {
  return R"("schedule": "single", "compression": ")" + method + "\"";
}
// A codec that takes 1e-10 s per byte each way.
std::string slow_codec(int ratio) {
  return R"("schedule": "single", "compression": {"method": "custom_codec", "ratio": )" +
         std::to_string(ratio) + R"(, "encode_Bps": 1e10, "decode_Bps": 1e10})";
}

const std::string kPipe = R"("algorithm": "pipe_sgd", )";
const std::string kServer = R"("algorithm": "parameter_server", )";

} // namespace

TEST_CASE("pipelined training: the ring exchange of table C, plain and coded") {
  const auto exchange = [](std::int64_t bytes, const std::string& communication, int workers = 4) {
    return *summary_of({.bytes = bytes, .workers = workers, .communication = communication})
                .communication_s /
           kMs;
  };
  CHECK(exchange(kMlp, codec("none")) == within(3.604851, 1e-6));
  CHECK(exchange(kMlp, codec("truncate16")) == within(2.049627, 1e-6));
  CHECK(exchange(kMlp, codec("quantize8")) == within(1.272015, 1e-6));
  CHECK(exchange(kResNet18, codec("none")) == within(59.916511, 1e-6));
  CHECK(exchange(kResNet18, codec("truncate16")) == within(31.861682, 1e-6));
  CHECK(exchange(kAlexNet, codec("none")) == within(311.222642, 1e-6));
  CHECK(exchange(kAlexNet, codec("truncate16")) == within(164.906105, 1e-6));
  CHECK(exchange(kAlexNet, codec("quantize8")) == within(91.747836, 1e-6));
  CHECK(exchange(kAlexNet, codec("none"), 2) == within(207.381762, 1e-6));
}

TEST_CASE("pipelined training: L messages cost L latencies and synchronisations") {
  for (const auto& [layers, expected] :
       {std::pair{1, 311.322642}, {8, 314.122642}, {16, 317.322642}, {62, 335.722642}}) {
    CAPTURE(layers);
    // Whole bytes per layer: the rounding is below 1e-6 of the sum.
    const study::Summary summary = summary_of({.training = kPipe + R"("sync_s": 1e-4, )",
                                               .communication = R"("schedule": "wfbp")",
                                               .layers = layers});
    CHECK(*summary.communication_s / kMs == within(expected, 1e-6));
  }
}

TEST_CASE("pipelined training: iteration times of table E") {
  const auto iteration = [](const std::string& training, const std::string& communication) {
    return *summary_of({.training = training, .communication = communication}).iteration_time_s /
           kMs;
  };
  CHECK(iteration("", codec("none")) == within(511.222642, 1e-6));
  CHECK(iteration("", codec("truncate16")) == within(364.906105, 1e-6));
  CHECK(iteration("", codec("quantize8")) == within(291.747836, 1e-6));
  CHECK(iteration(kPipe, codec("none")) == within(311.222642, 1e-6));
  CHECK(iteration(kPipe, codec("truncate16")) == within(200, 1e-6));
  CHECK(iteration(kPipe, codec("quantize8")) == within(200, 1e-6));
  CHECK(iteration(kServer, R"("schedule": "single")") == within(1858.354093, 1e-6));
}

TEST_CASE("pipelined training: exposed communication is what the period has beyond computing") {
  const study::Summary plain = summary_of({.training = kPipe});
  CHECK(*plain.exposed_communication_s / kMs == within(111.222642, 1e-6));
  CHECK(*plain.staleness_mean == 1);
  CHECK(*plain.in_flight_gradients == 2);
  const study::Summary coded =
      summary_of({.training = kPipe, .communication = codec("truncate16")});
  CHECK(*coded.exposed_communication_s == plus_minus(0, 1e-9));
  CHECK(*coded.codec_hops == 3);
  CHECK(*coded.speedup_vs_dense_sequential == within(311.222642 / 200, 1e-6));
}

TEST_CASE("pipelined training: a codec that takes time, in the ring and on the compute thread") {
  const study::Summary half = summary_of({.communication = slow_codec(2)});
  CHECK(*half.communication_s / kMs == within(201.485239, 1e-6));
  CHECK(*half.compute_s / kMs == within(248.772179, 1e-6));
  CHECK(*half.iteration_time_s / kMs == within(450.257418, 1e-6));
  const study::Summary pipe = summary_of({.training = kPipe, .communication = slow_codec(2)});
  CHECK(*pipe.iteration_time_s / kMs == within(248.772179, 1e-6));
  const study::Summary quarter = summary_of({.communication = slow_codec(4)});
  CHECK(*quarter.communication_s / kMs == within(128.326970, 1e-6));
  CHECK(*quarter.iteration_time_s / kMs == within(377.099150, 1e-6));
}

// Push, sum and pull of equal workers and equal servers (PIP 5.2, COL 5.10).
TEST_CASE("parameter server: synchronous exchanges of table D") {
  const auto exchange = [](const std::string& training, int workers) {
    const study::Summary summary = summary_of({.workers = workers, .training = kServer + training});
    CHECK(*summary.iteration_time_s == within(0.2 + *summary.communication_s, 1e-9));
    return *summary.communication_s / kMs;
  };
  CHECK(exchange("", 2) == within(829.227046, 1e-6));
  CHECK(exchange("", 4) == within(1658.354093, 1e-6));
  CHECK(exchange(R"("placement": "colocated", )", 2) == within(414.663523, 1e-6));
  CHECK(exchange(R"("placement": "colocated", )", 4) == within(1243.790570, 1e-6));
  CHECK(exchange(R"("placement": "sharded", )", 2) == within(207.381762, 1e-6));
  CHECK(exchange(R"("placement": "sharded", )", 4) == within(311.022642, 1e-6));
  CHECK(exchange(R"("servers": 4, )", 4) == within(414.663523, 1e-6));
}

TEST_CASE("parameter server: asynchronous workers saturate the server with staleness P - 1") {
  const auto async = [](const std::string& training, int workers) {
    return run_case({.workers = workers, .training = kServer + R"("mode": "async", )" + training});
  };
  const study::Result two = async("", 2);
  CHECK(*two.summary.iteration_time_s / kMs == within(614.663523, 1e-6));
  CHECK(two.summary.staleness_max == 1);
  const study::Result four = async("", 4);
  CHECK(*four.summary.iteration_time_s / kMs == within(780.354867, 1e-6));
  CHECK(*four.summary.closed_form_s / kMs == within(780.354867, 1e-6));
  CHECK(four.summary.bottleneck == "server");
  CHECK(four.summary.staleness_max == 3);
  CHECK(*four.summary.staleness_mean == within(3, 0.01));
  const study::Result serial = async(R"("server_mode": "serial", )", 4);
  CHECK(*serial.summary.iteration_time_s / kMs == within(1658.254093, 1e-6));
}

TEST_CASE("pipelined training: both warm-up switches, and the drain") {
  // 20 synchronous iterations of 160, then 80 of 100: T = 100, c = 100, m = 60.
  const auto makespan = [](const std::string& training) {
    return *summary_of(
                {.compute_s = 0.1,
                 .training = kPipe + R"("exchange_s": 0.06, "warmup_iterations": 20, )" + training})
                .makespan_s;
  };
  CHECK(makespan(R"("warmup_switch": "skip", )") == within(11.200, 1e-9));
  CHECK(makespan(R"("warmup_switch": "block", )") == within(11.320, 1e-9));
  const study::Summary drained =
      summary_of({.compute_s = 0.095,
                  .training = kPipe + R"("exchange_s": 0.06, "update_s": 0.005, "drain": true, )"});
  CHECK(*drained.makespan_s == within(10.060, 1e-9));
  CHECK(*drained.makespan_drained_s == within(10.065, 1e-9));
  CHECK(*drained.in_flight_gradients == 0);
}

TEST_CASE("a single worker takes as long as it computes, whatever the algorithm") {
  for (const std::string& training :
       {std::string(), kPipe, kServer + R"("placement": "colocated", )"}) {
    CAPTURE(training);
    const study::Summary summary = summary_of({.workers = 1, .training = training});
    CHECK(*summary.iteration_time_s == within(0.2, 1e-9));
    CHECK(*summary.communication_s == 0);
  }
}

TEST_CASE("variability: synchronous workers wait for the slowest, H_p times the mean") {
  // Exponential compute of 100 ms, exchange 60 ms: c H_4 + m = 268.33, c H_8 + m = 331.79 ms.
  for (const auto& [workers, expected] : {std::pair{4, 0.26833}, {8, 0.33179}}) {
    const std::string text =
        R"({"workload": {"layers": [{"name": "l", "forward_s": 0.03, "backward_s": 0.07, "gradient_bytes": 1000}]},
            "cluster": {"nodes": )" +
        std::to_string(workers) +
        R"(, "network": {"latency_s": 0, "bandwidth_Bps": 1e9}}, "limits": {"simulated_s": 1e6},
            "training": {"exchange_s": 0.06, "iterations": 20000}, "communication": {"schedule": "single"},
            "variability": {"compute_cv": 1, "distribution": "exponential"}})";
    const study::Summary summary = study::testing::run_text(text).summary;
    CAPTURE(workers);
    CHECK(*summary.iteration_time_s == within(expected, 0.03));
    CHECK(*summary.exposed_communication_s == within(0.06, 0.03));
    CHECK(*summary.straggler_wait_s == within(expected - 0.16, 0.03));
    CHECK(*summary.iteration_time_low_s < *summary.iteration_time_s);
    CHECK(*summary.iteration_time_high_s > *summary.iteration_time_s);
  }
}

TEST_CASE("variability: a server that takes pushes as they come, one or several servers") {
  // Three equal workers and one that computes twice as long: its push is alone at the end.
  const auto run_with = [](const std::string& keys, const std::string& variability) {
    const std::string text =
        R"({"workload": {"layers": [{"name": "l", "forward_s": 0.03, "backward_s": 0.07, "gradient_bytes": 1000000}]},
            "cluster": {"nodes": 4, "network": {"latency_s": 1e-4, "bandwidth_Bps": 1e9, "reduction_Bps": 1e10}},
            "training": {"algorithm": "parameter_server", )" +
        keys + R"("iterations": 5}, "communication": {"schedule": "single"}, "variability": {)" +
        variability + "}}";
    return study::testing::run_text(text);
  };
  const std::string slow = R"("stragglers": [{"worker": 1, "factor": 2}])";
  const double push = 1e-3; // n beta
  const study::Result one = run_with("", slow);
  CHECK(*one.summary.iteration_time_s ==
        within(0.2 + 1e-4 + push + 4 * 1e-4 + 1e-4 + 4 * push, 1e-9));
  CHECK(one.workers[1].straggler_wait_s == 0);
  CHECK(one.workers[0].straggler_wait_s == within(0.1, 1e-9));
  // No spread: the same as the run of equal workers.
  const std::string none = R"("stragglers": [{"worker": 1, "factor": 1.0000000001}])";
  for (const std::string& keys :
       {std::string(), std::string(R"("placement": "colocated", )"),
        std::string(R"("servers": 2, )"), std::string(R"("placement": "sharded", )")}) {
    CAPTURE(keys);
    CHECK(*run_with(keys, none).summary.iteration_time_s ==
          within(*run_with(keys, "").summary.iteration_time_s, 1e-9));
  }
}

TEST_CASE("variability: the communication of a period has the factors drawn for its exchanges") {
  const auto result_of = [](const std::string& training, const std::string& method) {
    const std::string text =
        R"({"workload": {"layers": [{"name": "l", "forward_s": 0.03, "backward_s": 0.07, "gradient_bytes": 1000000}]},
            "cluster": {"nodes": 4, "network": {"latency_s": 1e-4, "bandwidth_Bps": 1e9}}, "training": {)" +
        training + R"("iterations": 6}, "communication": {"schedule": "single"}, "variability": {
            "exchange_cv": 0.5})" +
        method + "}";
    return study::testing::run_text(text);
  };
  for (const std::string& training : {std::string(), kServer, kPipe}) {
    CAPTURE(training);
    const study::Result result = result_of(training, "");
    double sum = 0; // of exchanges that nothing hides
    const std::size_t first = training == kPipe ? 3 : 1;
    for (std::size_t t = first; t < 6; ++t) {
      const study::Iteration& each = result.iterations[t];
      sum += each.exchange_end_s - each.exchange_start_s;
    }
    const double mean = sum / static_cast<double>(6 - first);
    CHECK(*result.summary.communication_s == within(mean, 1e-9));
    CHECK(*result.summary.exposed_communication_s <= mean * (1 + 1e-9));
    CHECK(result.workers[0].transfer_s == within(mean, 1e-9));
  }
  // A formula of one exchange does not time the pushes of workers that differ.
  const auto says_so = [&](const std::string& training, const std::string& method) {
    const study::Result result = result_of(training, method);
    return std::ranges::any_of(result.warnings, [](const std::string& warning) {
      return warning.find("every exchange starts when the last worker is ready") !=
             std::string::npos;
    });
  };
  CHECK(says_so(kServer, R"(, "method": "closed_form")"));
  CHECK_FALSE(says_so(kServer, ""));
  CHECK_FALSE(says_so("", R"(, "method": "closed_form")"));
}

TEST_CASE("parameter server: a codec that does nothing changes nothing, with workers that differ") {
  const std::string slow = R"({"worker": 1, "factor": 3})";
  const auto time = [](const std::string& keys, const std::string& compression,
                       const std::string& straggler) {
    const std::string text =
        R"({"workload": {"layers": [{"name": "l", "forward_s": 0.003, "backward_s": 0.008, "gradient_bytes": 4000000}]},
            "cluster": {"nodes": 4, "network": {"latency_s": 1e-6, "bandwidth_Bps": 1e9, "reduction_Bps": 1e10}},
            "training": {"algorithm": "parameter_server", )" +
        keys + R"("iterations": 3}, "communication": {"schedule": "single", "compression": )" +
        compression + R"(}, "variability": {"stragglers": [)" + straggler + "]}}";
    return *study::testing::run_text(text).summary.iteration_time_s;
  };
  for (const std::string& keys :
       {std::string(), std::string(R"("placement": "colocated", )"),
        std::string(R"("servers": 2, )"), std::string(R"("placement": "sharded", )")}) {
    CAPTURE(keys);
    CHECK(time(keys, R"({"method": "custom_codec", "ratio": 1})", slow) ==
          within(time(keys, R"("none")", slow), 1e-12));
    CHECK(time(keys, R"("fp16")", slow) < time(keys, R"("none")", slow));
    // Workers that hardly differ are equal workers, whatever the codec takes.
    const std::string codec =
        R"({"method": "custom_codec", "ratio": 2, "encode_Bps": 1e10, "decode_Bps": 5e9})";
    CHECK(time(keys, codec, R"({"worker": 1, "factor": 1.0000000001})") ==
          within(time(keys, codec, ""), 1e-9));
  }
  // x = max(x, a_w) + n beta: three pushes wait for nobody, then the fourth, sums, four pulls.
  CHECK(time("", R"("none")", slow) == within(0.033 + 2e-6 + 0.004 + 4 * 4e-4 + 4 * 0.004, 1e-9));
}

TEST_CASE("parameter server: one worker with a server of its own sends as any other") {
  const auto run = [](const std::string& compression) {
    return study::testing::run_text(
        R"({"workload": {"layers": [{"name": "l", "forward_s": 0.003, "backward_s": 0.008, "gradient_bytes": 4000000}]},
            "cluster": {"nodes": 1, "network": {"latency_s": 1e-6, "bandwidth_Bps": 1e9}},
            "training": {"algorithm": "parameter_server", "sync_s": 0.01},
            "communication": {"compression": ")" +
        compression + R"("}})");
  };
  CHECK(*run("fp16").summary.iteration_time_s == within(0.021 + 2 * (1e-6 + 0.002), 1e-9));
  const study::Result result = run("none");
  CHECK(*result.summary.iteration_time_s == within(0.021 + 2 * (1e-6 + 0.004), 1e-9));
  CHECK(*result.summary.closed_form_s == within(*result.summary.iteration_time_s, 1e-9));
  CHECK(result.warnings.empty());
}

TEST_CASE("pipelined training: layers without gradients do not hold the channel") {
  // Layer a has no gradient: its backward runs beside the exchange of b.
  const std::string text =
      R"({"workload": {"layers": [{"name": "a", "forward_s": 0.001, "backward_s": 0.05, "gradient_bytes": 0},
                                  {"name": "b", "forward_s": 0.001, "backward_s": 0.01, "gradient_bytes": 1000}]},
          "cluster": {"nodes": 4, "network": {"latency_s": 0, "bandwidth_Bps": 1e9}},
          "training": {"algorithm": "pipe_sgd", "exchange_s": 0.02}, "communication": {"schedule": "wfbp"}})";
  const study::Result result = study::testing::run_text(text);
  for (const study::Iteration& iteration : result.iterations) {
    CHECK(iteration.exchange_end_s - iteration.exchange_start_s == within(0.02, 1e-9));
  }
  CHECK(*result.summary.iteration_time_s == within(0.062, 1e-9));
}

TEST_CASE("run: several GPUs per node with links of their own, any flat collective") {
  for (const char* collective : {"ring", "mst", "be", "bruck", "recursive_doubling", "lp"}) {
    for (const char* compression :
         {"\"none\"", "\"fp16\"", R"({"method": "topk", "density": 0.01})"}) {
      CAPTURE(collective);
      CAPTURE(compression);
      const std::string text =
          R"({"workload": {"layers": [{"name": "l", "forward_s": 0.001, "backward_s": 0.002, "gradient_bytes": 4000000}]},
              "cluster": {"nodes": 2, "gpus_per_node": 2, "network": {"latency_s": 1e-6, "bandwidth_Bps": 1e9},
                          "intra_network": {"latency_s": 1e-6, "bandwidth_Bps": 1e10}},
              "communication": {"schedule": "single", "collective": ")" +
          std::string(collective) + R"(", "compression": )" + compression + "}}";
      CHECK(*study::testing::run_text(text).summary.iteration_time_s > 0.003);
    }
  }
}

TEST_CASE("scenario: servers belong to parameter servers") {
  const std::string text =
      R"({"workload": {"layers": [{"name": "l", "forward_s": 1, "backward_s": 1, "gradient_bytes": 4}]},
          "cluster": {"nodes": 2, "network": {"latency_s": 0, "bandwidth_Bps": 1000}},
          "training": {"servers": 2}})";
  CHECK(study::testing::problem_of(text) ==
        "test.json: /training/servers: applies to parameter_server only");
}

// N4 with AlexNet: c = 0.2 s and twice the update, m the ring of table C.
TEST_CASE("od_sgd: period, updates and delay") {
  const double m = *summary_of({.training = kPipe}).communication_s;
  for (const double update : {0.0, 0.15}) {
    const std::string training =
        R"("algorithm": "od_sgd", "update_s": )" + std::to_string(update) + ", ";
    const study::Summary summary = summary_of({.training = training});
    const double c = 0.2 + 2 * update;
    CHECK(*summary.iteration_time_s == within(std::max(c, m), 1e-9));
    CHECK(*summary.update_s == within(2 * update, 1e-9));
    CHECK(*summary.staleness_mean == 1);
    CHECK(*summary.staleness_max == 1);
  }
}

namespace {

// Four workers that compute for c ms, update_s among them, and exchange for m ms.
study::Result pipeline(double c_ms, double m_ms, int width, double update_ms = 0,
                       const std::string& training = "", const std::string& variability = "{}",
                       int iterations = 100, int workers = 4) {
  const auto seconds = [](double ms) { return std::to_string(ms * kMs); };
  return study::testing::run_text(
      R"({"workload": {"layers": [{"name": "a", "forward_s": 0, "backward_s": )" +
      seconds(c_ms - update_ms) + R"(, "gradient_bytes": 4}]}, "cluster": {"nodes": )" +
      std::to_string(workers) + R"(, "network": {"latency_s": 0, "bandwidth_Bps": 1e9}},
        "training": {"algorithm": "pipe_sgd", "pipeline_width": )" +
      std::to_string(width) + R"(, "update_s": )" + seconds(update_ms) + R"(, "exchange_s": )" +
      seconds(m_ms) + R"(, "iterations": )" + std::to_string(iterations) + training +
      R"(}, "limits": {"simulated_s": 1e6}, "variability": )" + variability + "}");
}

} // namespace

TEST_CASE("pipeline: draining applies the pending gradients on the compute thread (PIP 18 A)") {
  struct Row {
    double c, m;
    int width;
    double after; // the makespan
  };
  for (const Row& row : {Row{100, 60, 2, 5}, Row{100, 1, 2, 9}, Row{100, 1, 3, 14},
                         Row{60, 100, 3, 5}}) { // 9 = 2 x 5 - 1
    CAPTURE(row.after);
    const study::Summary summary =
        pipeline(row.c, row.m, row.width, 5, R"(, "drain": true)").summary;
    CHECK(*summary.makespan_drained_s - *summary.makespan_s == within(row.after * kMs, 1e-9));
    CHECK(*summary.in_flight_gradients == 0);
  }
  const std::string slow = R"({"stragglers": [{"worker": 1, "factor": 2}]})"; // applies in 10
  const study::Summary summary = pipeline(60, 100, 2, 5, R"(, "drain": true)", slow).summary;
  CHECK(*summary.makespan_drained_s - *summary.makespan_s == within(10 * kMs, 1e-9));
}

TEST_CASE("pipeline: while it fills, period and exposed communication are of the steady state") {
  struct Row {
    int iterations, warmup;
    double mean; // of the second half, in ms
  };
  for (const Row& row : {Row{1, 0, 160}, Row{3, 3, 160}, Row{4, 3, 130}, Row{6, 0, 100}}) {
    CAPTURE(row.iterations);
    const std::string warmup = R"(, "warmup_iterations": )" + std::to_string(row.warmup);
    for (const char* workers :
         {"{}", R"({"stragglers": [{"worker": 1, "factor": 1.0000000001}]})"}) {
      const study::Result result = pipeline(60, 100, 2, 0, warmup, workers, row.iterations);
      CHECK(*result.summary.iteration_time_s == within(row.mean * kMs, 1e-9));
      CHECK(*result.summary.period_s == within(100 * kMs, 1e-9));
      CHECK(*result.summary.exposed_communication_s == within(40 * kMs, 1e-9));
      CHECK(*result.summary.utilization == within(0.6, 1e-9));
      CHECK((result.warnings.empty() || result.warnings.front().find("is not the steady") ==
                                            std::string::npos) == (row.mean == 100));
    }
  }
}

TEST_CASE("pipeline: one straggler sets the period (PIP 18 G)") {
  const std::string straggler = R"({"stragglers": [{"worker": 3, "factor": 2}]})";
  const study::Result sync = pipeline(100, 60, 1, 0, "", straggler);
  CHECK(*sync.summary.iteration_time_s == within(260 * kMs, 1e-9));
  CHECK(*sync.summary.exposed_communication_s == within(60 * kMs, 1e-9));
  CHECK(sync.workers[3].straggler_wait_s == plus_minus(0, 1e-9));
  CHECK(sync.workers[0].straggler_wait_s == within(100 * kMs, 1e-9));
  CHECK(*sync.summary.straggler_wait_s == within(75 * kMs, 1e-9)); // 3 of 4 workers wait
  const study::Result pipe = pipeline(100, 60, 2, 0, "", straggler);
  CHECK(*pipe.summary.iteration_time_s == within(200 * kMs, 1e-9));
  CHECK(*pipe.summary.exposed_communication_s == plus_minus(0, 1e-9));
  CHECK(pipe.iterations[1].start_s == within(100 * kMs, 1e-9)); // of the fast workers
  CHECK(pipe.iterations[1].compute_end_s == within(400 * kMs, 1e-9));
}

TEST_CASE("pipeline: one worker 1e-10 slower moves the step by rounding") {
  const std::string slower = R"({"stragglers": [{"worker": 0, "factor": 1.0000000001}]})";
  for (const int iterations : {1, 2, 4, 5}) {
    for (const std::string training :
         {"", R"(, "overlap": {"exchange": 1.2})", R"(, "overlap": {"compute": 1.5})",
          R"(, "warmup_iterations": 1)"}) {
      CAPTURE(iterations);
      CAPTURE(training);
      for (const int width : {1, 2, 3}) {
        const double equal =
            *pipeline(2, 30, width, 0, training, "{}", iterations).summary.iteration_time_s;
        CHECK(*pipeline(2, 30, width, 0, training, slower, iterations).summary.iteration_time_s ==
              within(equal, 1e-9));
      }
    }
  }
}
