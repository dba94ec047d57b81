#include "scenario/scenario.hpp"

#include <doctest/doctest.h>

#include <string>

#include "buckets/planners.hpp"
#include "scenario/scenario_text.hpp"
#include "testing/paths.hpp"

using namespace stepsim;
using namespace stepsim::study;
using namespace stepsim::study::testing;

namespace {

const std::string kWorkload =
    R"("workload": {"layers": [{"name": "a", "forward_s": 1, "backward_s": 2, "gradient_bytes": 8}]})";
const std::string kCluster =
    R"("cluster": {"nodes": 2, "network": {"latency_s": 1e-5, "bandwidth_Bps": 1e9}})";

std::string with_communication(const std::string& keys) {
  return "{" + kWorkload + ", " + kCluster + R"(, "communication": {)" + keys + "}}";
}

std::string with_network(const std::string& keys) {
  return "{" + kWorkload + R"(, "cluster": {"nodes": 2, "network": {)" + keys + "}}}";
}

std::string with_workload(const std::string& keys) {
  return R"({"workload": {)" + keys + "}, " + kCluster + "}";
}

} // namespace

TEST_CASE("the smallest scenario has every default") {
  const Scenario scenario = study::testing::scenario("{" + kWorkload + ", " + kCluster + "}");
  CHECK(scenario.seed == 1);
  CHECK(!scenario.method);
  CHECK(scenario.cluster.gpus_per_node == 1);
  CHECK(scenario.cluster.network.block_latency_s == 1e-5);
  CHECK(scenario.training.iterations == 10);
  CHECK(scenario.communication.collective == collectives::AlgorithmId::ring);
  CHECK(scenario.communication.options.chunking == collectives::Chunking::real);
  CHECK(scenario.communication.schedule == buckets::Schedule::ddp);
  CHECK(scenario.communication.schedule_options.bucket_bytes.value == 25 << 20);
}

TEST_CASE("a scenario without layers is refused") {
  CHECK(problem_of(with_workload(R"("layers": [])")) ==
        "test.json: /workload/layers: needs at least one layer");
}

TEST_CASE("exactly one of trace, model and layers is given") {
  const std::string expected = "test.json: /workload: give exactly one of trace, model, layers";
  CHECK(problem_of("{" + kCluster + "}") == expected);
  CHECK(problem_of(with_workload(R"("model": "resnet50", "trace": "x.json")")) == expected);
}

TEST_CASE("a model needs exactly one of device, measured and gpu") {
  CHECK(problem_of(with_workload(R"("model": "resnet50", "batch_size": 1)")) ==
        "test.json: /workload: give exactly one of device, measured and gpu");
}

TEST_CASE("an unknown model names the nearest one") {
  const std::string problem = problem_of(
      with_workload(R"("model": "resnet-50", "batch_size": 1, "measured": {"compute_s": 1})"));
  CHECK(problem ==
        "test.json: /workload/model: unknown model \"resnet-50\"; did you mean \"resnet50\"?");
}

TEST_CASE("a shipped network profile has a name, an unknown name the nearest one") {
  const Scenario named = study::testing::scenario(with_network(R"("calibration": "10g-tcp")"));
  const Scenario by_path = study::testing::scenario(with_network(
      R"("calibration": ")" STEPSIM_SOURCE_DIR R"(/topologies/10g-tcp.calibration.json")"));
  CHECK(named.cluster.network.bandwidth_Bps > 0);
  CHECK(named.cluster.network.bandwidth_Bps == by_path.cluster.network.bandwidth_Bps);
  CHECK(named.cluster.network.latency_s == by_path.cluster.network.latency_s);
  CHECK(problem_of(with_network(R"("calibration": "10gb")")) ==
        "test.json: /cluster/network/calibration: unknown network profile \"10gb\"; did you mean "
        "\"10g-tcp\"?");
}

TEST_CASE("a sequence length belongs to models with tokens and to their positions") {
  const auto model = [](const std::string& name, int length) {
    return with_workload(
        R"("model": ")" + name +
        R"(", "batch_size": 1, "measured": {"compute_s": 1}, "sequence_length": )" +
        std::to_string(length));
  };
  CHECK(problem_of(model("resnet50", 128)) ==
        "test.json: /workload/sequence_length: resnet50 has no sequence length");
  CHECK(problem_of(model("gpt2", 2048)) ==
        "test.json: /workload/sequence_length: gpt2 has 1024 positions, got 2048");
  CHECK(problem_of(model("gpt2", 512)).empty());
  CHECK(problem_of(model("gpt2", 0)) ==
        "test.json: /workload/sequence_length: must be an integer >= 1, got 0");
}

TEST_CASE("a key of another schedule or collective has no meaning") {
  CHECK(problem_of(with_communication(R"("schedule": "ddp", "cycle_s": 1)")) ==
        "test.json: /communication/cycle_s: cycle_s has no meaning for schedule ddp");
  CHECK(problem_of(with_communication(R"("collective": "ring", "block_bytes": 4096)")) ==
        "test.json: /communication/block_bytes: block_bytes has no meaning for collective ring");
  CHECK(problem_of(with_communication(R"("collective": "lp", "block_bytes": "optimal")")).empty());
}

