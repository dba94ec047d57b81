// What `stepsim collective` reads and writes: the grid of its flags, files of links, records as
// trees.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "cli/collective/collective_flags.hpp"
#include "cli/collective/collective_record.hpp"
#include "coll/point.hpp"
#include "coll/record.hpp"
#include "files/links_file.hpp"
#include "testing/paths.hpp"
#include "testing/tolerance.hpp"
#include "json/json_parse.hpp"
#include "json/json_pointer.hpp"

using namespace stepsim;
using coll::AlgorithmId;
using coll::Op;
using stepsim::testing::within;

TEST_CASE("collective record: the rank that sends least and the one that sends most") {
  // be on 6 ranks folds: of 8 bytes two ranks send 2 x 8 + 4, two 12, two 8.
  const io::Json tree = cli::record_tree(
      coll::make_record(coll::test::point(Op::allreduce, AlgorithmId::be, 6, 8, {1, 1, 0}),
                        coll::AskedMethod::max_plus));
  CHECK(io::resolve(tree, "/bytes_sent_per_rank/min")->as_double() == 8);
  CHECK(io::resolve(tree, "/bytes_sent_per_rank/max")->as_double() == 2 * 8 + 4);
  CHECK(io::resolve(tree, "/bytes_sent_total")->as_double() == 2 * (20 + 12 + 8));
}

TEST_CASE("collective record: the linear form by its start-up and its time per byte") {
  const io::Json tree = cli::record_tree(coll::make_record(
      coll::test::point(Op::allreduce, AlgorithmId::ring, 8, 1e8, {1e-5, 8e-10, 1e-10}),
      coll::AskedMethod::closed_form));
  CHECK(io::resolve(tree, "/startup_s")->as_double() == within(2 * 7 * 1e-5, 1e-12));
  CHECK(io::resolve(tree, "/per_byte_s")->as_double() ==
        within(2 * 7.0 / 8 * 8e-10 + 7.0 / 8 * 1e-10, 1e-12));
}

TEST_CASE("collective grid: the last axis varies fastest, and each axis has its neighbours") {
  cli::CollectiveGrid grid;
  grid.axes = {{"--ranks", {2, 4}, nullptr},
               {"--bytes", {10, 20, 30}, nullptr},
               {"--latency", {7, 8}, nullptr}};
  CHECK(grid.points() == 2 * 3 * 2);
  // Point 9 = (1 x 3 + 1) x 2 + 1.
  CHECK(grid.values_at(9) == std::vector<double>{4, 20, 8});
  CHECK(grid.value(9, "--bytes") == 20);
  using Points = std::vector<std::int64_t>;
  CHECK(grid.alike(9, "--latency") == Points{8, 9});
  CHECK(grid.alike(9, "--bytes") == Points{7, 9, 11});
  CHECK(grid.alike(9, "--ranks") == Points{3, 9});
  for (std::int64_t point = 0; point < grid.points(); ++point) {
    CHECK(grid.is_first(point, "--bytes") == (grid.value(point, "--bytes") == 10.0));
  }
}

TEST_CASE("collective grid: on a topology ranks fill one node after the other, the last in part") {
  cli::CollectiveFlags flags;
  flags.op = "allreduce";
  flags.algorithm = "ring";
  flags.ranks = "6";
  flags.bytes = "1MB";
  flags.topology = "star_16";
  flags.gpus_per_node = "4";
  flags.intra_latency = "1us";
  flags.intra_bandwidth = "100GB/s";
  const cli::CollectiveGrid grid = cli::parse_collective_flags(flags, STEPSIM_SOURCE_DIR);
  const std::vector<net::NodeId> hosts = grid.at(0).links.fabric->hosts;
  REQUIRE(hosts.size() == 6);
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    CHECK((hosts[rank] == hosts[0]) == (rank / 4 == 0));
  }
  CHECK(hosts[4] == hosts[5]);
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
