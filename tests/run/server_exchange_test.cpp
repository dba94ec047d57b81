// Codecs of parameter servers: one arithmetic, whether workers differ or not (PIP 3, 6).
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "layers/variability.hpp"
#include "programs/step/parameter_server.hpp"
#include "scenario/scenario_text.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using stepsim::testing::plus_minus;
using stepsim::testing::within;

namespace {

constexpr double kAlpha = 1e-5;
constexpr double kBeta = 1 / 1.25e9;
constexpr double kGamma = 1e-9;
constexpr double kBytes = 40e6; // 10 million values of 4 bytes
constexpr double kWorkers = 4;
constexpr double kCompute = 0.03;

study::Summary summary(const std::string& training, const std::string& communication,
                       const std::string& variability = "{}", const std::string& dtype = "float32",
                       std::int64_t bytes = 40'000'000) {
  return study::testing::run_text(
             R"({"workload": {"layers": [{"name": "a", "forward_s": 0.01, "backward_s": 0.02, "dtype": ")" +
             dtype + R"(", "gradient_bytes": )" + std::to_string(bytes) +
             R"(}]}, "cluster": {"nodes": 4, "network": {"latency_s": 1e-5, "bandwidth_Bps": 1.25e9,
                 "reduction_Bps": 1e9}}, "training": {"algorithm": "parameter_server")" +
             training + R"(}, "communication": {)" + communication + R"(}, "variability": )" +
             variability + "}")
      .summary;
}

std::string compressed(const std::string& compression) {
  return R"("compression": )" + compression;
}

} // namespace

TEST_CASE("parameter server: a straggler of factor 1.0000000001 changes neither time nor bytes") {
  const std::string straggler = R"({"stragglers": [{"worker": 0, "factor": 1.0000000001}]})";
  for (const std::string& training :
       {std::string(), std::string(R"(, "servers": 2)"),
        std::string(R"(, "placement": "colocated")"), std::string(R"(, "placement": "sharded")"),
        std::string(R"(, "sync_s": 0.001)"), std::string(R"(, "host_copy_Bps": 1e9)")}) {
    for (const std::string& keys :
         {std::string(R"("none")"), std::string(R"("fp16")"), std::string(R"("truncate16")"),
          std::string(R"({"method": "fp16", "value_bytes": 2})"),
          std::string(R"({"method": "quantize8", "encode_Bps": 1e9, "decode_Bps": 2e9})"),
          std::string(R"({"method": "quantize8", "encode_Bps": 1e9, "scale_agreement": true})"),
          std::string(R"({"method": "custom_codec", "ratio": 3, "count_scale_bytes": true})")}) {
      CAPTURE(training);
      CAPTURE(keys);
      const study::Summary equal = summary(training, compressed(keys));
      const study::Summary other = summary(training, compressed(keys), straggler);
      CHECK(*other.iteration_time_s == within(*equal.iteration_time_s, 1e-9));
      CHECK(*other.communication_s == within(*equal.communication_s, 1e-9));
      CHECK(*other.compute_s == within(*equal.compute_s, 1e-9));
      CHECK(*other.makespan_s == within(*equal.makespan_s, 1e-9));
      CHECK(*other.wire_bytes == *equal.wire_bytes);
      CHECK(other.bottleneck == equal.bottleneck);
      CHECK(other.closed_form_s.has_value() == equal.closed_form_s.has_value());
      CHECK(other.lower_bound_s.has_value() == equal.lower_bound_s.has_value());
      CHECK(other.closed_form_s.value_or(0) == within(equal.closed_form_s.value_or(0), 1e-9));
      CHECK(other.lower_bound_s.value_or(0) == within(equal.lower_bound_s.value_or(0), 1e-8));
    }
    // Nor what waits for a tick of Horovod, which is exposed and not sent.
    const std::string horovod = R"("schedule": "horovod")";
    CHECK(*summary(training, horovod, straggler).communication_s ==
          within(*summary(training, horovod).communication_s, 1e-9));
  }
}

