#include "run/collective_file.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "collectives/compress/compressed_exchange.hpp"
#include "document/json_text.hpp"
#include "links/fabric/placement.hpp"
#include "run/collective_keys.hpp"
#include "run/collective_record.hpp"
#include "scenario/scenario_parts.hpp"
#include "scenario/scenario_text.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using stepsim::testing::within;
using study::CollectiveFile;
using study::testing::shipped_files;

namespace {

constexpr std::string_view kRing = R"({
  "kind": "collective", "op": "allreduce", "algorithm": "ring", "ranks": 8, "bytes": 8000,
  "network": {"latency_s": 1e-5, "bandwidth_Bps": 1e9}})";
constexpr std::string_view kTopk = R"({
  "kind": "collective", "op": "allreduce", "algorithm": "topk", "ranks": 8, "bytes": 8000,
  "network": {"latency_s": 1e-5, "bandwidth_Bps": 1e9}, "compression": {"density": 0.1}})";

// Pointers with their values as JSON; no value: the key is taken out.
using Changes = std::vector<std::pair<std::string, std::string>>;

io::Json changed(std::string_view text, const Changes& changes) {
  io::Json tree = io::parse_json(text, "c.json");
  for (const auto& [pointer, value] : changes) {
    if (value.empty()) {
      std::erase_if(tree.as_object(),
                    [&](const io::Member& member) { return "/" + member.first == pointer; });
    } else {
      io::assign(tree, pointer, io::parse_json(value, ""));
    }
  }
  return tree;
}

CollectiveFile read(std::string_view text, const Changes& changes = {},
                    study::Leftovers leftovers = study::Leftovers::refuse) {
  return study::parse_collective(changed(text, changes), shipped_files(), leftovers);
}

