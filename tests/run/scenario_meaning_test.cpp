// A key that has no meaning beside the others is an error that names it; a leftover of a base file
// is ignored; the resolved scenario leaves it out.
#include <doctest/doctest.h>

#include <array>
#include <string>
#include <vector>

#include "document/json.hpp"
#include "document/json_text.hpp"
#include "scenario/scenario_text.hpp"
#include "scenario/scenario_tree.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using stepsim::testing::within;

namespace {

struct Parts {
  std::string cluster = R"("nodes": 4, "network": {"latency_s": 1e-5, "bandwidth_Bps": 1e9})";
  std::string training = "";
  std::string communication = R"("schedule": "single")";
  std::string more = ""; // preceded by a comma
};

std::string text_of(const Parts& parts) {
  return R"({"workload": {"layers": [
        {"name": "a", "forward_s": 0.01, "backward_s": 0.02, "gradient_bytes": 1000000},
        {"name": "b", "forward_s": 0.01, "backward_s": 0.02, "gradient_bytes": 3000000}]},
      "cluster": {)" +
         parts.cluster + R"(}, "training": {)" + parts.training + R"(}, "communication": {)" +
         parts.communication + "}" + parts.more + "}";
}

std::string problem(const Parts& parts) {
  const std::string text = study::testing::problem_of(text_of(parts));
  return text.substr(0, text.find('\n'));
}

double period(const Parts& parts) {
  return *study::testing::run_text(text_of(parts)).summary.iteration_time_s;
}

const std::string kStar =
    R"("topology": {"preset": "star", "hosts": 8, "bandwidth_Bps": 1e8, "latency_s": 1e-4})";
const std::string kAsync = R"("algorithm": "parameter_server", "mode": "async")";

} // namespace

TEST_CASE(
    "meaning: a topology beside a calibration, or beside latency and bandwidth, is an error") {
  CHECK(
      problem({.cluster = R"("nodes": 4, "network": {"calibration": "1g-tcp"}, )" + kStar}) ==
      "test.json: /cluster/topology: topology has no meaning for network model alpha_beta beside a "
      "calibration");
  CHECK(problem({.cluster = Parts{}.cluster + ", " + kStar}) ==
        "test.json: /cluster/topology: topology has no meaning for network model alpha_beta beside "
        "latency_s and bandwidth_Bps");
  CHECK(problem({.cluster = Parts{}.cluster + R"(, "rank_placement": "spread")"}) ==
        "test.json: /cluster/rank_placement: rank_placement has no meaning for a cluster without a "
        "topology");
}

TEST_CASE("candidates: a parameter server is none, it needs a host of its own") {
  CHECK(
      study::testing::problem_of(
          R"({"workload": {"layers": [{"name": "a", "forward_s": 1, "backward_s": 1, "gradient_bytes": 4}]},
                "cluster": {"nodes": 2, "network": {"latency_s": 0, "bandwidth_Bps": 1000}},
                "communication": {"collective": "auto", "candidates": ["ring", "parameter_server"]}})")
          .find("/communication/candidates/1: parameter_server is no candidate for allreduce") !=
      std::string::npos);
}

TEST_CASE("meaning: a latency or bandwidth beside a topology wins, the topology gives the other") {
  const auto ring = [](double latency, double bandwidth) {
    return 0.06 + 6 * latency + 6.0 / 4 * 4e6 / bandwidth;
  };
  const auto on_star = [&](const std::string& network) {
    return period({.cluster = R"("nodes": 4, "network": {)" + network + "}, " + kStar});
  };
  CHECK(on_star("") == within(ring(2e-4, 1e8), 1e-9)); // two cables
  CHECK(on_star(R"("latency_s": 1e-3)") == within(ring(1e-3, 1e8), 1e-9));
  CHECK(on_star(R"("bandwidth_Bps": 1e7)") == within(ring(2e-4, 1e7), 1e-9));
}

TEST_CASE("meaning: more interfaces than GPUs are a warning, with one GPU a node too") {
  const study::Scenario scenario =
      study::testing::scenario(text_of({.cluster = R"("nics_per_node": 4, )" + Parts{}.cluster}));
  REQUIRE(scenario.warnings.size() == 1);
  CHECK(scenario.warnings[0] == "unused_nics: nics_per_node is 4, but a node has 1 GPU, each of "
                                "which uses one interface");
  CHECK(problem({.cluster = R"("intra_network": {"latency_s": 0, "bandwidth_Bps": 1e9}, )" +
                            Parts{}.cluster}) ==
        "test.json: /cluster/intra_network: intra_network has no meaning for one GPU a node");
}

