// Nodes with several GPUs: the network inside them, and the interfaces that they share.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "base/quantity.hpp"
#include "collectives/method.hpp"
#include "document/file.hpp"
#include "document/json_text.hpp"
#include "document/temporary_folder.hpp"
#include "scenario/scenario_exchange.hpp"
#include "scenario/scenario_text.hpp"
#include "scenario/scenario_tree.hpp"
#include "study/sweep/grid.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using namespace stepsim::study;
using namespace stepsim::study::testing;
using stepsim::testing::within;

namespace {

constexpr double kBytes = 40'000'000;
constexpr double kForward = 0.01;
constexpr double kBackward = 0.02;
const std::string kLayer = R"({"layers": [{"name": "a", "forward_s": 0.01, "backward_s": 0.02,
    "gradient_bytes": 40000000}]})";
const std::string kTrace =
    R"({"trace": ")" STEPSIM_SOURCE_DIR R"(/traces/resnet50.ddp.2xa100.json"})";

std::string text(const std::string& cluster, const std::string& more = "",
                 const std::string& workload = kLayer) {
  return R"({"workload": )" + workload + R"(, "cluster": )" + cluster + more + "}";
}

const std::string kEthernet = R"("network": {"latency_s": 1e-5, "bandwidth_Bps": 3.125e9})";
const std::string kInside = R"("intra_network": {"latency_s": 2e-6, "bandwidth_Bps": 1e11})";

const std::string kFlatRing = R"(, "communication": {"collective": "ring"})";

// Short forms expanded, as commands do.
io::Json tree_of(const std::string& scenario_text) {
  return with_short_forms_expanded(io::parse_json(scenario_text, "test.json"));
}

double seconds_of(const std::string& scenario_text) {
  return *run(parse_scenario(tree_of(scenario_text), shipped_files())).summary.iteration_time_s;
}

} // namespace

TEST_CASE("machines of one GPU in an NVLink domain are a node with several GPUs") {
  const std::string domain = R"({"nodes": 8, "nvlink_domain_nodes": )";
  CHECK(problem_of(text(domain + "8, " + kEthernet + "}"))
            .starts_with("test.json: /cluster/intra_network: missing: the 8 machines of an NVLink "
                         "domain need the network that joins them; a name (nvlink-h100"));
  for (const std::string& more : {std::string(), kFlatRing}) {
    CHECK(seconds_of(text(domain + "8, " + kEthernet + ", " + kInside + "}", more)) ==
          within(seconds_of(text(R"({"nodes": 1, "gpus_per_node": 8, )" + kInside + "}", more)),
                 1e-9));
  }
  CHECK(seconds_of(text(domain + "4, " + kEthernet + ", " + kInside + "}")) ==
        within(seconds_of(text(R"({"nodes": 2, "gpus_per_node": 4, "nics_per_node": 4, )" +
                               kEthernet + ", " + kInside + "}")),
               1e-9));
  CHECK(problem_of(text(R"({"nodes": 8, )" + kEthernet + ", " + kInside + "}"))
            .ends_with("intra_network has no meaning for one GPU a node"));
}

TEST_CASE("several GPUs per node need the network inside the node") {
  const std::string missing =
      "test.json: /cluster/intra_network: missing: 4 GPUs per node need the network inside the "
      "node; a name (nvlink-h100, nvlink-a100, nvlink-v100, xgmi-mi300x, pcie4, pcie3) or "
      "{\"latency_s\", \"bandwidth_Bps\"}";
  CHECK(problem_of(text(R"({"nodes": 8, "gpus_per_node": 4, )" + kEthernet + "}")) == missing);
  CHECK(problem_of(text(R"({"nodes": 1, "gpus_per_node": 4, )" + kEthernet + "}")) == missing);
  CHECK(problem_of(text(R"({"nodes": 8, "gpus_per_node": 4, "network":
      {"calibration": "25g-tcp"}})")) == missing);
  CHECK(problem_of(
            text(R"({"nodes": 8, "gpus_per_node": 4, )" + kEthernet + ", " + kInside + "}")) == "");
  CHECK(problem_of(text(R"({"nodes": 8, )" + kEthernet + "}")) == ""); // one GPU each
}

TEST_CASE("what stands for the links needs no network inside the node") {
  CHECK(problem_of(text(R"({"nodes": 4, "gpus_per_node": 4, "network":
      {"calibration": "v100-10gbe"}})",
                        R"(, "communication": {"collective": "calibrated"})")) == "");
  CHECK(problem_of(text(R"({"nodes": 4, "gpus_per_node": 4, "network":
      {"cost": {"startup_s": 1e-4, "per_byte_s": 1e-9}}})")) == "");
  CHECK(problem_of(text(R"({"nodes": 4, "gpus_per_node": 4, )" + kEthernet + "}",
                        R"(, "training": {"exchange_s": 0.01})")) == "");
}

