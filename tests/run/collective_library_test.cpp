#include "run/collective_record.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "base/collected.hpp"
#include "document/json_text.hpp"
#include "nccl/library_record.hpp"
#include "nccl/node_links.hpp"
#include "run/collective_file.hpp"
#include "scenario/scenario_text.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using stepsim::testing::within;
using study::testing::shipped_files;

namespace {

constexpr std::string_view kLibrary = R"({
  "kind": "collective", "op": "allreduce", "algorithm": "library", "preset": "dgx_h100",
  "shape": "10x8", "bytes": 1073741824})";

io::Json tree_with(std::string_view changes) {
  io::Json tree = io::parse_json(kLibrary, "c.json");
  const io::Json more = io::parse_json(changes, "");
  for (const auto& [key, value] : more.as_object()) {
    tree.set(key, value);
  }
  return tree;
}

study::CollectiveFile read(std::string_view changes = "{}") {
  return study::parse_collective(tree_with(changes), shipped_files());
}

io::Json record(std::string_view changes = "{}") {
  return study::evaluate_collective(read(changes), {.max_seconds = 1});
}

double number(const io::Json& tree, std::string_view key) { return tree.find(key)->as_double(); }

} // namespace

TEST_CASE("collective library: the record is the prediction of the model for the same question") {
  const study::CollectiveFile file = read();
  const nccl::LibraryRecord model = nccl::predict(*file.question);
  const io::Json tree = record();
  CHECK(number(tree, "seconds") == model.seconds);
  CHECK(number(tree, "closed_form_s") == model.seconds);
  CHECK(number(tree, "low_s") == model.interval.low);
  CHECK(tree.find("chosen")->as_string() == "nvls_tree");
  CHECK(number(tree, "seconds") == within(6000.347e-6, 1e-6));   // CLU 16.1
  CHECK(number(tree, "published_us") == within(6229.101, 1e-6)); // CLU 16.1
  CHECK(number(tree, "algbw_Bps") == within(1073741824 / model.seconds, 1e-12));
}

TEST_CASE("collective library: no record is below the physical bound") {
  for (const char* shape : {"1x8", "2x8", "10x1", "16x4"}) {
    for (const char* bytes : {"0", "8", "1048576", "17179869184"}) {
      const io::Json tree =
          record(std::string(R"({"shape": ")") + shape + R"(", "bytes": )" + bytes + "}");
      CHECK(number(tree, "seconds") >= number(tree, "bound_s"));
      CHECK(number(tree, "lower_bound_s") == number(tree, "bound_s"));
    }
  }
}

TEST_CASE("collective library: ranks are split into nodes of the node type") {
  const auto shape_of = [](std::string_view changes) { return read(changes).question->shape; };
  CHECK(shape_of(R"({"shape": null, "ranks": 16})") == nccl::Shape{2, 8});
  CHECK(shape_of(R"({"shape": null, "ranks": 4})") == nccl::Shape{1, 4});
  CHECK(shape_of(R"({"shape": null, "ranks": 16, "gpus_per_node": 4})") == nccl::Shape{4, 4});
  CHECK(shape_of(R"({"ranks": 80, "gpus_per_node": 8})") == nccl::Shape{10, 8});
  CHECK(shape_of(R"({"shape": null, "ranks": 72, "preset": "gb200_nvl72"})") ==
        nccl::Shape{18, 4}); // one domain of 18 machines
  CHECK(study::parse_shape("10x8") == nccl::Shape{10, 8});
  for (const char* wrong :
       {"", "x", "10", "10x", "x8", "0x8", "8x0", "1x2x3", "-1x8", "1 x8", "4294967297x1"}) {
    CHECK_FALSE(study::parse_shape(wrong));
  }
}

TEST_CASE(
    "collective library: a node type fills the links of schedules, and values beside it win") {
  const auto ring = [](std::string_view changes) { return read(changes); };
  const study::CollectiveFile filled = ring(R"({"algorithm": "ring"})");
  CHECK(filled.collective.ranks == 80);
  CHECK(filled.collective.links.all.latency_s == 8e-6);
  CHECK(filled.collective.links.all.per_byte_s == 1 / 48e9);
  REQUIRE(filled.collective.links.two_level);
  CHECK(filled.collective.links.two_level->gpus_per_node == 8);
  CHECK(filled.collective.links.two_level->nics_per_node == 8);
  CHECK(filled.collective.links.two_level->intra.per_byte_s == 1 / 370.8e9);
  CHECK(filled.cluster.overrides.empty());

  const study::CollectiveFile beside =
      ring(R"({"algorithm": "two_level", "network": {"bandwidth_Bps": 2e10, "latency_s": 8e-6},
               "nics_per_node": 4, "intra_network": {"latency_s": 1e-6, "bandwidth_Bps": 3e11}})");
  CHECK(beside.collective.links.all.per_byte_s == 1 / 2e10);
  CHECK(base::collected<std::string>(beside.cluster.overrides,
                                     [](const study::Override& each) { return each.pointer; }) ==
        std::vector<std::string>{"/nics_per_node", "/intra_network/latency_s",
                                 "/intra_network/bandwidth_Bps", "/network/bandwidth_Bps"});
  // Fewer GPUs than the machine has use as many cards.
  CHECK(
      ring(R"({"algorithm": "ring", "shape": "10x4"})").collective.links.two_level->nics_per_node ==
      4);
}