TEST_CASE("meaning: a given time of the exchange does not go with a compression") {
  for (const char* method :
       {R"("fp16")", R"("quantize8")", R"({"method": "gtopk_tree", "density": 0.01})"}) {
    CAPTURE(method);
    const std::string compression =
        R"("schedule": "single", "compression": )" + std::string(method);
    CHECK(problem({.training = R"("exchange_s": 0.5)", .communication = compression})
              .starts_with("test.json: /training/exchange_s: exchange_s has no meaning for "
                           "compression "));
    // A cost of dense gradients holds for fp16, which sends them as dense ones of half the bytes.
    const std::string wrong =
        problem({.cluster = R"("nodes": 4, "network": {"latency_s": 1e-5, "bandwidth_Bps": 1e9,
                               "cost": {"startup_s": 1e-3, "per_byte_s": 1e-9}})",
                 .communication = compression});
    if (std::string(method) == R"("fp16")") {
      CHECK(wrong.empty());
    } else {
      CHECK(wrong.starts_with(
          "test.json: /cluster/network/cost: cost has no meaning for compression "));
    }
    // As a leftover it is ignored by the run and by its dense baseline.
    const auto speedup = [&](const std::string& training) {
      return *study::run(study::testing::scenario(
                             text_of({.training = training, .communication = compression}),
                             study::Leftovers::ignore))
                  .summary.speedup_vs_dense_sequential;
    };
    CHECK(speedup(R"("exchange_s": 0.5)") == within(speedup(""), 1e-12));
  }
  CHECK(problem({.cluster =
                     R"("nodes": 4, "network": {"cost": {"startup_s": 1e-3, "per_byte_s": 1e-9}})",
                 .communication = R"("compression": "quantize8")"})
            .starts_with("test.json: /cluster/network: a compressed exchange needs latency_s and "
                         "bandwidth_Bps"));
}

TEST_CASE("meaning: copies of merged gradients hold the channel in pipe_sgd as in sync_sgd") {
  const double exchange = 6 * 1e-5 + 6.0 / 4 * 4e6 / 1e9;
  const double copies = 4 * 4e6 / 1e8; // in and out of the buffer, both ways
  const std::string keys = R"("schedule": "single", "copy_bandwidth_Bps": 1e8)";
  const std::string pipe = R"("algorithm": "pipe_sgd", "iterations": 50)";
  CHECK(period({.communication = keys}) == within(0.06 + exchange + copies, 1e-9));
  CHECK(period({.training = pipe, .communication = keys}) == within(exchange + copies, 1e-9));
  CHECK(period({.training = pipe}) == within(0.06, 1e-9)); // compute-bound without them
}

TEST_CASE("meaning: keys that one algorithm, network or value of another key leaves idle") {
  const auto of_training = [](const std::string& training, const std::string& communication) {
    return problem({.training = training, .communication = communication});
  };
  const std::string at = "test.json: /communication/";
  CHECK(of_training(kAsync, R"("copy_bandwidth_Bps": 1e8)") ==
        at + "copy_bandwidth_Bps: copy_bandwidth_Bps has no meaning for mode async");
  CHECK(of_training(kAsync, R"("overlap_backward": false)") ==
        at + "overlap_backward: overlap_backward has no meaning for mode async");
  CHECK(of_training(kAsync, R"("next_forward": "barrier")") ==
        at + "next_forward: next_forward has no meaning for mode async");
  CHECK(of_training(R"("algorithm": "pipe_sgd")", R"("next_forward": "barrier")") ==
        at + "next_forward: next_forward has no meaning for pipe_sgd");
  CHECK(of_training(R"("algorithm": "parameter_server")", R"("ring_startup": "2P")") ==
        at + "ring_startup: ring_startup has no meaning for collective parameter_server");
  CHECK(of_training(R"("algorithm": "parameter_server", "servers": 4, "server_split": "whole")",
                    "") ==
        "test.json: /training/server_split: server_split has no meaning for network model "
        "alpha_beta, whose parts are even");
  CHECK(of_training(R"("input_pipelined": false)", "") ==
        "test.json: /training/input_pipelined: input_pipelined has no meaning for training without "
        "input_s");
  CHECK(of_training(R"("algorithm": "pipe_sgd", "max_width": 3)", "") ==
        "test.json: /training/max_width: max_width has no meaning for a given pipeline_width");
  CHECK(problem({.training = kAsync,
                 .communication = "",
                 .more = R"(, "variability": {"exchange_cv": 1})"}) ==
        "test.json: /variability/exchange_cv: exchange_cv has no meaning for mode async");
}

