// Numbers of a result that nothing else of the result repeats: use of links, layers of a step,
// counters of single iterations, classes of messages, the answer of a solved rate.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "run/flows_text.hpp"
#include "run/network_result.hpp"
#include "run/run_timeline.hpp"
#include "scenario/packet/packet_settings.hpp"
#include "scenario/scenario_text.hpp"
#include "study/solve.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using stepsim::testing::within;
using study::testing::json;

TEST_CASE("link use: utilization is bytes over what the link carries in the elapsed time") {
  const links::FabricLink link{.from = 0, .to = 1, .latency_s = 0, .bandwidth_Bps = 1e9};
  const study::LinkResult used = study::link_result(link, {.bytes = 3e9, .busy_s = 3.5}, 4);
  CHECK(used.utilization == within(3e9 / (1e9 * 4), 1e-12));
  CHECK(used.busy_s == 3.5);
  CHECK(study::link_result(link, {.bytes = 0, .busy_s = 0}, 0).utilization == 0);
}

TEST_CASE("incast_risk: a hot queue of a shared pool holds alpha / (1 + alpha) of it") {
  // 150,000 B = 100 packets, alpha 1: 50 of them. W (N - 1) + 1 for W = 10: 41 fit, 51 do not.
  const auto risk = [](int senders, double alpha) {
    const io::Json buffer = io::Object{{"scope", "shared"}, {"bytes", 150000}, {"alpha", alpha}};
    const study::FlowsResult result = study::testing::run_flows_text(
        R"({"kind": "flows", "topology": {"preset": "star", "hosts": 40, "bandwidth_Bps": 1.25e9,
            "latency_s": 1e-6}, "network": {"model": "flow", "packet": {"transport": "reno"}},
            "flows": [{"generate": "incast", "senders": 2, "size_bytes": 65536}]})",
        {{"/network/packet/buffer", buffer}, {"/flows/0/senders", senders}});
    return std::ranges::any_of(result.warnings, [](const std::string& warning) {
      return warning.starts_with("incast_risk");
    });
  };
  CHECK_FALSE(risk(5, 1));
  CHECK(risk(6, 1));
  CHECK_FALSE(risk(8, 3)); // 3 / 4 of 100: 71 <= 75
  CHECK(risk(9, 3));
}

TEST_CASE("layers of a step: forward lasts what forward takes, backward what backward takes") {
  const study::Result result = study::testing::run_text(
      R"({"workload": {"layers": [
            {"name": "a", "forward_s": 0.001, "backward_s": 0.004, "gradient_bytes": 1000},
            {"name": "b", "forward_s": 0.002, "backward_s": 0.003, "gradient_bytes": 1000}]},
          "cluster": {"nodes": 2, "network": {"latency_s": 1e-5, "bandwidth_Bps": 1e9}},
          "communication": {"schedule": "wfbp"}})");
  REQUIRE(result.layers.size() == 2);
  for (std::size_t l = 0; l < 2; ++l) {
    const study::LayerResult& layer = result.layers[l];
    const layers::WorkLayer& work = result.scenario->workload.layers[l];
    CHECK(layer.forward_end_s - layer.forward_start_s == within(work.forward.value, 1e-9));
    CHECK(layer.backward_end_s - layer.backward_start_s == within(work.backward.value, 1e-9));
  }
  CHECK(result.layers[1].forward_start_s == within(0.001, 1e-9));
}

TEST_CASE("link counters: the first and the last iteration asked for are both counted") {
  const study::Result result = study::testing::run_text(
      R"({"workload": {"layers": [
            {"name": "a", "forward_s": 0.001, "backward_s": 0.004, "gradient_bytes": 100000}]},
          "cluster": {"nodes": 2, "topology": {"preset": "star", "hosts": 3, "latency_s": 1e-6,
            "bandwidth_Bps": 1e9}, "network": {"model": "flow"}},
          "training": {"algorithm": "parameter_server", "iterations": 3}})");
  REQUIRE_FALSE(result.messages.empty());
  const auto points = [&](std::int64_t first, std::int64_t last) {
    events::Timeline timeline;
    study::add_link_counters(result, first, last, timeline);
    return timeline.counters.size();
  };
  for (const std::int64_t k : {0, 1, 2}) {
    CHECK(points(k, k) > 0);
  }
  CHECK(points(0, 2) == points(0, 0) + points(1, 1) + points(2, 2));
}