TEST_CASE("parameter server: the server adds what it receives, in every mode") {
  // P pushes, P sums and P pulls of the bytes as sent: M / 2 of fp16, M / 4 of quantize8, whose sum
  // is of all M bytes as it is decoded first.
  const auto round = [](double sent, double added) {
    return kCompute + 2 * kAlpha + 2 * kWorkers * sent * kBeta + kWorkers * added * kGamma;
  };
  CHECK(*summary("", compressed(R"("fp16")")).iteration_time_s ==
        within(round(kBytes / 2, kBytes / 2), 1e-9));
  CHECK(*summary("", compressed(R"("quantize8")")).iteration_time_s ==
        within(round(kBytes / 4, kBytes), 1e-9));
  // Asynchronous: alone, or P times the slowest station.
  const auto async = [](double sent, double added) {
    const double push = sent * kBeta;
    const double add = added * kGamma;
    return std::max(kCompute + 2 * kAlpha + 2 * push + add, kWorkers * std::max(push, add));
  };
  const std::string mode = R"(, "mode": "async")";
  CHECK(*summary(mode, compressed(R"("fp16")")).closed_form_s ==
        within(async(kBytes / 2, kBytes / 2), 1e-9));
  CHECK(*summary(mode, compressed(R"("quantize8")")).closed_form_s ==
        within(async(kBytes / 4, kBytes), 1e-9));
}

TEST_CASE("parameter server: values of 2 bytes stay under fp16 and truncate16, in every mode") {
  for (const char* mode : {"sync", "async"}) {
    for (const char* method : {"\"fp16\"", "\"truncate16\""}) {
      CAPTURE(mode);
      CAPTURE(method);
      const std::string training = R"(, "mode": ")" + std::string(mode) + "\"";
      const study::Summary plain = summary(training, "", "{}", "float16");
      const study::Summary half = summary(training, compressed(method), "{}", "float16");
      CHECK(*half.iteration_time_s == within(*plain.iteration_time_s, 1e-12));
      CHECK(*half.wire_bytes == *plain.wire_bytes);
    }
  }
}

TEST_CASE("parameter server: all forwards wait for the pull, with workers that differ too") {
  const auto run = [](const std::string& communication, const std::string& variability) {
    return *study::testing::run_text(
                R"({"workload": {"layers": [
                      {"name": "in", "forward_s": 0.01, "backward_s": 0.02, "gradient_bytes": 0},
                      {"name": "a", "forward_s": 0.01, "backward_s": 0.02, "gradient_bytes": 10000000}]},
                    "cluster": {"nodes": 2, "network": {"latency_s": 0, "bandwidth_Bps": 1e9}},
                    "training": {"algorithm": "parameter_server"}, "communication": {)" +
                communication + R"(}, "variability": )" + variability + "}")
                .summary.iteration_time_s;
  };
  const std::string straggler = R"({"stragglers": [{"worker": 1, "factor": 1.0000000001}]})";
  const double exchange = 2 * 2 * 0.01;
  // The backward of "in" runs beside the exchange, and its next forward only where it is told to.
  const std::string per_layer = R"("next_forward": "per_layer")";
  CHECK(run("", "{}") == within(2 * 0.01 + 0.02 + exchange, 1e-9));
  CHECK(run("", straggler) == within(2 * 0.01 + 0.02 + exchange, 1e-9));
  CHECK(run(R"("schedule": "wfbp")", "{}") == run("", "{}"));
  CHECK(run(R"("schedule": "priority")", "{}") == within(0.01 + 0.02 + exchange, 1e-9));
  CHECK(run(per_layer, "{}") == within(0.01 + 0.02 + exchange, 1e-9));
  CHECK(run(per_layer, straggler) == within(0.01 + 0.02 + exchange, 1e-9));
  const std::string barrier = R"("next_forward": "barrier", "overlap_backward": false)";
  CHECK(run(barrier, "{}") == within(2 * (0.01 + 0.02) + exchange, 1e-9));
  CHECK(run(barrier, straggler) == within(2 * (0.01 + 0.02) + exchange, 1e-9));
}