TEST_CASE("meaning: keys of simulated networks that nothing reads beside the others") {
  const auto on = [](const std::string& network, const std::string& training = "",
                     const std::string& communication = R"("schedule": "single")") {
    return problem({.cluster = R"("nodes": 4, "network": {)" + network + "}",
                    .training = training,
                    .communication = communication});
  };
  const std::string link = R"("latency_s": 1e-5, "bandwidth_Bps": 1e9, )";
  const auto packets = [&](const std::string& keys, const std::string& training = "",
                           const std::string& communication = R"("schedule": "single")") {
    return on(link + R"("model": "packet", "packet": {)" + keys + "}", training, communication);
  };
  for (const auto& [key, value] : {std::pair<std::string, std::string>{"latency_s", "1e-5"},
                                   {"bandwidth_Bps", "1e9"},
                                   {"efficiency", "0.5"}}) {
    CHECK(problem({.cluster = R"("nodes": 4, "network": {"model": "flow", ")" + key +
                              "\": " + value + "}, " + kStar}) ==
          "test.json: /cluster/network/" + key + ": " + key +
              " has no meaning for network model flow with a topology, whose links count");
  }
  const std::string servers = R"("algorithm": "parameter_server")";
  for (const std::string& training : {servers, std::string(R"("algorithm": "easgd")")}) {
    CHECK(problem({.training = training, .communication = R"("reduction_mode": "serial")"}) ==
          "test.json: /communication/reduction_mode: reduction_mode has no meaning for servers, "
          "which add after the last push");
    CHECK(problem({.training = training, .communication = R"("reduction_mode": "overlapped")"}) ==
          "");
  }
  const std::string at = "test.json: /cluster/network/packet/";
  CHECK(packets(R"("control_bytes": 80, "transport": "dctcp")") ==
        at + "control_bytes: control_bytes has no meaning for transport dctcp");
  CHECK(packets(R"("control_bytes": 80, "transport": "dlcp")") == "");
  CHECK(packets(R"("control_bytes": 80, "transport": "pfabric")") == "");
  CHECK(packets(R"("mark_packets": 9, "transport": "reno")") ==
        at + "mark_packets: mark_packets has no meaning for transport reno");
  CHECK(packets(R"("mark_packets": 9, "transport": "dlcp")") == "");
  CHECK(packets(R"("transport": {"kind": "dlcp", "rate_control": "none", "rate_floor": 0.5})") ==
        at + "transport/rate_floor: rate_floor has no meaning for rate_control none");
  CHECK(problem({.communication = R"("chunking": "real", "element_bytes": 4)"}) ==
        "test.json: /communication/element_bytes: element_bytes has no meaning for chunking real, "
        "which cuts anywhere");
  CHECK(packets(R"("drop_packets": {"protected": 9}, "transport": "dctcp")") ==
        at + "drop_packets/protected: protected has no meaning for transport dctcp");
  CHECK(packets(R"("drop_packets": {"protected": 9}, "transport": "reno")") == "");
  CHECK(packets(R"("drop_packets": {"protected": null}, "transport": "dlcp")") == "");
  CHECK(packets(R"("drop_packets": {"protected": 9}, "transport": "dlcp",
                   "background": {"load": 0.1, "size_bytes": 9000, "transport": "reno"})") == "");
  const std::string pull = R"("transport": {"kind": "dlcp", "loss_bound_pull": 0.1})";
  for (const std::string sharding : {"full_shard", "shard_grad_op"}) {
    CHECK(packets(pull, R"("sharding": ")" + sharding + "\"", "") ==
          at + "transport/loss_bound_pull: loss_bound_pull has no meaning for sharding " +
              sharding + ", where no earlier values stand in for lost ones");
  }
  CHECK(packets(pull, R"("sharding": "zero1")") == "");
  CHECK(packets(pull, "", R"("schedule": "single", "collective": "recursive_doubling")") ==
        at + "transport/loss_bound_pull: loss_bound_pull has no meaning for collective "
             "recursive_doubling, which only adds");
  CHECK(on(link + R"("model": "flow", "packet": {"mark_packets": null, "transport": "dctcp"})") ==
        at + "mark_packets: mark_packets has no meaning for network model flow");
  CHECK(packets(R"("mark_packets": null, "transport": "dctcp")") == "");
}

