// Node types: what is read of them, and those that come with the program (CLU 9).
#include "scenario/files/network_files.hpp"

#include <doctest/doctest.h>

#include "base/error.hpp"
#include "document/json_text.hpp"
#include "document/problem_text.hpp"
#include "scenario/file_names.hpp"
#include "scenario/files/keys/node_keys.hpp"
#include "testing/paths.hpp"

using namespace stepsim;
using namespace stepsim::io;

namespace {

std::string problems(std::string_view text) { return problem_text(text, parse_node_preset); }

} // namespace

TEST_CASE("a node type is read with plain numbers and with numbers that name their source") {
  const NodePreset preset = parse_node_preset(parse_json(
      R"({"kind": "node_preset", "name": "box", "gpus_per_node": 4, "link": "pcie",
          "ring_Bps": {"value": 5e9, "label": "fitted", "source": "our log"},
          "nics_per_node": 1, "nic_Bps": "10GB/s", "generation": "volta"})",
      ""));
  CHECK(preset.node.name == "box");
  CHECK(preset.node.gpus == 4);
  CHECK(preset.node.link == nccl::InnerLink::pcie);
  CHECK(preset.node.ring_Bps == 5e9);
  CHECK(preset.node.nic_Bps == 10e9);
  CHECK(preset.node.generation == nccl::Generation::volta);
  CHECK(preset.node.host == nccl::Host::intel);
  CHECK(preset.node.domain_nodes == 1);
  CHECK(preset.node.ll128);
  REQUIRE(preset.numbers.size() == 4);
  CHECK(preset.numbers[1].key == "ring_Bps");
  CHECK(preset.numbers[1].source == "our log");
  CHECK(preset.numbers[2].source.empty());
}

TEST_CASE("a rate of a node type may have the range that was measured") {
  const std::string text = R"({"kind": "node_preset", "name": "box", "gpus_per_node": 4,
      "ring_Bps": {"value": 5e9, "low": 4e9, "high": 7e9, "label": "fitted", "source": "our log"},
      "nics_per_node": 1, "nic_Bps": 1e10, "generation": "volta"})";
  const NodePreset preset = parse_node_preset(parse_json(text, ""));
  CHECK(preset.numbers[1].low == 4e9);
  CHECK(preset.numbers[1].high == 7e9);
  CHECK(preset.numbers[3].low == preset.numbers[3].value);
  std::string wrong = text;
  wrong.replace(wrong.find("4e9"), 3, "6e9");
  CHECK(problems(wrong).find("/ring_Bps: value must lie between low and high") !=
        std::string::npos);
}

TEST_CASE("shares of nominal rates stand for the rates of a node type") {
  const std::string box = R"({"kind": "node_preset", "name": "box", "gpus_per_node": 4,
      "nics_per_node": 1, "generation": "volta", "link_nominal_Bps": 2e10,
      "nic_nominal_Bps": {"value": 1e10, "label": "sheet", "source": "its name"}, )";
  const NodePreset preset = parse_node_preset(parse_json(box + R"("of_nominal": {"nic": 0.5,
               "link": {"value": 0.25, "low": 0.2, "high": 0.5, "label": "fitted", "source": "log"}}})",
                                                         ""));
  CHECK(preset.node.ring_Bps == 5e9);
  CHECK(preset.node.nic_Bps == 5e9);
  CHECK(preset.numbers[1].low == 4e9);
  CHECK(preset.numbers[1].high == 1e10);
  CHECK(preset.numbers[1].source == "log");
  CHECK(problems(box + R"("ring_Bps": 5e9, "of_nominal": {"link": 0.25, "nic": 1}})") ==
        "f.json: /of_nominal: give either ring_Bps or of_nominal/link\n");
  CHECK(problems(box + R"("ring_Bps": 5e9, "of_nominal": {"nic": 1.5}})")
            .starts_with("f.json: /of_nominal/nic: must be"));
  CHECK(problems(box + R"("of_nominal": {"nic": 1}})") ==
        "f.json: /ring_Bps: required, or its share of link_nominal_Bps in of_nominal\n");
  CHECK(
      problems(R"({"kind": "node_preset", "name": "box", "gpus_per_node": 4, "ring_Bps": 1e9,
                     "nics_per_node": 1, "generation": "volta", "of_nominal": {"nic": 1}})") ==
      "f.json: /of_nominal: nic is a share of nic_nominal_Bps, which must be given as a number\n");
}

TEST_CASE("wrong node types are refused with pointer and rule") {
  const std::string text = problems(R"({"kind": "node_preset", "name": "x", "gpus_per_node": 0,
      "ring_Bps": {"value": 1e9, "label": "guess", "source": ""}, "nics_per_node": 1.5,
      "generation": "kepler"})");
  CHECK(text.find("/gpus_per_node: must be") != std::string::npos);
  CHECK(text.find("/ring_Bps/label: ") != std::string::npos);
  CHECK(text.find("/nics_per_node: must be") != std::string::npos);
  CHECK(text.find("/nic_Bps: required") != std::string::npos);
  CHECK(text.find("/generation: ") != std::string::npos);
}

TEST_CASE("every shipped node type is read under its own name, with a source for each number") {
  const auto files = study::shipped_files(STEPSIM_SOURCE_DIR, study::kShippedNodes);
  CHECK(files.size() >= 16);
  for (const auto& [name, path] : files) {
    CAPTURE(name);
    const NodePreset preset = read_node_preset(STEPSIM_SOURCE_DIR, name);
    CHECK(preset.node.name == name);
    CHECK_NOTHROW((void)nccl::layout_of(preset.node, {preset.node.domain_nodes, 1}));
    for (const SourcedNumber& number : preset.numbers) {
      CAPTURE(number.key);
      CHECK(!number.source.empty());
    }
  }
  CHECK_THROWS_AS((void)read_node_preset(STEPSIM_SOURCE_DIR, "dgx_h10"), UsageError);
}

TEST_CASE("the memory of a GPU is a size in every form") {
  for (const Key& key : keys::kNodeMemoryForms.back().keys) {
    CAPTURE(key.name);
    CHECK(key.sentence.find("rate") == std::string_view::npos);
    CHECK(key.sentence.find("/s") == std::string_view::npos);
  }
}
