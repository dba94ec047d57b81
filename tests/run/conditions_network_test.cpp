// Steps under typical conditions of servers, of ByteScheduler, on topologies and over outer
// networks (CON 2, 7).
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "base/quantity.hpp"
#include "document/json_text.hpp"
#include "document/temporary_folder.hpp"
#include "run/scenario_program.hpp"
#include "scenario/scenario_conditions.hpp"
#include "scenario/scenario_text.hpp"
#include "testing/paths.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using stepsim::testing::within;

namespace {

constexpr double kExact = 1e-9;

// Rows of the scoreboard on eight machines of four GPUs, with the seconds of a step on one GPU.
std::string row_text_of(const std::string& workload, double compute_s, const std::string& network,
                        const std::string& rest) {
  return R"({"workload": {"granularity": "tensor", "batch_size": 1, "model": )" + workload +
         R"(, "measured": {"forward_s": )" + base::shortest(compute_s / 3) + R"(, "backward_s": )" +
         base::shortest(compute_s * 2 / 3) +
         R"(}}, "cluster": {"nodes": 8, "gpus_per_node": 4, "network": {"latency_s": 1e-6, )" +
         network + R"(}, "intra_network": {"latency_s": 1e-6, "bandwidth_Bps": 11.97e9,
         "bus": "pcie"}}, )" +
         rest + R"(, "conditions": "typical"})";
}
constexpr double kResnet = 64 / 253.1;
const std::string kTcp10 = R"("bandwidth_Bps": 1.25e9, "efficiency": 0.949288, "transport": "tcp")";
const std::string kRdma100 = R"("bandwidth_Bps": 12.5e9, "transport": "rdma")";
const std::string kServers = R"("training": {"algorithm": "parameter_server", "iterations": 3,
    "placement": "dedicated", "servers": 8}, "communication": {"schedule": "wfbp"})";

} // namespace

TEST_CASE("conditions: servers take the longer one of starts and transfers (CON 7)") {
  const study::Result starts =
      study::testing::run_text(row_text_of(R"("resnet50")", kResnet, kTcp10, kServers));
  CHECK(*starts.summary.iteration_time_s == within(0.276877812515, kExact));
  CHECK(*starts.summary.iteration_time_s == within(kResnet * 1.094174283705 + 2e-4, 1e-7));
  const study::Result transfers = study::testing::run_text(
      row_text_of(R"("bert_large_pretrain", "sequence_length": 64)", 8 / 49.0, kRdma100, kServers));
  CHECK(*transfers.summary.iteration_time_s == within(0.703778275791, kExact));
}

TEST_CASE("conditions: ByteScheduler takes the longer one of starts and transfers (CON 7)") {
  const study::Result result = study::testing::run_text(
      row_text_of(R"("resnet50")", kResnet, kRdma100, R"("training": {"iterations": 3},
      "communication": {"collective": "ring", "schedule": "priority", "preset": "bytescheduler"})"));
  CHECK(*result.summary.iteration_time_s == within(0.288103058853, kExact));
}

TEST_CASE("conditions: asynchronous servers hide a transfer behind the start, too") {
  const std::string text =
      R"({"workload": {"layers": [{"name": "a", "forward_s": 0.1, "backward_s": 0.2, "gradient_bytes": BYTES}]},
      "cluster": {"nodes": 4, "network": {"latency_s": 1e-6, "bandwidth_Bps": 1e10,
      "transport": "rdma"}}, "training": {"algorithm": "parameter_server", "mode": "async",
      "servers": 4}, "conditions": {"kind": "typical", "factors": {"l_0": 0, "l_1": 0}}})";
  const auto step = [&](const std::string& bytes) {
    std::string with = text;
    with.replace(with.find("BYTES"), 5, bytes);
    return *study::testing::run_text(with).summary.iteration_time_s;
  };
  CHECK(step("8") == within(0.3 + 2e-4, 1e-9));
  CHECK(step("340000000") == within(0.3 + 2 * 3.4e8 / (0.34 * 1e10), 1e-9));
}

