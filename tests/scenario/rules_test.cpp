// The feature matrix and the tables of keys name the same keys.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "buckets/planners.hpp"
#include "collectives/compress/compression.hpp"
#include "document/json_text.hpp"
#include "scenario/keys/scenario_keys.hpp"
#include "scenario/packet/packet_settings.hpp"
#include "scenario/rules.hpp"
#include "scenario/scenario_text.hpp"
#include "scenario/scenario_tree.hpp"

using namespace stepsim;
using namespace stepsim::study;

namespace {

std::string with_communication(std::string_view keys) {
  return R"({"workload": {"layers": [{"name": "a", "forward_s": 1, "backward_s": 2, "gradient_bytes": 8},
    {"name": "b", "forward_s": 1, "backward_s": 2, "gradient_bytes": 8}]},
    "cluster": {"nodes": 4, "network": {"latency_s": 1e-5, "bandwidth_Bps": 1e9}},
    "communication": {)" +
         std::string(keys) + "}}";
}

// Whether a scenario with these keys of communication is accepted.
bool takes(std::string_view keys) {
  return study::testing::problem_of(with_communication(keys)).empty();
}

} // namespace

TEST_CASE("every rule is about a key that exists") {
  for (const KeyRule& rule : key_rules()) {
    CAPTURE(rule.pointer);
    CHECK(io::key_at(keys::kScenario, rule.pointer) != nullptr);
    CHECK(!rule.when.empty());
    const auto all = conditions(rule.pointer);
    CHECK(std::ranges::find(all, rule.when) != all.end());
  }
}

TEST_CASE("every option of a schedule has a row, and every row of a schedule a schedule") {
  for (const buckets::Planner& planner : buckets::planners()) {
    for (const std::string_view key : planner.keys) {
      CAPTURE(key);
      CHECK(io::find_key(keys::kSchedule, key) != nullptr);
    }
  }
  for (const io::Key& key : keys::kScheduleKeys) {
    CAPTURE(key.name);
    CHECK(
        (key.name == "schedule" || !conditions("/communication/" + std::string(key.name)).empty()));
  }
}

TEST_CASE("every option of a compression has a row, and every row a compression") {
  for (const collectives::CompressionRow& row : collectives::compression_table()) {
    for (const std::string_view key : row.keys) {
      CAPTURE(key);
      CHECK((key == "shapes" || io::find_key(keys::kCompressionObject, key) != nullptr));
    }
  }
  for (const io::Key& key : keys::kCompression) {
    CAPTURE(key.name);
    CHECK((key.name == "method" ||
           !conditions("/communication/compression/" + std::string(key.name)).empty()));
  }
}

TEST_CASE("every option of a transport has a transport") {
  for (const io::Key& key : keys::kTransport) {
    CAPTURE(key.name);
    CHECK((key.name == "kind" || !transports_with(key.name).empty()));
  }
}

TEST_CASE("conditions of keys that every scenario has are none") {
  CHECK(conditions("/cluster/nodes").empty());
  CHECK(conditions("/training/iterations").empty());
  CHECK(conditions("/training/drain") == std::vector<std::string>{"the algorithm is pipe_sgd"});
}

TEST_CASE("an option of a collective is taken next to that collective and refused elsewhere") {
  CHECK(takes(R"("collective": "lp", "lp_last_hop": false)"));
  CHECK(takes(R"("collective": "auto", "lp_last_hop": false)"));
  CHECK(!takes(R"("collective": "ring", "lp_last_hop": false)"));
  CHECK(takes(R"("collective": "ring", "ring_startup": "2P")"));
  CHECK(!takes(R"("collective": "be", "ring_startup": "2P")"));
  CHECK(takes(R"("collective": "auto", "candidates": ["lp"])"));
  CHECK(!takes(R"("collective": "lp", "candidates": ["lp"])"));
  CHECK(takes(R"("collective": "double_binary_tree", "block_bytes": 4)"));
  CHECK(takes(R"("collective": "auto", "block_bytes": 4)"));
  CHECK(!takes(R"("collective": "swing", "block_bytes": 4)"));
  CHECK(!takes(R"("exchange_sizes": true)"));
  CHECK(!takes(R"("collective": "ring", "inter_algorithm": "be")"));
}

TEST_CASE("swing is refused on an odd number of workers, in words") {
  std::string text = with_communication(R"("collective": "swing")");
  CHECK(study::testing::problem_of(text).empty());
  text.replace(text.find("\"nodes\": 4"), 10, "\"nodes\": 9");
  CHECK(study::testing::problem_of(text) ==
        "test.json: /communication/collective: swing needs an even number of ranks, got 9");
}

TEST_CASE("swing is refused for a job of several with an odd number of workers") {
  const std::string layers = R"({"layers": [{"name": "a", "forward_s": 1, "backward_s": 2,
    "gradient_bytes": 8}], "nodes": 3})";
  CHECK(study::testing::problem_of(R"({"workload": [)" + layers + ", " + layers +
                                   R"(], "cluster": {"nodes": 6, "topology": "star_16",
    "network": {"model": "flow"}}, "communication": {"collective": "swing", "schedule": "single"}})") ==
        "test.json: /workload/0/nodes: swing needs an even number of ranks, this job has 3");
}

TEST_CASE("a resolved schedule has the keys that a scenario file may have together") {
  const auto resolved = [](std::string_view keys) {
    return io::compact(*io::resolve(
        scenario_tree(study::testing::scenario(with_communication(keys))), "/communication"));
  };
  const std::string by_layers = resolved(R"("schedule": "dear", "dear_layers": 1)");
  CHECK(by_layers.find("dear_layers") != std::string::npos);
  CHECK(by_layers.find("bucket_bytes") == std::string::npos);
  const std::string by_bytes = resolved(R"("schedule": "dear")");
  CHECK(by_bytes.find("bucket_bytes") != std::string::npos);
  CHECK(resolved(R"("schedule": "fixed_count")").find(R"("buckets":4)") != std::string::npos);
  CHECK(resolved(R"("schedule": "wfbp")").find("bucket") == std::string::npos);
}