namespace {

// Synchronous rounds with one server, written down from the text (PIP 3.2): the mean time of the
// iterations after the first one, from the end of the last backward to that of the next one. The
// first of the two layers has no bytes. `free`: exchanges take no time.
double mean_round(const layers::Variability& variability, std::uint32_t workers, bool per_layer,
                  const programs::ServerLink& link, bool colocated, std::int64_t iterations,
                  bool free) {
  const layers::Jitter jitter(variability, workers);
  std::vector<double> end(workers); // of the backward of the first layer
  std::vector<double> ready(workers);
  double pulled = 0;
  double first_end = 0;
  for (std::int64_t t = 0;; ++t) {
    for (std::uint32_t w = 0; w < workers; ++w) {
      const double factor = jitter.compute(w, t + 1);
      const double forward = (per_layer ? end[w] : std::max(end[w], pulled)) + 0.01 * factor;
      ready[w] = std::max(forward, pulled) + (0.01 + 0.02) * factor;
      end[w] = ready[w] + 0.02 * factor;
    }
    const double last_end = std::ranges::max(end);
    first_end = t == 1 ? last_end : first_end;
    if (t == iterations) {
      return (last_end - first_end) / static_cast<double>(iterations - 1);
    }
    const double factor = jitter.exchange(t + 1);
    const programs::ServerLink slowed{.latency_s = factor * link.latency_s,
                                      .push_s = factor * link.push_s,
                                      .pull_s = factor * link.pull_s,
                                      .add_s = factor * link.add_s};
    pulled = free ? std::ranges::max(ready) : programs::server_round_end(ready, slowed, colocated);
  }
}

// Synchronous training of layers on one server, by workers of which the last is a straggler.
std::string on_server(const std::string& layers, std::uint32_t workers, bool colocated,
                      std::int64_t iterations, const layers::Variability& variability,
                      const std::string& communication) {
  return R"({"workload": {"layers": [)" + layers + R"(]}, "cluster": {"nodes": )" +
         std::to_string(workers) + R"(, "network": {"latency_s": 1e-3, "bandwidth_Bps": 1e9,
              "reduction_Bps": 2e9}}, "training": {"algorithm": "parameter_server", "iterations": )" +
         std::to_string(iterations) + R"(, "placement": ")" +
         (colocated ? "colocated" : "dedicated") + R"("}, "communication": {)" + communication +
         R"(}, "variability": {"compute_cv": )" + std::to_string(variability.compute_cv) +
         R"(, "exchange_cv": )" + std::to_string(variability.exchange_cv) +
         R"(, "stragglers": [{"worker": )" + std::to_string(workers - 1) + R"(, "factor": )" +
         std::to_string(variability.stragglers.front().factor) + "}]}}";
}

} // namespace

TEST_CASE("parameter server: rounds of workers that differ are those of their recurrence") {
  base::RandomStream random(base::RandomKey{.seed = 20261129});
  for (int trial = 0; trial < 40; ++trial) {
    const auto workers = static_cast<std::uint32_t>(random.integer(2, 6));
    const bool per_layer = random.integer(0, 1) == 0;
    const bool colocated = random.integer(0, 1) == 0;
    const std::int64_t iterations = random.integer(2, 12);
    layers::Variability variability{.compute_cv = trial % 3 == 0 ? 0 : 0.3,
                                    .exchange_cv = trial % 5 == 0 ? 0.2 : 0};
    variability.stragglers = {{.worker = workers - 1, .factor = 0.5 + trial % 4}};
    const std::string text = on_server(
        R"({"name": "in", "forward_s": 0.01, "backward_s": 0.02, "gradient_bytes": 0},
           {"name": "a", "forward_s": 0.01, "backward_s": 0.02, "gradient_bytes": 10000000})",
        workers, colocated, iterations, variability,
        R"("next_forward": ")" + std::string(per_layer ? "per_layer" : "barrier") + "\"");
    CAPTURE(text);
    const study::Result result = study::testing::run_text(text);
    const programs::ServerLink link{
        .latency_s = 1e-3, .push_s = 0.01, .pull_s = 0.01, .add_s = 0.005};
    const auto mean = [&](bool free) {
      return mean_round(variability, workers, per_layer, link, colocated, iterations, free);
    };
    const double exposed = mean(false) - mean(true);
    CHECK(result.method == "events");
    CHECK(*result.summary.iteration_time_s == within(mean(false), 1e-9));
    CHECK(*result.summary.exposed_communication_s == plus_minus(exposed, 1e-10));
    CHECK(*result.summary.compute_s + exposed == within(mean(false), 1e-9));
    CHECK(result.summary.lower_bound_s.value_or(0) <=
          *result.summary.iteration_time_s * (1 + 1e-9));
    if (variability.compute_cv == 0 && variability.exchange_cv == 0) {
      const study::Result formula = study::testing::run_text(text.substr(0, text.size() - 1) +
                                                             R"(, "method": "closed_form"})");
      CHECK(formula.method == "closed_form");
      CHECK(*result.summary.closed_form_s == *formula.summary.iteration_time_s);
      CHECK(*result.summary.closed_form_is_bound);
      CHECK(*result.summary.iteration_time_s <= *result.summary.closed_form_s * (1 + 1e-9));
      CHECK(*result.summary.lower_bound_s > 0);
    }
    CHECK(result.program.has_value()); // lists and the timeline are those of the run
    for (const study::Bucket& bucket : result.buckets) {
      CHECK(bucket.ready_s <= bucket.start_s);
      CHECK(bucket.start_s <= bucket.end_s);
    }
    for (std::size_t t = 1; t < result.iterations.size(); ++t) {
      CHECK(result.iterations[t].start_s < result.iterations[t].exchange_end_s);
    }
  }
}