TEST_CASE("conditions: links into machines and links inside them lose on a topology") {
  const std::string scenario =
      R"({"workload": {"layers": [{"name": "a", "forward_s": 0.1, "backward_s": 0.2, "gradient_bytes": 100000000}]},
      "cluster": {"nodes": 4, "gpus_per_node": 2, "intra_network": {"latency_s": 1e-6,
      "bandwidth_Bps": 1e11, "bus": "nvlink"}, "network": {"model": "flow", "transport": "rdma"},
      "topology": {"preset": "PRESET, "latency_s": 1e-5, "bandwidth_Bps": 1e10}},
      "communication": {"collective": "ring", "schedule": "single"},
      "conditions": {"kind": "typical", "factors": {"l_0": 0, "l_1": 0, "s_net": 1}}})";
  for (const std::string preset :
       {R"(gpu_node", "gpus": 2, "nodes": 4)", R"(leaf_spine", "leaves": 2, "hosts_per_leaf": 2,
           "spines": 2)"}) {
    std::string text = scenario;
    text.replace(text.find("PRESET"), 6, preset);
    const double typical = *study::testing::run_text(text).summary.iteration_time_s;
    // As an ideal scenario with lower rates and a start per message; the network is the bottleneck.
    text.replace(text.find("1e10"), 4, "6.5e9");
    const std::size_t at = text.find(R"("conditions")");
    text = text.substr(0, at) + R"("training": {"sync_s": 7e-5}})";
    text.replace(text.find(R"(, "bus": "nvlink")"), 17, "");
    text.replace(text.find(R"(, "transport": "rdma")"), 21, "");
    CHECK(typical == within(*study::testing::run_text(text).summary.iteration_time_s, 1e-12));
  }
}

TEST_CASE("conditions: links of packets keep their rates, and messages have their start") {
  const auto step = [](const std::string& transport, const std::string& rest) {
    return *study::testing::run_text(
                R"({"workload": {"layers": [{"name": "a", "forward_s": 0.01, "backward_s": 0.02,
        "gradient_bytes": 4000000}]}, "cluster": {"nodes": 3, "network": {"model": "packet",
        "latency_s": 1e-5, "bandwidth_Bps": 1e9, "packet": {"transport": {"kind": "raw"}})" +
                transport +
                R"(}}, "communication": {"collective": "ring", "schedule": "single"}, )" + rest +
                "}")
                .summary.iteration_time_s;
  };
  CHECK(step("",
             R"("conditions": {"kind": "typical", "factors": {"l_0": 0, "l_1": 0, "s_net": 1}})") ==
        within(step("", R"("training": {"sync_s": 7e-5})"), 1e-12));
}

TEST_CASE("conditions: the network of outer exchanges loses by its own transport") {
  const std::string text =
      R"({"workload": {"layers": [{"name": "a", "forward_s": 0.1, "backward_s": 0.2, "gradient_bytes": 100000000}]},
      "cluster": {"nodes": 4, "network": {"latency_s": 1e-6, "bandwidth_Bps": 1e10,
      "transport": "rdma"}}, "training": {"algorithm": "local_sgd", "local_steps": 4,
      "outer_network": {"latency_s": 0.02, "bandwidth_Bps": RATE}},
      "conditions": {"kind": "typical", "factors": {"l_0": 0, "l_1": 0, "s_net": 1}}})";
  const auto with = [&](const std::string& rate) {
    std::string out = text;
    return out.replace(out.find("RATE"), 4, rate);
  };
  CHECK(study::testing::problem_of(with("1.25e8")).find("outer_network") != std::string::npos);
  const std::string tcp = with(R"(1.25e9, "transport": "tcp")");
  const double rate = std::pow(std::pow(1.25e9, -4) + std::pow(2.25e9, -4), -0.25);
  // A ring of four: six hops, and a start of the message once in four steps.
  CHECK(*study::testing::run_text(tcp).summary.iteration_time_s ==
        within(0.3 + (6 * 0.02 + 1.5 * 1e8 / rate + 7e-5) / 4, 1e-12));
}

TEST_CASE("conditions: a library loses rates of data sheets alone, and none of its starts") {
  const io::TemporaryFolder folder;
  const auto step = [&](const std::string& label, double ring_Bps, double nic_Bps,
                        const std::string& conditions) {
    const std::string number = R"(, "label": ")" + label + R"(", "source": "its maker"})";
    const std::string node = folder.put(
        "node.json",
        R"({"kind": "node_preset", "name": "own", "gpus_per_node": 4, "link": "nvlink",
        "ring_Bps": {"value": )" +
            base::shortest(ring_Bps) + number + R"(, "nics_per_node": 2, "nic_Bps": {"value": )" +
            base::shortest(nic_Bps) + number + R"(, "generation": "ampere"})");
    study::Files files(STEPSIM_SOURCE_DIR);
    const std::string text =
        R"({"workload": {"layers": [{"name": "a", "forward_s": 0.1, "backward_s": 0.2,
        "gradient_bytes": 1000000000}]}, "cluster": {"nodes": 4, "preset": ")" +
        node + R"("}, "communication": {"collective": "library",
        "schedule": "single"}, "conditions": )" +
        conditions + "}";
    return *study::run(study::parse_scenario(io::parse_json(text, "test.json"), files))
                .summary.iteration_time_s;
  };
  const std::string typical = R"({"kind": "typical", "factors": {"l_0": 0, "l_1": 0, "s_net": 1}})";
  // Two cards of 6 GB/s are below 12.5 GB/s a machine.
  CHECK(step("sheet", 2e11, 6e9, typical) ==
        within(step("sheet", 0.79 * 2e11, 0.65 * 6e9, R"("ideal")"), 1e-12));
  CHECK(step("fitted", 2e11, 6e9, typical) ==
        within(step("fitted", 2e11, 6e9, R"("ideal")"), 1e-12));
}