TEST_CASE("one node needs no network: its ring runs inside") {
  const std::string cluster = R"({"nodes": 1, "gpus_per_node": 4, )" + kInside + "}";
  const double ring = 2 * 3 * (2e-6 + kBytes / 4 / 1e11);
  CHECK(seconds_of(text(cluster, kFlatRing)) == within(kForward + kBackward + ring, 1e-9));
  const Scenario again = scenario(io::pretty(scenario_tree(scenario(text(cluster)))));
  CHECK(*run(again).summary.iteration_time_s == within(seconds_of(text(cluster)), 1e-12));
  CHECK(problem_of(text(R"({"nodes": 2, "gpus_per_node": 4, )" + kInside + "}")) ==
        "test.json: /cluster/network: required");
  CHECK(problem_of(text(cluster, R"(, "training": {"algorithm": "parameter_server"})")) ==
        "test.json: /cluster/network: required: dedicated servers are on other machines");
}

TEST_CASE("networks are given by the names of profiles") {
  const std::string words =
      text(R"({"nodes": 4, "gpus_per_node": 4, "network": "25g-tcp", "intra_network":
               "nvlink-a100"})",
           R"(, "communication": {"collective": "hierarchical"})");
  const Scenario by_name = parse_scenario(tree_of(words), shipped_files());
  CHECK(by_name.cluster.network.bandwidth_Bps == 2.96651e9);
  CHECK(by_name.cluster.network.label == "default");
  REQUIRE(by_name.cluster.intra);
  CHECK(by_name.cluster.intra->latency_s == 2e-6);
  CHECK(1 / by_name.cluster.intra->per_byte_s == within(12 * 20e9, 1e-12)); // 12 links
  const Scenario again = scenario(io::pretty(scenario_tree(by_name)));
  CHECK(*run(again).summary.iteration_time_s == *run(by_name).summary.iteration_time_s);
}

TEST_CASE("profiles of the links inside nodes have the rates of their generation") {
  for (const auto& [name, rate] : {std::pair{"nvlink-h100", 18 * 20.6e9},
                                   {"nvlink-a100", 12 * 20e9},
                                   {"nvlink-v100", 6 * 20e9},
                                   {"xgmi-mi300x", 7 * 48e9},
                                   {"pcie4", 16e9 * 16 * 128 / 130 / 8 * 0.76},
                                   {"pcie3", 8e9 * 16 * 128 / 130 / 8 * 0.76}}) {
    const Scenario one =
        parse_scenario(tree_of(text(R"({"nodes": 1, "gpus_per_node": 8, "intra_network": ")" +
                                    std::string(name) + "\"}")),
                       shipped_files());
    CHECK(1 / one.cluster.intra->per_byte_s == within(rate, 1e-3));
    const bool pcie = std::string(name).starts_with("pcie");
    CHECK(one.cluster.intra->latency_s == (pcie ? 1e-6 : 2e-6));
  }
}

TEST_CASE("a link class of the calibration is the network inside the node") {
  const Scenario one = scenario(text(R"({"nodes": 1, "gpus_per_node": 8, "network":
      {"calibration": ")" STEPSIM_SOURCE_DIR R"(/topologies/h100x8.calibration.json"}})"));
  REQUIRE(one.cluster.intra);
  const links::LinkClass& link = one.cluster.network.profile->links.front();
  CHECK(one.cluster.intra->per_byte_s == link.per_byte_s);
  CHECK(one.cluster.intra->latency_s == link.latency_s);
}

