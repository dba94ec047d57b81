// Nodes with different numbers of GPUs in scenarios and collectives (CLU 3.6, 13).
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "document/json_text.hpp"
#include "nccl/library_record.hpp"
#include "scenario/scenario_exchange.hpp"
#include "scenario/scenario_text.hpp"
#include "scenario/scenario_tree.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using namespace stepsim::study;
using namespace stepsim::study::testing;
using stepsim::testing::within;

namespace {

constexpr double kBytes = 36'000'000;
constexpr double kCompute = 0.03;
const std::string kLinks = R"("network": {"latency_s": 8e-6, "bandwidth_Bps": 25e9},
    "intra_network": {"latency_s": 2e-6, "bandwidth_Bps": 300e9})";
constexpr double kInside = 2e-6 + kBytes / 300e9;
constexpr double kAcross = 8e-6 + kBytes / 3 / 25e9; // of a ring of three leaders

std::string text(const std::string& cluster, const std::string& more = "") {
  return R"({"workload": {"layers": [{"name": "a", "forward_s": 0.01, "backward_s": 0.02,
      "gradient_bytes": 36000000}]}, "cluster": )" +
         cluster + more + "}";
}
std::string counts(const std::string& list, const std::string& more = kLinks) {
  const auto nodes = 1 + std::count(list.begin(), list.end(), ',');
  return R"({"nodes": )" + std::to_string(nodes) + R"(, "ranks_per_node": )" + list + ", " + more +
         "}";
}
std::string by(const std::string& collective) {
  return R"(, "communication": {"collective": ")" + collective + "\"}";
}
double seconds_of(const std::string& scenario_text) {
  return *run_text(scenario_text).summary.iteration_time_s;
}

} // namespace

TEST_CASE("ranks_per_node: equal counts are gpus_per_node") {
  const Scenario listed = scenario(text(counts("[4, 4]")));
  const Scenario plain = scenario(text(R"({"nodes": 2, "gpus_per_node": 4, )" + kLinks + "}"));
  CHECK(io::pretty(scenario_tree(listed)) == io::pretty(scenario_tree(plain)));
}

TEST_CASE("ranks_per_node: hierarchical_leader waits for the largest node") {
  const std::string leader = text(counts("[3, 1, 2]"), by("hierarchical_leader"));
  CHECK(scenario(leader).cluster.ranks() == 6);
  const double exchange = 2 * kInside + 4 * kAcross + 2 * kInside;
  CHECK(seconds_of(leader) == within(kCompute + exchange, 1e-9));
  const Scenario again = scenario(io::pretty(scenario_tree(scenario(leader))));
  CHECK(*run(again).summary.iteration_time_s == seconds_of(leader));
  CHECK(scenario_tree(again).find("cluster")->find("gpus_per_node") == nullptr);
}

TEST_CASE("ranks_per_node: auto finds a collective for unequal nodes") {
  const Result result = run_text(text(counts("[3, 1, 2]")));
  CHECK(result.scenario->communication.collective == collectives::AlgorithmId::automatic);
  CHECK(*result.summary.iteration_time_s <=
        seconds_of(text(counts("[3, 1, 2]"), by("hierarchical_leader"))));
}

TEST_CASE("ranks_per_node: domains join the counts of their nodes") {
  const auto domains = [](const std::string& list) {
    return exchange_of(scenario(text(counts(list, R"("nvlink_domain_nodes": 2, )" + kLinks))))
        .links.two_level.value();
  };
  CHECK(domains("[3, 1, 2, 4]").ranks_per_node == std::vector<std::uint32_t>{4, 6});
  CHECK(domains("[3, 1, 2, 4]").gpus_per_node == 6);
  CHECK(domains("[3, 1, 2, 2]").ranks_per_node.empty());
  CHECK(domains("[3, 1, 2, 2]").gpus_per_node == 4);
}