TEST_CASE("parameter server: equal messages take equal times, whatever the schedule is called") {
  const auto run = [](const std::string& training, const std::string& communication,
                      const std::string& more = "") {
    return study::testing::run_text(
        R"({"workload": {"layers": [
              {"name": "a", "forward_s": 1, "backward_s": 2, "gradient_bytes": 4000}]},
            "cluster": {"nodes": 4, "network": {"latency_s": 0.01, "bandwidth_Bps": 1e4,
              "reduction_Bps": 1e5}}, "allow_unusual": true,
            "training": {"iterations": 3, "update_s": 0.6)" +
        training + R"(}, "communication": {)" + communication +
        R"(}, "variability": {"stragglers": [{"worker": 1, "factor": 2},
                                             {"worker": 2, "factor": 1.5}]})" +
        more + "}");
  };
  // Workers are ready at 3.6, 3.6, 5.4 and 7.2 s: the last push finds the server idle.
  const double round = 2 * 3.6 + 0.01 + 0.4 + 4 * 0.04 + 0.01 + 4 * 0.4;
  const std::string servers = R"(, "algorithm": "parameter_server")";
  for (const std::string schedule : {"single", "wfbp", "ddp", "mg_wfbp", "optimal", "horovod"}) {
    CAPTURE(schedule);
    const std::string key = R"("schedule": ")" + schedule + "\"";
    for (const std::string more : {"", R"(, "method": "events")"}) {
      const study::Result result = run(servers, key, more);
      CHECK(*result.summary.iteration_time_s == within(round, 1e-9));
      CHECK(result.method == "events");
    }
  }
  const study::Result elastic = run(R"(, "algorithm": "easgd", "local_steps": 1)", "");
  CHECK(*elastic.summary.iteration_time_s == within(round, 1e-9));
  CHECK(elastic.method == "events");
}

TEST_CASE("parameter server: a server encodes its sum before it sends it") {
  // Servers on both workers. Worker 1 is ready at 2 (3 + 0.8) s, when worker 0 has sent its half;
  // its own half arrives 0.2 s later, is encoded in 0.4 s and is back after 0.2 s. The sum of the
  // other server leaves worker 1 after that push.
  const study::Summary summary = study::testing::run_text(
                                     R"({"workload": {"layers": [
                {"name": "a", "forward_s": 1, "backward_s": 2, "gradient_bytes": 8000}]},
              "cluster": {"nodes": 2, "network": {"latency_s": 0, "bandwidth_Bps": 1e4}},
              "allow_unusual": true,
              "training": {"algorithm": "parameter_server", "placement": "sharded"},
              "communication": {"schedule": "single",
                "compression": {"method": "truncate16", "encode_Bps": 1e4}},
              "variability": {"stragglers": [{"worker": 1, "factor": 2}]}})")
                                     .summary;
  CHECK(*summary.iteration_time_s == within(7.6 + 0.2 + 0.4 + 0.2, 1e-9));
}