TEST_CASE("with several GPUs per node a calibration leaves the choice, unless it timed that ring") {
  const auto collective = [](int nodes, int measured) {
    const io::TemporaryFolder folder;
    const std::string file = folder.put("own.json", R"({"schema_version": 1, "name": "own",
            "kind": "network_calibration", "label": "measured", "network": {"latency_s": 1e-5,
            "bandwidth_Bps": 1e9}, "collectives": [{"op": "allreduce", "algorithm": "ring",
            "ranks": )" + std::to_string(measured) +
                                                        R"(, "segments": [{"startup_s": 1e-3,
            "per_byte_s": 1e-9}]}]})");
    const Scenario one = scenario(text(
        R"({"nodes": )" + std::to_string(nodes) +
        R"(, "gpus_per_node": 4, "intra_network": "nvlink-v100", "network": {"calibration": ")" +
        file + R"("}})"));
    return collectives::name(one.communication.collective);
  };
  CHECK(collective(4, 8) == "auto");
  CHECK(collective(2, 8) == "ring"); // what was measured is better than any formula
}

TEST_CASE("further blocks inside a node cost what the calibration says, also from a result") {
  const auto cluster_with = [](const std::string& inside) {
    return text(R"({"nodes": 1, "gpus_per_node": 8, )" + inside + "}",
                R"(, "communication": {"collective": "double_binary_tree"})");
  };
  const io::TemporaryFolder folder;
  io::Json file = io::read_json(STEPSIM_SOURCE_DIR "/topologies/h100x8.calibration.json");
  io::assign(file, "/links/0/block_latency_s", 1e-6);
  const std::string calibration =
      R"({"calibration": ")" + folder.put("links.calibration.json", io::pretty(file)) + "\"";
  const Scenario one = scenario(cluster_with(R"("network": )" + calibration + "}"));
  REQUIRE(one.cluster.intra);
  const collectives::LinkCost& link = *one.cluster.intra;
  REQUIRE(link.block_latency_s < link.latency_s);
  const double seconds = seconds_of(cluster_with(R"("network": )" + calibration + "}"));
  const Scenario again =
      scenario(io::pretty(scenario_tree(one))); // what a result says of its scenario
  REQUIRE(again.cluster.intra);
  CHECK(again.cluster.intra->block_latency_s == link.block_latency_s);
  // The class next to another network, and its values as keys.
  const std::string ethernet = kEthernet + R"(, "intra_network": )";
  CHECK(scenario(cluster_with(ethernet + calibration + "}")).cluster.intra->block_latency_s ==
        link.block_latency_s);
  const Scenario own = scenario(cluster_with(ethernet + calibration + R"(, "latency_s": 1e-5})"));
  CHECK(own.cluster.intra->block_latency_s == 1e-5); // a given latency is one for every block
  const auto with_blocks = [&](double block_latency_s) {
    return cluster_with(ethernet + R"({"latency_s": )" + base::shortest(link.latency_s) +
                        R"(, "bandwidth_Bps": )" + base::shortest(1 / link.per_byte_s) +
                        R"(, "block_latency_s": )" + base::shortest(block_latency_s) + "}");
  };
  CHECK(seconds_of(with_blocks(link.block_latency_s)) == within(seconds, 1e-12));
  CHECK(seconds_of(with_blocks(link.latency_s)) > seconds);
  CHECK_THROWS_WITH_AS((void)scenario(with_blocks(2 * link.latency_s)),
                       doctest::Contains("per-block latency must not exceed latency_s"),
                       InputError);
}

