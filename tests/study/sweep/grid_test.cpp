#include "study/sweep/grid.hpp"

#include <doctest/doctest.h>

#include <set>

#include "base/error.hpp"
#include "document/json_text.hpp"
#include "scenario/files.hpp"

using namespace stepsim;
using study::Axis;
using study::Grid;

namespace {

Axis counting(const std::string& pointer, int values) {
  Axis axis{pointer, {}};
  for (int i = 0; i < values; ++i) {
    axis.values.emplace_back(i);
  }
  return axis;
}

std::string over(std::string_view text) {
  const Axis axis = study::parse_over(text);
  return axis.pointer + " " + io::compact(io::Json(io::Array(axis.values)));
}

std::string set(std::string_view text) {
  const auto [pointer, value] = study::parse_set(text);
  return pointer + " " + io::compact(value);
}

} // namespace

TEST_CASE("grid: the first axis varies slowest") {
  const Grid grid{{counting("/a", 2), counting("/b", 3)}, {}, 1};
  CHECK(grid.points() == 2 * 3);
  CHECK(grid.position(0) == std::vector<std::size_t>{0, 0});
  CHECK(grid.position(1) == std::vector<std::size_t>{0, 1});
  CHECK(grid.position(2) == std::vector<std::size_t>{0, 2});
  CHECK(grid.position(3) == std::vector<std::size_t>{1, 0});
  CHECK(grid.position(5) == std::vector<std::size_t>{1, 2});
}

TEST_CASE("grid: zipped axes move together, in the place of the first of them") {
  const Grid grid{{counting("/a", 3), counting("/b", 2), counting("/c", 3)}, {{2, 0}}, 1};
  CHECK(grid.points() == 3 * 2);
  CHECK(grid.position(0) == std::vector<std::size_t>{0, 0, 0});
  CHECK(grid.position(1) == std::vector<std::size_t>{0, 1, 0});
  CHECK(grid.position(2) == std::vector<std::size_t>{1, 0, 1});
  CHECK(grid.position(5) == std::vector<std::size_t>{2, 1, 2});
}

TEST_CASE("grid: replications vary fastest and set nothing") {
  const Grid grid{{counting("/a", 2)}, {}, 3};
  CHECK(grid.points() == 2 * 3);
  CHECK(grid.position(2) == std::vector<std::size_t>{0});
  CHECK(grid.position(3) == std::vector<std::size_t>{1});
}

TEST_CASE("grid: every combination appears exactly once") {
  const Grid grid{
      {counting("/a", 4), counting("/b", 3), counting("/c", 4), counting("/d", 5)}, {{0, 2}}, 1};
  std::set<std::vector<std::size_t>> seen;
  for (std::int64_t point = 0; point < grid.points(); ++point) {
    seen.insert(grid.position(point));
  }
  CHECK(seen.size() == 4 * 3 * 5);
}

TEST_CASE("grid: the points along an axis differ in it alone") {
  const Grid grid{{counting("/ranks", 2), counting("/bytes", 3), counting("/latency", 2)}, {}, 1};
  // Point 9 = (1 x 3 + 1) x 2 + 1.
  CHECK(grid.position(9) == std::vector<std::size_t>{1, 1, 1});
  CHECK(grid.axis_of("/bytes") == 1);
  CHECK(!grid.axis_of("/root"));
  using Points = std::vector<std::int64_t>;
  CHECK(grid.along(2, 9) == Points{8, 9});
  CHECK(grid.along(1, 9) == Points{7, 9, 11});
  CHECK(grid.along(0, 9) == Points{3, 9});
  for (std::int64_t point = 0; point < grid.points(); ++point) {
    CHECK((grid.along(1, point).front() == point) == (grid.position(point)[1] == 0));
  }
}