TEST_CASE("link counters: messages are in flight while the link is busy, on every communicator") {
  // ECMP sends the connections of two communicators over different spines. Without latency a link
  // is busy exactly while one of its messages is in flight.
  const study::Result result = study::testing::run_text(
      R"({"workload": {"layers": [
            {"name": "a", "forward_s": 0.001, "backward_s": 0.002, "gradient_bytes": 4000000},
            {"name": "b", "forward_s": 0.001, "backward_s": 0.002, "gradient_bytes": 4000000}]},
          "cluster": {"nodes": 4, "topology": {"preset": "leaf_spine", "leaves": 2,
            "hosts_per_leaf": 2, "spines": 4, "latency_s": 0, "bandwidth_Bps": 1e9,
            "uplink_bandwidth_Bps": 1e8},
            "network": {"model": "flow"}},
          "training": {"iterations": 2, "sharding": {"strategy": "full_shard",
            "wrapping": {"policy": "layer"}, "communicators": 2}}})");
  REQUIRE_FALSE(result.messages.empty());
  events::Timeline timeline;
  study::add_link_counters(result, 0, 1, timeline);
  std::map<std::string, double> in_flight; // [name] s
  for (std::size_t i = 0; i + 1 < timeline.counters.size(); ++i) {
    const events::CounterPoint& point = timeline.counters[i];
    const events::CounterPoint& next = timeline.counters[i + 1];
    if (point.name == next.name && point.value > 0) {
      in_flight[point.name] += next.time.value - point.time.value;
    }
  }
  const links::Fabric& fabric = result.scenario->cluster.fabric->fabric();
  std::size_t between_leaves = 0;
  for (const auto& [name, seconds] : in_flight) {
    const std::string link = name.substr(std::string("messages on ").size());
    const auto found = std::ranges::find(fabric.link_names, link);
    REQUIRE(found != fabric.link_names.end());
    CAPTURE(name);
    CHECK(seconds ==
          within(result.links[static_cast<std::size_t>(found - fabric.link_names.begin())].busy_s,
                 1e-9));
    between_leaves += link.find("spine") != std::string::npos ? 1 : 0;
  }
  CHECK(between_leaves > 2);
}

TEST_CASE("message classes: the first front_fraction x layers are front layers") {
  study::PacketSettings settings;
  settings.has_transport = true;
  settings.options.transport.kind = links::TransportKind::dlcp;
  settings.bounded_loss.front_fraction = 0.5;
  const study::MessageClasses classes(settings, {100, 100, 100, 100});
  for (const std::uint32_t layer : {0U, 1U, 2U, 3U}) {
    CAPTURE(layer);
    CHECK(classes.of_layers({&layer, 1}).small ==
          (layer < 0.5 * 4 ? links::DropClass::droppable : links::DropClass::middle));
  }
}

TEST_CASE("solve: a rate is met from below, so that the answer has at least the target") {
  // Samples per second of n nodes grow with n: the first number of nodes that reaches 4000 / s.
  const study::SolveProblem problem{.scenario = json(R"({
      "workload": {"layers": [{"name": "one", "forward_s": 2e-3, "backward_s": 4e-3,
        "gradient_bytes": 1000000}], "batch_size": 8},
      "cluster": {"nodes": 4, "network": {"latency_s": 1e-5, "bandwidth_Bps": 1.25e9}},
      "communication": {"schedule": "wfbp"}})"),
                                    .pointer = "/cluster/nodes",
                                    .low = 1,
                                    .high = 16,
                                    .metric = "samples_per_s",
                                    .target = 4000,
                                    .points = {}};
  const study::Solution solution =
      study::solve(problem, study::testing::shipped_files(), study::SweepOptions{});
  REQUIRE(solution.crossings.size() == 1);
  const study::SolveCrossing& crossing = solution.crossings.front();
  CHECK(crossing.rising);
  CHECK(*crossing.point.metric_value >= 4000);
  REQUIRE(crossing.beyond.has_value());
  CHECK(*crossing.beyond->metric_value < 4000);
  CHECK(crossing.beyond->value.as_integer() == crossing.point.value.as_integer() - 1);
}

TEST_CASE("flows: the time of a flow counts from its own start, whatever came before") {
  // Two flows of 1.25 MB at 1.25 GB/s, one after the other: 1 ms and twice the latency of a cable
  // each.
  const std::vector<double> seconds = study::testing::fct(
      R"({"kind": "flows", "topology": {"preset": "star", "hosts": 3, "bandwidth_Bps": 1.25e9,
          "latency_s": 1e-6}, "network": {"model": "flow"}, "flows": [
          {"src": 0, "dst": 2, "size_bytes": 1250000, "start_s": 0.5},
          {"src": 1, "dst": 2, "size_bytes": 1250000, "start_s": 2}]})");
  REQUIRE(seconds.size() == 2);
  for (const double each : seconds) {
    CHECK(each == within(1250000 / 1.25e9 + 2 * 1e-6, 1e-9));
  }
}