TEST_CASE("collective library: rates beside the node type are those of the model") {
  const auto question = [](std::string_view changes) { return *read(changes).question; };
  CHECK(question("{}").node.nic_Bps == 48e9);
  CHECK(question(R"({"network": {"bandwidth_Bps": "100Gbps"}})").node.nic_Bps == 12.5e9);
  CHECK(question(R"({"network": {"calibration": "10g-tcp"}})").node.nic_Bps ==
        within(1.18661e9, 1e-15)); // of the calibration
  CHECK(question(R"({"nics_per_node": 4})").node.nics == 4);
  CHECK(question(R"({"intra_network": {"bandwidth_Bps": 3e11}})").node.ring_Bps ==
        within(3e11, 1e-15));
}

TEST_CASE("collective library: elements times the bytes of their type are the bytes") {
  CHECK(read(R"({"bytes": null, "elements": 1000, "element_type": "bf16"})").collective.bytes ==
        2000);
  CHECK(read(R"({"bytes": null, "elements": 1000})").collective.bytes == 4000);
  CHECK(record(R"({"shape": "1x8"})").find("chosen")->as_string() == "nvls");
  CHECK(record(R"({"shape": "1x8", "element_type": "fp8_e4m3"})").find("chosen")->as_string() ==
        "ring");
}

TEST_CASE("collective library: links of a node type are assumed, or the hops of a calibration") {
  const nccl::NodeType node{.name = "n", .gpus = 8, .ring_Bps = 3e11, .nics = 8, .nic_Bps = 5e10};
  const nccl::NodeLinks plain = nccl::node_links(node);
  CHECK(plain.inner_latency_s == 2e-6);
  CHECK(plain.network_latency_s == 8e-6);
  nccl::Parameters parameters = nccl::prior_means();
  const auto set = [&](nccl::Parameter parameter, double factor) {
    parameters[static_cast<std::size_t>(parameter)] = std::log(factor);
  };
  set(nccl::Parameter::in_simple, 0.5);
  set(nccl::Parameter::net_simple, 2);
  set(nccl::Parameter::bw_nvl, 0.9);
  set(nccl::Parameter::bw_nic, 1.1);
  const nccl::Multipliers factors = nccl::multipliers_of(parameters);
  const nccl::NodeLinks fitted = nccl::node_links(node, &factors);
  CHECK(fitted.inner_latency_s == within(0.5 * 3.4e-6, 1e-12));
  CHECK(fitted.network_latency_s == within(2 * 14e-6, 1e-12));
  CHECK(fitted.inner_Bps == within(0.9 * 3e11, 1e-12));
  CHECK(fitted.network_Bps == within(1.1 * 5e10, 1e-12));
}

TEST_CASE("collective library: the cards of a node count once, also in an NVLink domain") {
  // 3/4 of the bytes enter each of 4 domains of two nodes with one card (CLU 3.7).
  const std::string joined = R"({"op": "allgather", "shape": "8x8", "nvlink_domain_nodes": 2,)";
  CHECK(number(record(joined + R"("nics_per_node": 1})"), "seconds") >=
        0.75 * 1073741824 / (2 * 48e9));
  CHECK(read(R"({"preset": "gb200_nvl72", "shape": "36x4", "nics_per_node": 2})")
            .question->node.nics == 2);
  // Domains of machines with one GPU have links inside as other nodes have; without a domain there
  // are none.
  const auto seconds = [](std::string_view changes) {
    return number(record(changes), "closed_form_s");
  };
  CHECK(seconds(R"({"preset": "gb200_nvl72", "shape": "18x1", "algorithm": "two_level",
                    "bytes": 18000000})") == within(2 * 17 * (2e-6 + 1e6 / 721.8e9), 1e-9));
  for (const char* key : {"nvlink_domain_nodes", "nics_per_node"}) {
    CHECK(seconds(R"({"shape": "4x1", "algorithm": "ring", "bytes": 4000000, ")" +
                  std::string(key) + R"(": 1})") == within(6 * (8e-6 + 1e6 / 48e9), 1e-9));
  }
}

TEST_CASE("collective: more network cards than GPUs are a warning") {
  const io::Json tree = record(R"({"algorithm": "two_level", "nics_per_node": 9})");
  CHECK(tree.find("warnings")->as_array().back() ==
        io::Json("unused_nics: nics_per_node is 9, but a node has 8 GPUs, each of which uses one "
                 "interface"));
}

TEST_CASE("collective library: where nothing is sent no time passes") {
  for (const char* nothing : {R"({"bytes": 0})", R"({"shape": "1x1"})"}) {
    CHECK(number(record(nothing), "seconds") == 0);
    CHECK(record(nothing).find("algbw_Bps")->is_null());
  }
}

TEST_CASE("collective: the switch of a node does not add elements of one byte") {
  const std::string inside = R"({"shape": "1x8", "element_type": "fp8_e4m3", "algorithm": )";
  CHECK_THROWS_WITH_AS(
      (void)read(inside + R"("nvls"})"),
      "c.json: /algorithm: nvls: the switch of a node does not add elements of one "
      "byte, such as fp8 and int8",
      InputError);
  CHECK_NOTHROW((void)read(inside + R"("nvls", "op": "allgather"})"));
  for (const char* type : {"fp8_e5m2", "int8", "bf16"}) {
    const std::string asked = R"({"algorithm": "auto", "element_type": ")" + std::string(type);
    CHECK((record(asked + "\"}").find("chosen")->as_string() == "nvls_tree") ==
          (type == std::string_view("bf16")));
  }
}

TEST_CASE("collective library: records of one output have the same keys") {
  const io::Json asked = record();
  const io::Json ring = study::evaluate_collective(read(R"({"algorithm": "ring"})"),
                                                   {.max_seconds = 1, .library_keys = true});
  for (const auto& [key, value] : asked.as_object()) {
    CHECK_MESSAGE(ring.find(key) != nullptr, key);
  }
  CHECK(asked.as_object().size() == ring.as_object().size());
  CHECK(ring.find("preset")->as_string() == "dgx_h100");
}