TEST_CASE("grid: more than 2^63 points are refused") {
  Grid grid;
  for (int a = 0; a < 5; ++a) {
    grid.axes.push_back(counting(std::string("/").append(std::to_string(a)), 10'000));
  }
  CHECK_THROWS_AS((void)grid.points(), UsageError);
}

TEST_CASE("grid: a field is named by its last token, by its pointer where names would be equal") {
  const Grid grid{{counting("/cluster/nodes", 1), counting("/cluster/network/latency_s", 1),
                   counting("/cluster/intra_network/latency_s", 1),
                   counting("/training/update_s", 1), counting("/method", 1)},
                  {},
                  1};
  CHECK(grid.field_names() ==
        std::vector<std::string>{"nodes", "/cluster/network/latency_s",
                                 "/cluster/intra_network/latency_s",
                                 "/training/update_s", // the summary has update_s
                                 "/method"});          // the record has method
}

TEST_CASE("grid: a point's tree is the base with the values set") {
  const io::Json base = io::parse_json(R"({"a": {"b": 1, "c": 2}})", "");
  const Grid grid{
      {Axis{"/a/b", {io::Json(10), io::Json(20)}}, Axis{"/d/e", {io::Json("x")}}}, {}, 1};
  CHECK(io::compact(study::scenario_at(base, grid, 1)) == R"({"a":{"b":20,"c":2},"d":{"e":"x"}})");
}

TEST_CASE("grid: an axis may go through a list, and append to it") {
  const io::Json base = io::parse_json(R"({"l": [{"b": 1}, {"b": 2}]})", "");
  const Grid grid{
      {Axis{"/l/1/b", {io::Json(5), io::Json(6)}}, Axis{"/l/-", {io::Json("x")}}}, {}, 1};
  CHECK(io::compact(study::scenario_at(base, grid, 1)) == R"({"l":[{"b":1},{"b":6},"x"]})");
}

TEST_CASE(
    "grid: names of files in axis values are relative to the file of the axis, in lists too") {
  const io::Json base = io::parse_json(
      R"({"workload": [{"trace": "a.json"}, {"trace": "b.json"}], "cluster": {}})", "base/s.json");
  const io::Json values = io::parse_json(R"(["new.json"])", "axes/s.json");
  for (const std::string pointer : {"/workload/1/trace", "/cluster/topology"}) {
    const Grid grid{{Axis{pointer, {values.as_array()[0]}}}, {}, 1};
    const io::Json tree = study::scenario_at(base, grid, 0);
    const std::string place = pointer.ends_with("topology") ? pointer + "/file" : pointer;
    const io::Json* name = io::resolve(tree, place);
    REQUIRE(name != nullptr);
    CHECK(study::path_of(*name) == "axes/new.json");
  }
}

TEST_CASE("grid: quantities in axis values are numbers") {
  CHECK(io::compact(study::axis_value("/n/bandwidth_Bps", "25Gbps")) == "3.125e+09");
  CHECK(io::compact(study::axis_value("/l/0/gradient_bytes", "1MB")) == "1000000");
  CHECK(io::compact(study::axis_value("/n/efficiency", "90%")) == "0.9");
  CHECK(io::compact(study::axis_value("/c/block_bytes", "optimal")) == R"("optimal")");
}

TEST_CASE("--over: numbers with units take the unit of the key") {
  CHECK(over("/n/bandwidth_Bps=1,10,40Gbps") == "/n/bandwidth_Bps [1.25e+08,1.25e+09,5e+09]");
  CHECK(over("/n/latency_s=0.5,50us") == "/n/latency_s [5e-07,5e-05]");
  CHECK(over("/c/bucket_bytes=1MiB:4MiB:x2") == "/c/bucket_bytes [1048576,2097152,4194304]");
  CHECK(over("/workload/device/flops_Ps=19.5TFlop/s") == "/workload/device/flops_Ps [1.95e+13]");
}

TEST_CASE("--over: bare numbers are JSON in the SI unit, counts and ranges stay whole") {
  CHECK(over("/n/bandwidth_Bps=1e9") == "/n/bandwidth_Bps [1e+09]");
  CHECK(over("/cluster/nodes=1,2,8") == "/cluster/nodes [1,2,8]");
  CHECK(over("/cluster/nodes=4:64:x2") == "/cluster/nodes [4,8,16,32,64]");
  CHECK(over("/cluster/nodes=1:9:+4,20") == "/cluster/nodes [1,5,9,20]");
  CHECK(over("/cluster/nodes=2:9:x1.5") == "/cluster/nodes [2,3,5,7]");
  CHECK(over("/variability/compute_cv=1:4:x1.5") == "/variability/compute_cv [1,1.5,2.25,3.375]");
  CHECK(over("/a/b=0.1:0.3:+0.1") == "/a/b [0.1,0.2,0.3]");
  CHECK(over("/a/efficiency=90%,0.5") == "/a/efficiency [0.9,0.5]");
}

TEST_CASE("--over: words, and JSON of any kind") {
  CHECK(over("/c/schedule=wfbp,mg_wfbp") == R"(/c/schedule ["wfbp","mg_wfbp"])");
  CHECK(over("/c/block_bytes=optimal,64,128KiB") == R"(/c/block_bytes ["optimal",65536,131072])");
  CHECK(over("/t/pipelined=true,false,null") == "/t/pipelined [true,false,null]");
  CHECK(over(R"(/c/candidates=["ring","be"],["lp"])") == R"(/c/candidates [["ring","be"],["lp"]])");
  CHECK(over(R"(/n/name="a,b",c)") == R"(/n/name ["a,b","c"])");
}

TEST_CASE("--over: what is neither a pointer nor a list of values is refused") {
  CHECK_THROWS_AS((void)study::parse_over("cluster/nodes=1"), UsageError);
  CHECK_THROWS_AS((void)study::parse_over("/cluster/nodes"), UsageError);
  CHECK_THROWS_AS((void)study::parse_over("/cluster/nodes="), UsageError);
  CHECK_THROWS_AS((void)study::parse_over("/cluster/nodes=1,,2"), UsageError);
  CHECK_THROWS_AS((void)study::parse_over("/c/candidates=[\"ring\""), UsageError);
  CHECK_THROWS_WITH_AS((void)study::parse_over("/n/bandwidth_Bps=10gbps"),
                       doctest::Contains("Gbps (bits) or GB/s (bytes)"), UsageError);
  CHECK_THROWS_WITH_AS((void)study::parse_over("/n/latency_s=5Gbps"), doctest::Contains("Gbps"),
                       UsageError);
}

TEST_CASE("--set: one value, JSON or with a unit or a word") {
  CHECK(set("/cluster/nodes=64") == "/cluster/nodes 64");
  CHECK(set("/n/bandwidth_Bps=25Gbps") == "/n/bandwidth_Bps 3.125e+09");
  CHECK(set("/c/schedule=ddp") == R"(/c/schedule "ddp")");
  CHECK(set(R"(/c={"a": [1, 2]})") == R"(/c {"a":[1,2]})");
  CHECK(set("/w/trace=traces/a=b.json") == R"(/w/trace "traces/a=b.json")");
  CHECK(set("/w/trace=2xa100.json") == R"(/w/trace "2xa100.json")");
  CHECK_THROWS_AS((void)study::parse_set("nodes=4"), UsageError);
}