TEST_CASE("further blocks between nodes cost what the calibration says, in runs and collectives") {
  const io::TemporaryFolder folder;
  const auto text_of = [&](const std::string& network, const std::string& more = "",
                           const std::string& cluster = "") {
    const std::string file = folder.put(
        "net" + std::to_string(folder.files()) + ".json",
        R"({"schema_version": 1, "kind": "network_calibration", "name": "net", "label": "measured",
            )" +
            network + "}");
    return text(R"({"nodes": 4, "network": {"calibration": ")" + file + "\"" + more + "}" +
                    cluster + "}",
                R"(, "communication": {"collective": "lp", "block_bytes": 1000000})");
  };
  const auto block_of = [&](const std::string& network, const std::string& more = "") {
    return scenario(text_of(network, more)).cluster.network.block_latency_s;
  };
  const std::string whole =
      R"("network": {"latency_s": 1e-5, "bandwidth_Bps": 1e9, "block_latency_s": 2e-6})";
  const auto link = [](const char* block) {
    return R"("links": [{"class": "network", "latency_s": 1e-5, "per_byte_s": 1e-9,
                         "block_latency_s": )" +
           std::string(block) + "}]";
  };
  CHECK(block_of(whole) == 2e-6);
  CHECK(block_of(whole, R"(, "latency_s": 3e-5)") == 3e-5);
  CHECK(block_of(whole, R"(, "block_latency_s": 1e-6)") == 1e-6);
  CHECK(block_of(link("3e-6")) == 3e-6);
  CHECK(block_of(link("null")) == 1e-5);
  CHECK(block_of(link("4e-5")) == 1e-5); // a fit may lie above the latency of a message

  // The first block waits for a latency on each of 3 hops of the reduction. Behind it follow 39
  // blocks of the reduction and 40 of the broadcast, whose first one does not wait for the last.
  const double further = seconds_of(text_of(whole));
  CHECK(seconds_of(text_of(whole, R"(, "block_latency_s": 1e-5)")) - further ==
        within(79 * 8e-6, 1e-9));
  CHECK(seconds_of(text_of(link("2e-6"))) == within(further, 1e-12));
  // A resolved scenario keeps it, also where a topology gives the latency.
  CHECK(*run(scenario(io::pretty(scenario_tree(scenario(text_of(whole))))))
             .summary.iteration_time_s == further);
  const Scenario star = scenario(text(
      R"({"nodes": 4, "network": {"model": "alpha_beta"},
          "topology": {"preset": "star", "hosts": 4, "latency_s": 5e-6, "bandwidth_Bps": 1e9}})",
      R"(, "communication": {"collective": "lp"})"));
  CHECK(*run(scenario(io::pretty(scenario_tree(star)))).summary.iteration_time_s ==
        *run(star).summary.iteration_time_s);
}

TEST_CASE("eight nodes of four GPUs: the interfaces of a node carry what all its GPUs send") {
  const auto with = [&](int interfaces) {
    return text(R"({"nodes": 8, "gpus_per_node": 4, "nics_per_node": )" +
                    std::to_string(interfaces) + ", " + kEthernet +
                    R"(, "intra_network": "nvlink"})",
                R"(, "communication": {"schedule": "ddp", "collective": "be"})", kTrace);
  };
  CHECK(seconds_of(with(1)) == within(243.5823e-3, 1e-6));
  CHECK(seconds_of(with(4)) == within(71.8391e-3, 1e-6));
}

TEST_CASE("parameter servers serve nodes with several GPUs, synchronous or not") {
  const std::string cluster =
      R"({"nodes": 2, "gpus_per_node": 4, )" + kEthernet + ", " + kInside + "}";
  const auto with = [&](int servers, const std::string& mode) {
    return seconds_of(
        text(cluster, R"(, "training": {"algorithm": "parameter_server", "servers": )" +
                          std::to_string(servers) + R"(, "mode": ")" + mode + "\"}"));
  };
  // P / S gradients reach a server, 4 leave a node by one interface.
  for (const int servers : {1, 2, 8}) {
    const double busiest = std::max(8.0 / servers, 4.0);
    CHECK(with(servers, "sync") ==
          within(kForward + kBackward + 2 * (1e-5 + busiest * kBytes / 3.125e9), 1e-9));
    CHECK(with(servers, "async") >= busiest * kBytes / 3.125e9 * (1 - 1e-9));
  }
}