TEST_CASE("parameter server: pushes of several messages start when their worker is ready") {
  base::RandomStream random(base::RandomKey{.seed = 20261130});
  for (int trial = 0; trial < 40; ++trial) {
    const auto workers = static_cast<std::uint32_t>(random.integer(2, 6));
    const bool colocated = random.integer(0, 1) == 0;
    const std::int64_t iterations = random.integer(2, 8);
    layers::Variability variability{.compute_cv = trial % 3 == 0 ? 0 : 0.3,
                                    .exchange_cv = trial % 5 == 0 ? 0.2 : 0};
    variability.stragglers = {{.worker = workers - 1, .factor = 0.5 + trial % 4}};
    const auto text = [&](const std::string& schedule) {
      return on_server(
          R"({"name": "a", "forward_s": 0.01, "backward_s": 0.03, "gradient_bytes": 10000000},
             {"name": "b", "forward_s": 0.01, "backward_s": 0.02, "gradient_bytes": 5000000},
             {"name": "c", "forward_s": 0.01, "backward_s": 0.01, "gradient_bytes": 20000000})",
          workers, colocated, iterations, variability, R"("schedule": ")" + schedule + "\"");
    };
    CAPTURE(text("wfbp"));
    // All wait for the last pull; from the end of a backward to that of the next one.
    const layers::Jitter jitter(variability, workers);
    double pulled = 0;
    double first_end = 0;
    double last_end = 0;
    std::vector<double> ready(workers);
    for (std::int64_t t = 0; t <= iterations; ++t) {
      std::ranges::fill(ready, pulled);
      const double factor = jitter.exchange(t + 1);
      for (const auto& [compute, seconds] :
           {std::pair(0.03 + 0.01, 0.02), std::pair(0.02, 0.005), std::pair(0.03, 0.01)}) {
        std::vector<double> enter(workers);
        for (std::uint32_t w = 0; w < workers; ++w) {
          ready[w] += compute * jitter.compute(w, t + 1);
          enter[w] = std::max(ready[w], pulled); // messages follow each other
        }
        last_end = std::ranges::max(ready);
        pulled = programs::server_round_end(enter,
                                            {.latency_s = factor * 1e-3,
                                             .push_s = factor * seconds,
                                             .pull_s = factor * seconds,
                                             .add_s = factor * seconds / 2},
                                            colocated);
      }
      first_end = t == 1 ? last_end : first_end;
    }
    const study::Result result = study::testing::run_text(text("wfbp"));
    CHECK(*result.summary.iteration_time_s ==
          within((last_end - first_end) / static_cast<double>(iterations - 1), 1e-9));
    CHECK(result.method == "events");
    CHECK(result.summary.lower_bound_s.value_or(0) <=
          *result.summary.iteration_time_s * (1 + 1e-9));
    for (const study::Bucket& bucket : result.buckets) {
      CHECK(bucket.ready_s <= bucket.start_s);
      CHECK(bucket.start_s <= bucket.end_s);
    }
    const double best = *study::testing::run_text(text("optimal")).summary.iteration_time_s;
    for (const std::string schedule : {"single", "wfbp", "ddp", "mg_wfbp"}) {
      CAPTURE(schedule);
      CHECK(best <=
            *study::testing::run_text(text(schedule)).summary.iteration_time_s * (1 + 1e-9));
    }
  }
}