TEST_CASE("leftovers of the base file are ignored in a point") {
  const std::string text = with_communication(R"("schedule": "ddp", "cycle_s": 1)");
  CHECK_NOTHROW((void)study::testing::scenario(text, Leftovers::ignore));
}

TEST_CASE("latency and bandwidth are required unless a cost stands for them") {
  CHECK(problem_of(with_network("")).find("/cluster/network/latency_s: required") !=
        std::string::npos);
  CHECK(problem_of(with_network(R"("cost": {"startup_s": 1e-4, "per_byte_s": 1e-9})")).empty());
  CHECK(problem_of(with_network(R"("cost": {"startup_s": -1, "per_byte_s": 1e-9})")) ==
        "test.json: /cluster/network/cost/startup_s: must be >= 0, got -1");
  CHECK(problem_of(with_network(R"("cost": {"startup_s": 1, "table": [[1, 2], [2, 3]]})")) ==
        "test.json: /cluster/network/cost: give either startup_s and per_byte_s, or table");
}

TEST_CASE("a value beside a profile wins over it") {
  const Scenario scenario = study::testing::scenario(
      with_network(R"("calibration": ")" STEPSIM_SOURCE_DIR
                   R"(/topologies/10g-tcp.calibration.json", "latency_s": 0.5)"));
  CHECK(scenario.cluster.network.latency_s == 0.5);
  CHECK(scenario.cluster.network.bandwidth_Bps > 0);
  CHECK(scenario.cluster.network.label == "default");
}

TEST_CASE("per-block latency is at most the latency") {
  CHECK(
      problem_of(with_network(R"("latency_s": 1, "bandwidth_Bps": 1000, "block_latency_s": 2)")) ==
      "test.json: /cluster/network/block_latency_s: per-block latency must not exceed latency_s "
      "(1), got 2");
}

TEST_CASE("half-duplex ranks are refused in words") {
  CHECK(problem_of(with_network(R"("latency_s": 1, "bandwidth_Bps": 1000, "copy_engines": 1)")) ==
        "test.json: /cluster/network/copy_engines: half-duplex ranks are not supported");
}

TEST_CASE("bucket rules per element type need every type") {
  const std::string layers =
      R"("layers": [{"name": "a", "forward_s": 1, "backward_s": 1, "gradient_bytes": 8, "dtype": "float16"},
                    {"name": "b", "forward_s": 1, "backward_s": 1, "gradient_bytes": 8}])";
  CHECK(problem_of(R"({"workload": {)" + layers + "}, " + kCluster +
                   R"(, "communication": {"schedule": "ddp"}})") ==
        "test.json: /workload/layers/1/dtype: needed because bucket rules are per dtype");
}

TEST_CASE("a published form of cost needs links that are all alike") {
  for (const std::string form : {"paper", "ideal"}) {
    CHECK(problem_of(R"({"workload": {"layers": [{"name": "a", "forward_s": 1, "backward_s": 1,
                         "gradient_bytes": 344}]}, "cluster": {"nodes": 3, "gpus_per_node": 3,
                         "intra_network": {"latency_s": 1e-6, "bandwidth_Bps": 6.7e10},
                         "network": {"latency_s": 1e-5, "bandwidth_Bps": 8.5e8}},
                         "communication": {"collective": "lp", "cost_form": ")" +
                     form + R"("}})") == "test.json: /communication/cost_form: must be exact: "
                                         "formulas need identical ranks and links");
  }
}

TEST_CASE("all problems of a file are reported together") {
  try {
    (void)study::testing::scenario(R"({"workload": {"layers": []}, "cluster": {"nodes": 0}})");
    FAIL("accepted");
  } catch (const InputError& error) {
    CHECK(error.problems().size() >= 3);
  }
}

TEST_CASE("factors of conditions are an object") {
  for (const std::string wrong : {"[1, 2]", "3"}) {
    CHECK(problem_of("{" + kWorkload + ", " + kCluster +
                     R"(, "conditions": {"kind": "typical", "factors": )" + wrong + "}}")
              .starts_with("test.json: /conditions/factors: must be an object, got "));
  }
}

TEST_CASE("the ranks of nodes that differ are added up") {
  const auto with_ranks = [](const std::string& counts) {
    return "{" + kWorkload + R"(, "cluster": {"nodes": 2, "ranks_per_node": )" + counts +
           R"(, "intra_network": {"latency_s": 1e-6, "bandwidth_Bps": 1e10},
                "network": {"latency_s": 1e-5, "bandwidth_Bps": 1e9}},
                "communication": {"collective": "hierarchical_leader"}})";
  };
  CHECK(problem_of(with_ranks("[600000, 1]")).empty());
  CHECK(problem_of(with_ranks("[1048576, 1]")) ==
        "test.json: /cluster: the sum of ranks_per_node must be at most 1048576");
}