// The first problem, "" if there is none.
std::string problem(std::string_view text, const Changes& changes,
                    study::Leftovers leftovers = study::Leftovers::refuse) {
  try {
    (void)read(text, changes, leftovers);
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

} // namespace

TEST_CASE("collective file: every key has its value, the others their default") {
  const CollectiveFile ring = read(kRing);
  CHECK(ring.collective.ranks == 8);
  CHECK(ring.collective.bytes == 8000);
  CHECK(ring.collective.links.all.block_latency_s == 1e-5); // the latency
  CHECK(ring.collective.options.chunking == collectives::Chunking::integer);
  CHECK(!ring.collective.links.two_level);
  CHECK(!ring.compression);
  CHECK(ring.method == collectives::AskedMethod::automatic);
  CHECK(ring.bandwidth_Bps == 1e9);

  const CollectiveFile full =
      read(kRing, {{"/algorithm", R"("hierarchical")"},
                   {"/bytes", R"("8kB")"},
                   {"/gpus_per_node", "4"},
                   {"/nics_per_node", "2"},
                   {"/intra_network", R"({"latency_s": "2us", "bandwidth_Bps": "50GB/s"})"},
                   {"/network/reduction_Bps", "4e9"},
                   {"/network/block_latency_s", "2e-6"},
                   {"/method", R"("max_plus")"},
                   {"/options", R"({"block_bytes": 64, "element_bytes": 4, "chunking": "real",
                               "inter_algorithm": "lp", "lp_last_hop": false,
                               "ring_startup": "2P"})"}});
  CHECK(full.collective.bytes == 8000);
  CHECK(full.collective.links.two_level->gpus_per_node == 4);
  CHECK(full.collective.links.two_level->nics_per_node == 2);
  CHECK(full.collective.links.two_level->intra.per_byte_s == within(1 / 50e9, 1e-15));
  CHECK(full.collective.reduction_s_per_byte == within(1 / 4e9, 1e-15));
  CHECK(full.collective.links.all.block_latency_s == 2e-6);
  CHECK(full.collective.options.block->value == 64);
  CHECK(full.collective.options.inter_algorithm == collectives::AlgorithmId::lp);
  CHECK(!full.collective.options.lp_last_hop);
  CHECK(full.collective.options.ring_startup_2p);
  CHECK(full.method == collectives::AskedMethod::max_plus);
}

TEST_CASE("collective file: a method of compression is an algorithm, its values are bytes over "
          "value_bytes") {
  const CollectiveFile file =
      read(kTopk, {{"/compression/value_bytes", "2"}, {"/compression/allgather", R"("ring")"}});
  REQUIRE(file.compression);
  CHECK(file.compression->method == collectives::CompressionMethod::topk);
  CHECK(file.compression->density == 0.1);
  CHECK(file.compression->allgather == collectives::SparseAllgather::ring);
  CHECK(file.gradient.elements == 8000 / 2);
  // Where their own size is given, values are as many, whatever size they are sent with.
  for (const char* own : {"/elements", "/element_type"}) {
    const bool counted = own == std::string_view("/elements");
    const CollectiveFile typed = read(kTopk, {{counted ? "/bytes" : "/name", ""},
                                              {own, counted ? "2000" : R"("fp32")"},
                                              {"/compression/value_bytes", "2"}});
    CHECK(typed.gradient.elements == 2000);
    CHECK(typed.gradient.bytes == 8000);
  }
  // Codecs shrink values by the size that they have.
  const auto sent = [](const char* method, const char* type) {
    const CollectiveFile codec = read(kTopk, {{"/algorithm", '"' + std::string(method) + '"'},
                                              {"/element_type", '"' + std::string(type) + '"'},
                                              {"/compression", ""}});
    return collectives::compressed_exchange(*codec.compression, codec.gradient, codec.collective)
               .stages.front()
               .collective.bytes /
           8000;
  };
  CHECK(sent("fp16", "fp32") == 0.5);
  CHECK(sent("fp16", "fp16") == 1);
  CHECK(sent("fp16", "int8") == 1);
  CHECK(sent("truncate16", "fp64") == 0.25);
  CHECK(sent("truncate16", "bf16") == 1);
  CHECK(sent("quantize8", "bf16") == 0.5);
  const CollectiveFile low_rank =
      read(kTopk, {{"/algorithm", R"("powersgd")"},
                   {"/compression", R"({"rank": 2, "shapes": [[10, 10, 10], [1000]]})"}});
  CHECK(low_rank.gradient.shapes == std::vector<collectives::MatrixShape>{
                                        {10, 100}, {1000, 1}}); // the first against all others
}

TEST_CASE("collective file: collnet takes nvls inside nodes, and no other algorithm") {
  const Changes nodes{{"/algorithm", R"("collnet")"},
                      {"/gpus_per_node", "4"},
                      {"/nvls_Bps", "3e11"},
                      {"/intra_network", R"({"latency_s": 1e-6, "bandwidth_Bps": 1e11})"}};
  const auto with = [&](const char* inside) {
    Changes all = nodes;
    all.emplace_back("/options", R"({"intra_algorithm": ")" + std::string(inside) + "\"}");
    return problem(kRing, all);
  };
  CHECK(with("nvls").empty());
  CHECK(with("be") == "c.json: /options/intra_algorithm: has no meaning for collnet, which sums in "
                      "rings inside nodes unless it is nvls");
}

TEST_CASE("collective file: ranks_per_node counts the ranks of unequal nodes") {
  const Changes nodes{{"/ranks", ""},
                      {"/ranks_per_node", "[3, 1, 2]"},
                      {"/intra_network", R"({"latency_s": 1e-6, "bandwidth_Bps": 1e11})"}};
  const CollectiveFile file = read(kRing, nodes);
  CHECK(file.collective.ranks == 3 + 1 + 2);
  REQUIRE(file.collective.links.two_level);
  CHECK(file.collective.links.two_level->gpus_per_node == 3);
  CHECK(file.collective.links.two_level->ranks_per_node == std::vector<std::uint32_t>{3, 1, 2});
  const auto with = [&](Changes more) {
    more.insert(more.begin(), nodes.begin(), nodes.end());
    return problem(kRing, more);
  };
  CHECK(with({{"/ranks", "8"}}) == "c.json: /ranks_per_node: adds up to 6 ranks, but /ranks is 8");
  CHECK(with({{"/gpus_per_node", "3"}}) ==
        "c.json: /ranks_per_node: ranks_per_node and gpus_per_node exclude each other");
  CHECK(with({{"/algorithm", R"("two_level")"}}) ==
        "c.json: /ranks_per_node: two_level needs as many ranks on every node; use "
        "hierarchical_leader, or ring on one card of a node");
  CHECK(with({{"/ranks_per_node", "[3, 0]"}}).starts_with("c.json: /ranks_per_node/1: must be "));
}

TEST_CASE("collective file: the networks between and inside nodes are those of a scenario") {
  const Changes nodes{{"/gpus_per_node", "4"}, {"/nvlink_domain_nodes", "2"}};
  const auto with = [&](Changes more) {
    more.insert(more.begin(), nodes.begin(), nodes.end());
    return read(kRing, more);
  };
  const CollectiveFile named =
      with({{"/network", R"("10g-tcp")"}, {"/intra_network", R"("nvlink-a100")"}});
  CHECK(named.collective.links.two_level->gpus_per_node == 2 * 4);
  const links::NetworkProfile& tcp =
      shipped_files().profile(io::parse_json(R"("10g-tcp")", "c.json"));
  const links::NetworkProfile& nvlink =
      shipped_files().profile(io::parse_json(R"("nvlink-a100")", "c.json"));
  CHECK(named.collective.links.all.latency_s == study::network_link(tcp).latency_s);
  CHECK(named.collective.links.all.per_byte_s == study::network_link(tcp).per_byte_s);
  CHECK(named.collective.links.two_level->intra.latency_s == nvlink.any_link().latency_s);
  const CollectiveFile blocks =
      with({{"/intra_network", R"({"calibration": "nvlink-a100", "latency_s": 1e-6,
                              "block_latency_s": 5e-7})"}});
  CHECK(blocks.collective.links.two_level->intra.latency_s == 1e-6);
  CHECK(blocks.collective.links.two_level->intra.block_latency_s == 5e-7);
  CHECK(blocks.collective.links.two_level->intra.per_byte_s == nvlink.any_link().per_byte_s);
  // Conditions are of scenarios, and so is the kind of link that they count with.
  CHECK(problem(kRing, {{"/gpus_per_node", "4"}, {"/intra_network", R"({"latency_s": 1e-6,
        "bandwidth_Bps": 1e11, "bus": "nvlink"})"}}) == "c.json: /intra_network/bus: unknown key");
  CHECK(problem(kRing, {{"/topology", R"("star_16")"}, {"/nvlink_domain_nodes", "2"}}) ==
        "c.json: /nvlink_domain_nodes and /topology exclude each other: its cables are there");
}

TEST_CASE("collective file: a wrong number of ranks or nodes is one problem") {
  const auto problems = [](const Changes& changes) {
    try {
      (void)read(kRing, changes);
      return std::size_t{0};
    } catch (const InputError& error) {
      return error.problems().size();
    }
  };
  CHECK(problems({{"/ranks", ""}, {"/ranks_per_node", "[]"}}) == 1);
  CHECK(problems({{"/ranks", ""}, {"/ranks_per_node", "[0, 2]"}}) == 1);
  CHECK(problems({{"/nvlink_domain_nodes", "0"}}) == 1);
  CHECK(problems({{"/nvlink_domain_nodes", "2"}}) == 1); // no network joins them
}

TEST_CASE("collective file: links and sizes are objects or files, and belong to the ranks") {
  const CollectiveFile file = read(kRing, {{"/ranks", "2"}, {"/links", R"({"links": [
      {"src": 0, "dst": 1, "latency_s": 1e-6, "bandwidth_Bps": 2e9}], "enter_s": [0, 1]})"}});
  REQUIRE(file.collective.links.pairs.size() == 1);
  CHECK(!file.collective.links.pairs_only);
  CHECK(file.collective.enter_s == std::vector<double>{0, 1});
  CHECK(read(kRing, {{"/links", R"("examples/links.json")"}, {"/ranks", "4"}})
            .collective.links.pairs.size() == 1);
  const CollectiveFile sizes = read(
      kRing,
      {{"/op", R"("allgatherv")"}, {"/ranks", "2"}, {"/bytes", ""}, {"/sizes", "[100, 1000]"}});
  CHECK(sizes.collective.bytes == 100 + 1000);
  CHECK(problem(kRing, {{"/links", R"({"links": [], "enter_s": [0]})"}}) ==
        "c.json: /links/enter_s: 1 entries, but there are 8 ranks");
  CHECK(problem(kRing, {{"/links", R"("no.json")"}}) ==
        "c.json: /links: cannot read no.json: no such file or directory");
}

TEST_CASE("collective file: when ranks enter is a list or a file, and some are late") {
  const auto entries = [](const Changes& changes) {
    return read(kRing, changes).collective.enter_s;
  };
  const std::string links =
      R"({"links": [{"src": 0, "dst": 1, "latency_s": 1e-6, "bandwidth_Bps": 2e9}], "enter_s": [3, 3]})";
  CHECK(entries({{"/ranks", "2"}, {"/enter_s", R"([0, "1ms"])"}}) == std::vector<double>{0, 1e-3});
  CHECK(entries({{"/ranks", "2"}, {"/links", links}, {"/enter_s", "[1, 2]"}}) ==
        std::vector<double>{1, 2}); // instead of those of the links
  CHECK(entries({{"/ranks", "2"}, {"/links", links}, {"/late_s", R"({"1": 0.5})"}}) ==
        std::vector<double>{3, 3.5});
  CHECK(entries({{"/ranks", "3"}, {"/late_s", R"({"2": "1ms", "0": 2})"}}) ==
        std::vector<double>{2, 0, 1e-3});
  CHECK(problem(kRing, {{"/enter_s", "[0, 1]"}}) ==
        "c.json: /enter_s: 2 entries, but there are 8 ranks");
  CHECK(problem(kRing, {{"/ranks", "2"}, {"/enter_s", "[0, -1]"}}) ==
        "c.json: /enter_s/1: must be >= 0, got -1");
  CHECK(problem(kRing, {{"/enter_s", R"("no.json")"}}) ==
        "c.json: /enter_s: cannot read no.json: no such file or directory");
  CHECK(problem(kRing, {{"/enter_s", "1"}}) ==
        "c.json: /enter_s: must be a list of seconds per rank, got 1");
  CHECK(problem(kRing, {{"/late_s", R"({"8": 1})"}}) ==
        "c.json: /late_s: must name ranks from 0 to 7, got 8");
  CHECK(problem(kRing, {{"/late_s", R"({"2": -1})"}}) == "c.json: /late_s/2: must be >= 0, got -1");
  CHECK(problem(kRing, {{"/late_s", R"({"2": 1})"}, {"/method", R"("closed_form")"}}) ==
        "c.json: /method: the closed form needs identical ranks entering together; use --method "
        "max_plus");
}

TEST_CASE("collective file: a delay is one of links, and no topology has it") {
  const CollectiveFile file = read(
      kRing,
      {{"/network/delay_s", "2e-5"}, {"/gpus_per_node", "4"}, {"/intra_network", R"({"latency_s": 0,
                                             "bandwidth_Bps": 1e11, "delay_s": "1us"})"}});
  CHECK(file.collective.links.all.delay_s == 2e-5);
  CHECK(file.collective.links.two_level->intra.delay_s == 1e-6);
  const CollectiveFile pairs = read(kRing, {{"/ranks", "2"}, {"/links", R"({"links": [
      {"src": 0, "dst": 1, "latency_s": 1e-6, "delay_s": 3e-6, "bandwidth_Bps": 2e9}]})"}});
  CHECK(pairs.collective.links.pairs.front().cost.delay_s == 3e-6);
  CHECK(problem(kRing, {{"/network/delay_s", "-1"}}) ==
        "c.json: /network/delay_s: must be >= 0, got -1");
  CHECK(problem(kRing, {{"/options", R"({"pipeline_chunks": 1025})"}}) ==
        "c.json: /options/pipeline_chunks: must be an integer in [1, 1024], got 1025");
  CHECK(problem(kRing, {{"/network/delay_s", "1e-5"}, {"/topology", R"("star_16")"}}) ==
        "c.json: /network/delay_s: has no meaning on a topology, where latency_s is such a delay "
        "already");
}

TEST_CASE("collective file: on a topology ranks fill one node after the other, the last in part") {
  const CollectiveFile file =
      read(kRing, {{"/ranks", "6"},
                   {"/network", ""},
                   {"/topology", R"("star_16")"},
                   {"/gpus_per_node", "4"},
                   {"/intra_network", R"({"latency_s": 1e-6, "bandwidth_Bps": 1e11})"}});
  const std::vector<links::NodeId> hosts = file.collective.links.fabric->hosts;
  REQUIRE(hosts.size() == 6);
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    CHECK((hosts[rank] == hosts[0]) == (rank / 4 == 0));
  }
  CHECK(hosts[4] == hosts[5]);
}

TEST_CASE("collective file: every problem is named with its place") {
  CHECK(problem(kRing, {{"/op", ""}}) == "c.json: /op: required (a word)");
  CHECK(problem(kRing, {{"/op", R"("all_reduce")"}}) ==
        R"(c.json: /op: unknown op "all_reduce"; did you mean "allreduce"?)");
  CHECK(problem(kRing, {{"/algorithm", R"("rng")"}}) ==
        R"(c.json: /algorithm: unknown algorithm "rng"; did you mean "ring"?)");
  CHECK(problem(kRing, {{"/algorithm", R"("gtopk")"}}) ==
        R"(c.json: /algorithm: unknown compression method "gtopk"; did you mean "gtopk_tree"?)");
  CHECK(problem(kRing, {{"/ranks", "0"}}) ==
        "c.json: /ranks: must be an integer in [1, 1048576], got 0");
  CHECK(problem(kRing, {{"/rank", "2"}}) == "c.json: /rank: unknown key, did you mean ranks?");
  CHECK(problem(kRing, {{"/kind", R"("scenario")"}}) ==
        "c.json: /kind: this is a file of kind scenario: stepsim run, compare, sweep, tune and "
        "explain "
        "take it");
  CHECK(problem(kRing, {{"/bytes", ""}}) == "c.json: /bytes: required (an integer)");
  CHECK(problem(kRing, {{"/sizes", "[1]"}}) ==
        "c.json: /sizes and /bytes exclude each other: the sizes give the bytes");
  CHECK(problem(kRing, {{"/network", ""}}) ==
        "c.json: /network/latency_s: required (a number; or give calibration, a network that "
        "stepsim topologies list names)");
  CHECK(problem(kRing, {{"/network", R"({"latency_s": 1e-5})"}}) ==
        "c.json: /network/bandwidth_Bps: required (a number; or give calibration, a network that "
        "stepsim topologies list names)");
  CHECK(problem(kRing, {{"/network/bandwidth_Bps", "25"}})
            .starts_with(R"(c.json: /network/bandwidth_Bps: 25 bytes/s: did you mean "25Gbps"?)"));
  CHECK(problem(kRing, {{"/network/bandwidth_Bps", "25"}, {"/allow_unusual", "true"}}).empty());
  CHECK(problem(kRing, {{"/algorithm", R"("lp")"}, {"/network/block_latency_s", "1"}}) ==
        "c.json: /network/block_latency_s: per-block latency must not exceed latency_s 1e-05, "
        "got 1");
  CHECK(problem(kRing, {{"/options/block_bytes", "0"}}) ==
        "c.json: /options/block_bytes: must be an integer >= 1, got 0");
  CHECK(problem(kRing, {{"/options/candidates", R"(["rong"])"}}) ==
        R"(c.json: /options/candidates/0: unknown algorithm "rong"; did you mean "ring"?)");
  CHECK(problem(kRing, {{"/gpus_per_node", "4"}}) ==
        "c.json: /intra_network: missing: 4 GPUs per node need the network inside the node; a name "
        "(nvlink-h100, nvlink-a100, nvlink-v100, xgmi-mi300x, pcie4, pcie3) or {\"latency_s\", "
        "\"bandwidth_Bps\"}");
  CHECK(problem(kRing, {{"/links", R"("l.json")"}, {"/topology", R"("star_16")"}}) ==
        "c.json: /links and /topology exclude each other");
  CHECK(problem(kRing, {{"/topology", R"("star_16")"}, {"/ranks", "17"}})
            .starts_with("c.json: /topology: "));
  CHECK(problem(kRing, {{"/topology", R"("star_17")"}})
            .starts_with(R"(c.json: /topology: unknown topology "star_17")"));
  CHECK(problem(kRing, {{"/root", "8"}}) == "c.json: /root: applies to broadcast and reduce only");
  CHECK(problem(kRing, {{"/op", R"("broadcast")"}, {"/algorithm", R"("mst")"}, {"/root", "8"}}) ==
        "c.json: /root: must be 0 to 7, got 8");
  CHECK(problem(kRing, {{"/op", R"("broadcast")"}, {"/algorithm", R"("double_binary_tree")"}}) ==
        "c.json: /algorithm: double_binary_tree is not defined for broadcast; valid: mst, be, lp, "
        "ring_rails, two_level");
}

TEST_CASE("collective file: keys of a compression count where the algorithm reads them") {
  CHECK(problem(kTopk, {{"/algorithm", R"("ring")"}}) ==
        "c.json: /compression/density: has no meaning for a dense exchange");
  CHECK(problem(kTopk, {{"/algorithm", R"("ring")"}}, study::Leftovers::ignore).empty());
  CHECK(problem(kTopk, {{"/compression/bits", "4"}}) ==
        "c.json: /compression/bits: has no meaning for topk");
  CHECK(problem(kTopk, {{"/compression/k", "10"}}) ==
        "c.json: /compression/density: give exactly one of /compression/density and "
        "/compression/k");
  CHECK(problem(kTopk, {{"/compression", R"({"k": 0})"}}) ==
        "c.json: /compression/k: must be in [1, 2000], got 0");
  CHECK(problem(kTopk, {{"/compression", ""}}) ==
        "c.json: /compression/density: give exactly one of /compression/density and "
        "/compression/k");
  CHECK(problem(kTopk, {{"/algorithm", R"("powersgd")"}, {"/compression", "{}"}}) ==
        "c.json: /compression/rank: required by powersgd");
  CHECK(problem(kTopk, {{"/algorithm", R"("powersgd")"},
                        {"/compression", R"({"rank": 2, "shapes": [[3, 0]]})"}}) ==
        "c.json: /compression/shapes/0/1: must be an integer in [1, 9007199254740992], got 0");
  CHECK(problem(kTopk, {{"/algorithm", R"("powersgd")"},
                        {"/compression", R"({"rank": 2, "shapes": [[30, 40]]})"}}) ==
        "c.json: /compression/shapes: the shapes hold 1200 values, the bytes 2000");
  CHECK(problem(kTopk, {{"/compression/index_bytes", "65"}}) ==
        "c.json: /compression/index_bytes: must be an integer in [1, 64], got 65");
}

TEST_CASE("collective file: a pair without a link is a problem of the list of links") {
  const CollectiveFile file = read(kRing, {{"/ranks", "2"}, {"/network", ""}, {"/links", R"({
      "links": [{"src": 0, "dst": 1, "latency_s": 1e-6, "bandwidth_Bps": 2e9}]})"}});
  CHECK(file.collective.links.pairs_only);
  try {
    (void)study::evaluate_collective(file, {.max_seconds = 1});
    CHECK(false);
  } catch (const InputError& error) {
    CHECK(error.what() == std::string("c.json: /links/links: no link 1 -> 0"));
  }
}

TEST_CASE("collective record: rates are those of the file, to the last digit") {
  const io::Json tree =
      study::evaluate_collective(read(kRing, {{"/network/bandwidth_Bps", "111111111.1111111"},
                                              {"/network/reduction_Bps", "4.9e9"}}),
                                 {.max_seconds = 1});
  CHECK(tree.find("bandwidth_Bps")->as_double() == 111111111.1111111);
  CHECK(tree.find("reduction_Bps")->as_double() == 4.9e9);
  CHECK_THROWS_AS((void)study::evaluate_collective(read(kRing), {.max_seconds = -1}),
                  SimulationError);
}