TEST_CASE("a flat ring on nodes of several GPUs says that it uses one network card") {
  const std::string start = R"({"nodes": 4, "gpus_per_node": 4, )";
  const std::string cluster = start + kEthernet + ", " + kInside + "}";
  const std::string several = start + R"("nics_per_node": 4, )" + kEthernet + ", " + kInside + "}";
  const auto warned = [](const Result& result) {
    return std::ranges::any_of(result.warnings, [](const std::string& warning) {
      return warning.starts_with("flat_on_two_levels: ring is flat");
    });
  };
  CHECK(warned(run_text(text(cluster, kFlatRing))));
  CHECK_FALSE(warned(run_text(text(several, R"(, "communication": {"collective":
      "hierarchical"})"))));
  CHECK_THROWS_WITH_AS((void)run_text(text(several, kFlatRing)),
                       doctest::Contains("nics_per_node has no meaning for collective ring"),
                       InputError);
}

TEST_CASE("nodes of several GPUs on a topology take auto, which may have levels") {
  const std::string cluster = R"({"nodes": 2, "gpus_per_node": 4, "network": {"model": "flow"},
      "topology": {"preset": "gpu_node", "gpus": 4, "nodes": 2, "nics_per_node": 1,
        "bandwidth_Bps": 1e9, "latency_s": 1e-6, "nvlink_bandwidth_Bps": 1e10,
        "nvlink_latency_s": 1e-6, "pcie_bandwidth_Bps": 2e9, "pcie_latency_s": 1e-6}})";
  const auto seconds = [&](const std::string& collective) {
    return seconds_of(text(cluster, collective.empty() ? ""
                                                       : R"(, "communication": {"collective": ")" +
                                                             collective + "\"}"));
  };
  CHECK(seconds("") == seconds("auto"));
  CHECK(seconds("") == seconds("hierarchical"));
  CHECK(seconds("two_level") < seconds("ring"));
  // Pipelines of more blocks than can be played are no candidates.
  collectives::Collective huge = exchange_of(scenario(text(cluster, "")));
  huge.bytes = 9e15;
  huge.algorithm = collectives::AlgorithmId::automatic;
  CHECK(collectives::with_chosen_algorithm(huge).algorithm != collectives::AlgorithmId::lp);
}

TEST_CASE("more interfaces and faster links never make a training step slower") {
  const auto seconds = [](int interfaces, double outer, double inner, const std::string& more) {
    return seconds_of(
        text(R"({"nodes": 2, "gpus_per_node": 4, "nics_per_node": )" + std::to_string(interfaces) +
                 R"(, "network": {"latency_s": 1e-5, "bandwidth_Bps": )" + std::to_string(outer) +
                 R"(}, "intra_network": {"latency_s": 2e-6, "bandwidth_Bps": )" +
                 std::to_string(inner) + "}}",
             more));
  };
  constexpr double kSlack = 1 + 1e-9;
  for (const char* kind :
       {R"("collective": "two_level")", R"("collective": "be")", R"("collective": "mst")",
        R"("collective": "hierarchical")", R"("collective": "hierarchical_leader")",
        R"("collective": "auto")", R"("schedule": "single", "compression": {"method": "topk",
           "density": 0.01})",
        R"("schedule": "single", "compression": {"method": "ok_topk", "density": 0.01})",
        R"("schedule": "single", "compression": {"method": "sparcml_split", "density": 0.01})",
        R"("compression": "fp16")"}) {
    INFO(kind);
    std::string more = R"(, "communication": {)" + std::string(kind) + "}";
    const double one = seconds(1, 1e9, 1e10, more);
    CHECK(seconds(2, 1e9, 1e10, more) <= one * kSlack);
    CHECK(seconds(4, 1e9, 1e10, more) <= seconds(2, 1e9, 1e10, more) * kSlack);
    CHECK(seconds(1, 2e9, 1e10, more) <= one * kSlack);
    CHECK(seconds(1, 1e9, 2e10, more) <= one * kSlack);
  }
}