TEST_CASE("parameter server: codecs beside servers on the workers of nodes with several GPUs") {
  const auto run = [](const std::string& schedule, const std::string& variability) {
    return *study::testing::run_text(
                R"({"workload": {"layers": [
                      {"name": "a", "forward_s": 1, "backward_s": 2, "gradient_bytes": 8000}]},
                    "cluster": {"nodes": 2, "gpus_per_node": 2,
                      "intra_network": {"latency_s": 0.001, "bandwidth_Bps": 1e5},
                      "network": {"latency_s": 0.01, "bandwidth_Bps": 1e4}},
                    "allow_unusual": true,
                    "training": {"algorithm": "parameter_server", "placement": "sharded"},
                    "communication": {"schedule": ")" +
                schedule + R"(", "compression": {"method": "truncate16", "encode_Bps": 1e4}},
                    "variability": )" +
                variability + "}")
                .summary.iteration_time_s;
  };
  // Two GPUs of a node push 2 x 2 parts of 1000 bytes over its card, and servers encode a quarter.
  const double round = 3 + 0.8 + 0.01 + 0.4 + 0.2 + 0.01 + 0.4;
  for (const std::string schedule : {"single", "wfbp"}) {
    CHECK(run(schedule, "{}") == within(round, 1e-9));
    CHECK(run(schedule, R"({"stragglers": [{"worker": 0, "factor": 1.0000000001}]})") ==
          within(round, 1e-9));
  }
}

// CON 7: with no loss a step is the ideal one without latency; a machine pushes when the last of
// its GPUs is ready.
TEST_CASE("parameter server: pushes come one by one under typical conditions, too") {
  const auto period = [](int gpus, const std::string& training, const std::string& conditions) {
    const bool typical = !conditions.empty();
    return *study::testing::run_text(
                R"({"workload": {"layers": [{"name": "a", "forward_s": 0.02, "backward_s": 0.03,
                      "gradient_bytes": 10000000}]}, "allow_unusual": true, "cluster": {"nodes": 4,
                    "gpus_per_node": )" +
                std::to_string(gpus) +
                (gpus > 1 ? R"(, "intra_network": {"latency_s": 0, "bandwidth_Bps": 1e12)" +
                                std::string(typical ? R"(, "bus": "nvlink")" : "") + "}"
                          : "") +
                R"(, "network": {"latency_s": 0, "bandwidth_Bps": 1e9)" +
                (typical ? R"(, "transport": "tcp")" : "") + R"(}}, "training": {)" + training +
                R"(}, "variability": {"stragglers": [{"worker": 0, "factor": 2}]})" + conditions +
                "}")
                .summary.iteration_time_s;
  };
  const std::string neutral = R"(, "conditions": {"kind": "typical", "factors": {"e_tcp": 1,
      "c_tcp": 1e16, "e_ps": 1, "a_server": 0, "h_tcp": 0, "l_0": 0, "l_1": 0, "s_net": 1)";
  for (const std::string training : {R"("algorithm": "parameter_server")",
                                     R"("algorithm": "parameter_server", "placement": "sharded")",
                                     R"("algorithm": "easgd", "local_steps": 1)"}) {
    CAPTURE(training);
    CHECK(period(1, training, neutral + "}}") == within(period(1, training, ""), 1e-9));
    // Two GPUs of the slow machine are as one worker that is slow.
    CHECK(period(2, training, neutral + R"(, "e_nvlink": 1}})") ==
          within(period(1, training, ""), 1e-9));
  }
}

TEST_CASE("parameter server: on one machine asynchronous pushes take its own link") {
  const auto period = [](const std::string& mode, const std::string& intra_Bps,
                         const std::string& network) {
    return *study::testing::run_text(
                R"({"workload": {"layers": [{"name": "a", "forward_s": 0.03, "backward_s": 0.06,
                      "gradient_bytes": 24000000}]}, "cluster": {"nodes": 1, "gpus_per_node": 4,
                    "intra_network": {"latency_s": 0, "bandwidth_Bps": )" +
                intra_Bps + "}" + network + R"(}, "training": {"algorithm": "parameter_server",
                    "iterations": 200, "placement": "sharded", "mode": ")" +
                mode + R"("}})")
                .summary.iteration_time_s;
  };
  const std::string network = R"(, "network": {"latency_s": 0, "bandwidth_Bps": 1e8})";
  // Alone: a push and a pull of three of four parts over the link of a GPU.
  CHECK(period("async", "1e10", network) == within(0.09 + 2 * 0.0018, 1e-6));
  CHECK(period("async", "1e10", "") == within(0.09 + 2 * 0.0018, 1e-6));
}
