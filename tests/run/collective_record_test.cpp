// Records of collectives as trees, and files of links.
#include "run/collective_record.hpp"

#include <doctest/doctest.h>

#include "collectives/point.hpp"
#include "collectives/record.hpp"
#include "document/json_text.hpp"
#include "scenario/files/network_files.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using collectives::AlgorithmId;
using collectives::Op;
using stepsim::testing::within;

TEST_CASE("collective record: the rank that sends least and the one that sends most") {
  // be on 6 ranks folds: of 8 bytes two ranks send 2 x 8 + 4, two 12, two 8.
  const io::Json tree = study::record_tree(collectives::make_record(
      collectives::test::point(Op::allreduce, AlgorithmId::be, 6, 8, {1, 1, 0}),
      collectives::AskedMethod::max_plus));
  CHECK(io::resolve(tree, "/bytes_sent_per_rank/min")->as_double() == 8);
  CHECK(io::resolve(tree, "/bytes_sent_per_rank/max")->as_double() == 2 * 8 + 4);
  CHECK(io::resolve(tree, "/bytes_sent_total")->as_double() == 2 * (20 + 12 + 8));
}

TEST_CASE("collective record: the linear form by its start-up and its time per byte") {
  const io::Json tree = study::record_tree(collectives::make_record(
      collectives::test::point(Op::allreduce, AlgorithmId::ring, 8, 1e8, {1e-5, 8e-10, 1e-10}),
      collectives::AskedMethod::closed_form));
  CHECK(io::resolve(tree, "/startup_s")->as_double() == within(2 * 7 * 1e-5, 1e-12));
  CHECK(io::resolve(tree, "/per_byte_s")->as_double() ==
        within(2 * 7.0 / 8 * 8e-10 + 7.0 / 8 * 1e-10, 1e-12));
}

TEST_CASE("links file: rates of adding become seconds per byte, blocks cost the latency") {
  const io::LinksFile file = io::parse_links(io::parse_json(R"({"kind": "links", "links": [
          {"src": 1, "dst": 0, "latency_s": 2e-6, "bandwidth_Bps": 4e9},
          {"src": 0, "dst": 1, "latency_s": 1e-6, "bandwidth_Bps": 2e9}],
          "reduction_Bps": [5e9, 0]})",
                                                            "links.json"),
                                             2);
  REQUIRE(file.pairs.size() == 2);
  CHECK(file.pairs[0].src == 0); // sorted by source
  CHECK(file.pairs[0].cost.block_latency_s == 1e-6);
  CHECK(file.pairs[0].cost.per_byte_s == within(1 / 2e9, 1e-12));
  CHECK(file.pairs[1].cost.block_latency_s == 2e-6);
  REQUIRE(file.reduction_s_per_byte.size() == 2);
  CHECK(file.reduction_s_per_byte[0] == within(1 / 5e9, 1e-12));
  CHECK(file.reduction_s_per_byte[1] == 0); // free
}

TEST_CASE("links file: ranks beyond those of the collective are left out") {
  const io::Json tree = io::parse_json(R"({"kind": "links", "links": [
          {"src": 0, "dst": 1, "latency_s": 1e-6, "bandwidth_Bps": 2e9},
          {"src": 1, "dst": 2, "latency_s": 1e-6, "bandwidth_Bps": 2e9}],
          "reduction_Bps": [0, 1e9, 2e9], "enter_s": [3, 4, 5], "chain": [2, 1, 0]})",
                                       "links.json");
  const io::LinksFile two = io::parse_links(tree, 2);
  REQUIRE(two.pairs.size() == 1);
  CHECK(two.pairs[0].dst == 1);
  CHECK(two.reduction_s_per_byte == std::vector<double>{0, 1e-9});
  CHECK(two.enter_s == std::vector<double>{3, 4});
  CHECK(two.chain == std::vector<std::uint32_t>{1, 0});
  CHECK(io::parse_links(tree, 3).pairs.size() == 2);
  CHECK_THROWS_WITH(io::parse_links(tree, 4),
                    doctest::Contains("/reduction_Bps: 3 entries, but there are 4 ranks"));
}