TEST_CASE("meaning: a fault of a packet that is never sent is refused (PKT 13)") {
  const auto fault = [](int flow, int seq, const std::string& transport,
                        const std::string& training = "") {
    try {
      (void)study::testing::run_text(text_of(
          {.cluster = R"("nodes": 4, "network": {"latency_s": 1e-6, "bandwidth_Bps": 1e9,
             "model": "packet", "packet": {"transport": ")" +
                      transport + R"(", "faults": {"drop_packets_once": [{"link": 0, "flow": )" +
                      std::to_string(flow) + R"(, "seq": )" + std::to_string(seq) + "}]}}}",
           .training = training}));
      return std::string();
    } catch (const InputError& error) {
      return std::string(error.what());
    }
  };
  const std::string at = "test.json: /cluster/network/packet/faults/drop_packets_once/0/";
  // Rank 0 sends to rank 1 only, 6 chunks of 1 MB an iteration in packets of 1460 bytes.
  CHECK(fault(1, 100, "reno") == "");
  CHECK(fault(2, 0, "reno") == at + "flow: unknown flow 2, messages are sent by flows 1 to 12");
  CHECK(fault(1, 41099, "reno") == "");
  CHECK(fault(1, 41100, "reno") == at + "seq: unknown packet 41100, flow 1 has 41100 packets");
  CHECK(fault(1, 684, "dlcp") == "");
  CHECK(fault(1, 685, "dlcp") == at + "seq: unknown packet 685, flow 1 has 685 packets");
  CHECK(fault(1, 0, "reno", kAsync) ==
        at + "flow: unknown flow 1, messages are sent by flows 4 to 23");
}

TEST_CASE("meaning: leftovers of a base file are ignored, and the resolved scenario drops them") {
  const Parts parts{.training = R"("algorithm": "parameter_server", "server_split": "whole")",
                    .communication = R"("ring_startup": "2P")"};
  CHECK(!problem(parts).empty());
  const study::Scenario scenario =
      study::testing::scenario(text_of(parts), study::Leftovers::ignore);
  const io::Json tree = study::scenario_tree(scenario);
  const study::Scenario plain = study::testing::scenario(
      text_of({.training = R"("algorithm": "parameter_server")", .communication = ""}));
  CHECK(io::compact(tree) == io::compact(study::scenario_tree(plain)));
  CHECK(study::testing::problem_of(io::compact(tree)).empty());
}

TEST_CASE("convergence: a network that loses nothing reaches the accuracy in the lossless epochs") {
  const study::Summary summary =
      study::testing::run_text(
          text_of(
              {.training = R"("convergence": {"epochs_lossless": 10, "iterations_per_epoch": 100,
                                  "x2": 0.5, "beta": 1})"}))
          .summary;
  CHECK(*summary.converges);
  CHECK(*summary.epochs == 10);
  CHECK(*summary.time_to_accuracy_s == within(10 * 100 * *summary.iteration_time_s, 1e-12));
}

TEST_CASE("meaning: a leftover that is ignored changes nothing") {
  const std::string servers = R"("algorithm": "parameter_server")";
  // Training without the leftover, the leftover, its pointer.
  const std::vector<std::array<std::string, 3>> cases{
      {R"("algorithm": "local_sgd")", R"("input_s": 0.5)", "/training/input_s"},
      {R"("algorithm": "diloco")", R"("input_s": 0.5)", "/training/input_s"},
      {kAsync, R"("input_s": 0.5)", "/training/input_s"},
      {kAsync, R"("wait_s": 0.5)", "/training/wait_s"},
      {R"("algorithm": "pipe_sgd")", R"("micro_batches": 4)", "/training/micro_batches"},
      {servers, R"("micro_batches": 4)", "/training/micro_batches"},
      {kAsync, R"("exchange_s": 9)", "/training/exchange_s"},
      {kAsync, R"("sync_s": 9)", "/training/sync_s"},
      {R"("iterations": 9)", R"("drain": true)", "/training/drain"},
      {R"("iterations": 9)", R"("local_steps": 3)", "/training/local_steps"}};
  for (const auto& [training, leftover, pointer] : cases) {
    CAPTURE(training);
    CAPTURE(pointer);
    const auto parts = [](const std::string& keys) {
      return Parts{.training = keys, .communication = ""};
    };
    const study::Scenario plain = study::testing::scenario(text_of(parts(training)));
    const study::Scenario left = study::testing::scenario(
        text_of(parts(training + ", " + leftover)), study::Leftovers::ignore);
    REQUIRE(left.left_out.size() == 1);
    CHECK(left.left_out.front().pointer == pointer);
    CHECK(io::compact(study::scenario_tree(left)) == io::compact(study::scenario_tree(plain)));
    CHECK(io::compact(study::summary_tree(study::run(left).summary)) ==
          io::compact(study::summary_tree(study::run(plain).summary)));
  }
}

TEST_CASE("meaning: what waits only for reading batches is bound by its input") {
  const auto bottleneck = [](const std::string& training) {
    return study::testing::run_text(text_of({.training = training})).summary.bottleneck;
  };
  // A step computes 0.06 s and exposes less than 0.01 s of the exchange.
  CHECK(bottleneck(R"("input_s": 0.05)") != "input");
  CHECK(bottleneck(R"("input_s": 0.2)") == "input");
  CHECK(bottleneck(R"("input_s": 0.03, "input_pipelined": false)") != "input");
  CHECK(bottleneck(R"("input_s": 0.2, "input_pipelined": false)") == "input");
}