TEST_CASE("conditions: a ring loses shares of a data sheet's rates, and none of fitted ones") {
  const io::TemporaryFolder folder;
  study::Files files(STEPSIM_SOURCE_DIR);
  const auto rate = [&](int nodes, const std::string& cluster) {
    const study::Scenario scenario = study::parse_scenario(
        io::parse_json(R"({"workload": {"layers": [{"name": "a", "forward_s": 0.1,
            "backward_s": 0.2, "gradient_bytes": 1000000000}]}, "conditions": "typical",
            "communication": {"collective": "ring"}, "cluster": {"nodes": )" +
                           std::to_string(nodes) + ", " + cluster + "}}",
                       "test.json"),
        files);
    return scenario.cluster.network.bandwidth_Bps;
  };
  const auto on_node = [&](const std::string& label) {
    const std::string number = R"(, "label": ")" + label + R"(", "source": "its maker"})";
    return R"("preset": ")" +
           folder.put(label + ".json", R"({"kind": "node_preset", "name": "own", "gpus_per_node": 4,
               "link": "nvlink", "ring_Bps": {"value": 2.4e11)" +
                                           number + R"(, "nic_Bps": {"value": 2.4e10)" + number +
                                           R"(, "nics_per_node": 2, "generation": "ampere",
               "link_nominal_Bps": 3e11, "nic_nominal_Bps": 2.5e10})") +
           '"';
  };
  CHECK(rate(4, on_node("assumed")) == within(0.84 * 2 * 2.5e10, 1e-12));
  CHECK(rate(1, on_node("assumed")) == within(0.79 * 3e11, 1e-12));
  CHECK(rate(4, on_node("fitted")) == within(2 * 2.4e10, 1e-12));
  CHECK(rate(1, on_node("fitted")) == within(2.4e11, 1e-12));
  // A rate that was typed replaces that of the node type, and is nominal.
  CHECK(rate(4, on_node("fitted") + R"(, "network": {"bandwidth_Bps": 2e10})") ==
        within(0.84 * 2 * 2e10, 1e-12));
  CHECK(rate(4, R"("network": "100g-tcp")") == 2.3e9);
}

TEST_CASE("conditions: every job computes with its own number of workers") {
  const std::string text =
      R"({"workload": [{"layers": [{"name": "a", "forward_s": 0.1, "backward_s": 0.2,
      "gradient_bytes": 8}], "nodes": NODES}, {"layers": [{"name": "b", "forward_s": 0.1,
      "backward_s": 0.2, "gradient_bytes": 8}], "nodes": 2}], "cluster": {"nodes": SUM,
      "network": {"model": "flow", "latency_s": 0, "bandwidth_Bps": 1e10, "transport": "rdma"}},
      "communication": {"collective": "ring", "schedule": "single"},
      "conditions": {"kind": "typical", "factors": {"s_net": 1, "a_nccl": 1e-12}}})";
  const auto scenario = [&](int nodes) {
    std::string out = text;
    out.replace(out.find("NODES"), 5, std::to_string(nodes));
    return study::testing::scenario(out.replace(out.find("SUM"), 3, std::to_string(nodes + 2)));
  };
  for (const int nodes : {2, 4, 8}) {
    const study::Scenario under = scenario(nodes);
    const double step_s = *study::run(under).summary.iteration_time_s;
    CHECK(step_s == within(0.3 * std::exp(0.03 + 0.012 * std::log2(nodes)), 1e-6));
    CHECK(under.other_jobs.front().workload.forward().value ==
          within(0.1 * std::exp(0.03 + 0.012), 1e-12));
    CHECK(study::nominal_of(under).other_jobs.front().workload.forward().value == 0.1);
  }
}