TEST_CASE("ranks_per_node: what does not fit is refused") {
  const std::string place = "test.json: /cluster/ranks_per_node";
  CHECK(problem_of(text(R"({"nodes": 2, "ranks_per_node": [3, 1, 2], )" + kLinks + "}")) ==
        place + ": has 3 counts for 2 nodes");
  CHECK(problem_of(text(counts("[3, 0, 2]"))).starts_with(place + "/1: must be "));
  CHECK(problem_of(text(counts("[3, 1]", R"("gpus_per_node": 3, )" + kLinks))) ==
        place + ": ranks_per_node and gpus_per_node exclude each other");
  for (const std::string collective : {"two_level", "ring_rails", "hierarchical"}) {
    CHECK(problem_of(text(counts("[3, 1, 2]"), by(collective))) ==
          place + ": " + collective +
              " needs as many ranks on every node; use hierarchical_leader, or ring on one card "
              "of a node");
    // The algorithm counts bytes and messages even where a time is given.
    CHECK(problem_of(
              text(counts("[3, 1, 2]"), by(collective) + R"(, "training": {"exchange_s": 0.06})"))
              .starts_with(place + ": " + collective + " needs as many ranks on every node"));
  }
  CHECK(problem_of(text(counts("[3, 1]"), R"(, "communication": {"candidates": ["hierarchical"]})"))
            .starts_with("test.json: /communication/candidates: hierarchical needs as many"));
  // A dense run stands beside the compressed one.
  CHECK(problem_of(text(counts("[3, 1, 2]"), R"(, "communication": {"collective": "two_level",
      "compression": {"method": "sparcml_rd", "density": 0.001}})"))
            .starts_with(place + ": two_level needs as many ranks on every node"));
  CHECK(problem_of(
            text(counts("[3, 1]"), R"(, "training": {"sharding": {"strategy": "hybrid_shard"}})"))
            .ends_with("hybrid_shard needs as many GPUs on every node; /cluster/ranks_per_node "
                       "lists different numbers"));
}

TEST_CASE("collnet takes nvls inside nodes, and no other algorithm") {
  const auto with = [](const std::string& inside) {
    return problem_of(text(R"({"nodes": 2, "gpus_per_node": 4, "nvls_Bps": 3e11, )" + kLinks + "}",
                           R"(, "communication": {"collective": "collnet", "intra_algorithm": ")" +
                               inside + "\"}"));
  };
  CHECK(with("nvls").empty());
  CHECK(with("be") == "test.json: /communication/intra_algorithm: intra_algorithm has no meaning "
                      "for collnet, which sums in rings inside nodes unless it is nvls");
}

// The rank of the small node and the leader of the large one meet on the switch.
TEST_CASE("ranks_per_node: simulated networks place each node's ranks on its host") {
  const std::string flow = R"("network": {"model": "flow", "latency_s": 8e-6,
      "bandwidth_Bps": 25e9}, "intra_network": {"latency_s": 2e-6, "bandwidth_Bps": 300e9})";
  const Scenario one = scenario(text(counts("[2, 1]", flow), by("hierarchical_leader")));
  REQUIRE(one.cluster.fabric);
  const std::vector<links::NodeId>& hosts = one.cluster.fabric->hosts;
  REQUIRE(hosts.size() == 3);
  CHECK(hosts[0] == hosts[1]);
  CHECK(hosts[1] != hosts[2]);
  const double ring = 2 * (8e-6 + kBytes / 2 / 25e9);
  CHECK(*run(one).summary.iteration_time_s == within(kCompute + 2 * kInside + ring, 1e-6));
}

TEST_CASE("ranks_per_node: the library takes the cards of the smallest node and says so") {
  const Result result = run_text(text(counts("[8, 8, 2]", R"("preset": "dgx_h100")")));
  nccl::LibraryQuestion question = *result.scenario->communication.question;
  question.bytes = kBytes;
  CHECK(question.shape == nccl::Shape{3, 8, 2, 18});
  const nccl::Layout layout = nccl::layout_of(question.node, question.shape);
  CHECK(layout.nics == 2);
  CHECK(layout.ranks == 18);
  CHECK(*result.summary.iteration_time_s ==
        within(kCompute + nccl::predict(question).seconds, 1e-9));
  CHECK(std::ranges::any_of(result.warnings, [](const std::string& warning) {
    return warning.starts_with("unequal_nodes: nodes have 2 to 8 GPUs");
  }));
  CHECK_FALSE(nccl::predict(question).chosen.algorithm == nccl::Algorithm::nvls_tree);
}

TEST_CASE("ranks_per_node: equal counts that differ from the node type are listed as an override") {
  const auto overrides = [](const std::string& cluster) {
    std::vector<std::string> list;
    for (const Override& each : scenario(text(cluster)).cluster.overrides) {
      list.push_back(each.pointer);
    }
    return list;
  };
  CHECK(overrides(counts("[2, 2, 2]", R"("preset": "dgx_h100")")) ==
        overrides(R"({"nodes": 3, "gpus_per_node": 2, "preset": "dgx_h100"})"));
}