// CON 7, properties: servers and ByteScheduler without losses are the ideal ones without latency.
TEST_CASE("conditions: what hides its transfers loses nothing without losses") {
  const std::string none = R"({"kind": "typical", "factors": {"e_rdma_pcie": 1, "e_ps": 1,
      "e_sched": 1, "a_server": 1e-300, "a_sched": 1e-300, "h_rdma": 1e-300, "s_net": 1, "l_0": 0,
      "l_1": 0}})";
  const auto step = [&](const std::string& model, const std::string& rest,
                        const std::string& conditions) {
    return *study::testing::run_text(
                R"({"workload": {"model": "resnet50", "batch_size": 1, "measured":
        {"forward_s": 0.01, "backward_s": 0.02}}, "cluster": {"nodes": 4, "network": {"latency_s": 0,
        "bandwidth_Bps": 1.25e9, "model": ")" +
                model + R"(")" + (conditions.empty() ? "" : R"(, "transport": "rdma")") + "}}, " +
                rest + conditions + "}")
                .summary.iteration_time_s;
  };
  for (const std::string model : {"alpha_beta", "flow"}) {
    for (const std::string rest :
         {R"("training": {"algorithm": "parameter_server", "servers": 2})",
          R"("training": {"algorithm": "parameter_server", "placement": "sharded"},
             "communication": {"schedule": "wfbp"})",
          R"("communication": {"collective": "ring", "schedule": "priority"})"}) {
      CAPTURE(model);
      CAPTURE(rest);
      CHECK(step(model, rest, R"(, "conditions": )" + none) ==
            within(step(model, rest, ""), 1e-12));
    }
  }
}

TEST_CASE("conditions: what cannot be under them is named") {
  const auto problem = [](const std::string& cluster, const std::string& rest) {
    return study::testing::problem_of(
        R"({"workload": {"layers": [{"name": "a", "forward_s": 0.1, "backward_s": 0.2,
        "gradient_bytes": 8}]}, "cluster": {"nodes": 4, )" +
        cluster + "}, " + rest + R"(, "conditions": "typical"})");
  };
  const std::string servers = R"("training": {"algorithm": "parameter_server"})";
  const std::string async = R"("training": {"algorithm": "parameter_server", "mode": "async"})";
  const std::string links = R"("latency_s": 1e-6, "bandwidth_Bps": 1e9, "transport": "rdma")";
  const std::string gpus = R"("gpus_per_node": 2, "intra_network": {"latency_s": 1e-6,
      "bandwidth_Bps": 1e10, "bus": "pcie"}, "network": {)";
  CHECK(problem(R"("network": {"model": "packet", "packet": {"transport": {"kind": "raw"}}, )" +
                    links + "}",
                servers)
            .find("parameter servers on a network of packets") != std::string::npos);
  CHECK(problem(gpus + R"("model": "flow", )" + links + "}", servers)
            .find("pushes once for all of its GPUs") != std::string::npos);
  CHECK(problem(R"("network": {"model": "flow", )" + links + "}", async)
            .find("asynchronous servers on a simulated network") != std::string::npos);
  CHECK(problem(gpus + links + "}", async)
            .find("asynchronous servers with several GPUs per machine") != std::string::npos);
  CHECK(problem(gpus + links + "}", R"("training": {"algorithm": "parameter_server",
      "placement": "colocated", "servers": 8})")
            .find("more colocated servers than machines") != std::string::npos);
}

TEST_CASE(
    "conditions: the program of a scenario that hides its transfers is the one that decides") {
  const study::Scenario scenario =
      study::testing::scenario(row_text_of(R"("resnet50")", kResnet, kTcp10, kServers));
  const study::Scenario decides = study::deciding(scenario);
  CHECK(!decides.conditions.hides_transfers);
  CHECK(study::period_of(decides) == study::period_of(scenario));
  CHECK(study::scenario_program(decides).units.front().cost.wire_s ==
        within(2e-4, 1e-3)); // the start alone
}

TEST_CASE("conditions: machines are the workers of servers with measured links, too") {
  const io::TemporaryFolder folder;
  const std::string file = folder.put("own.json", R"({"schema_version": 1, "name": "own",
      "kind": "network_calibration", "label": "calibrated",
      "network": {"latency_s": 1e-5, "bandwidth_Bps": 1e9}})");
  const auto step = [&](const std::string& cluster, const std::string& conditions) {
    return *study::testing::run_text(
                R"({"workload": {"layers": [{"name": "a", "forward_s": 0.01, "backward_s": 0.02,
        "gradient_bytes": 4000000}]}, "training": {"algorithm": "parameter_server"}, "cluster": {)" +
                cluster + R"(, "nodes": 3}, "conditions": )" + conditions + "}")
                .summary.iteration_time_s;
  };
  const std::string gpus = R"("gpus_per_node": 2, "nics_per_node": 2, "intra_network":
      {"latency_s": 1e-6, "bandwidth_Bps": 1e10}, "network": {"calibration": ")" +
                           file + "\"}";
  CHECK(
      step(gpus, R"({"kind": "typical", "factors": {"l_0": 0, "l_1": 0}})") ==
      within(step(R"("network": {"latency_s": 1e-5, "bandwidth_Bps": 2e9})", R"("ideal")"), 1e-12));
}
