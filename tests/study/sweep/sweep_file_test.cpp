#include "study/sweep/sweep_file.hpp"

#include <doctest/doctest.h>

#include "base/error.hpp"
#include "document/json_text.hpp"
#include "study/sweep/sweep.hpp"
#include "study/sweep/sweep_helpers.hpp"
#include "testing/paths.hpp"

using namespace stepsim;

namespace {

// A sweep file with the small scenario inside and the given text for the rest.
study::Sweep parse(const std::string& rest) {
  return study::parse_sweep(io::parse_json(R"({"kind": "sweep", "scenario": )" +
                                               std::string(test::kScenario) + ", " + rest + "}",
                                           "s.json"));
}

std::string problems(const std::string& rest) {
  try {
    (void)parse(rest);
  } catch (const InputError& error) {
    std::string text;
    for (const base::Problem& problem : error.problems()) {
      text += problem.text() + "\n";
    }
    return text;
  }
  return "none";
}

std::string values(const std::string& axis) {
  const study::Sweep sweep = parse(R"("axes": [{"field": "/x", )" + axis + "}]");
  return io::compact(io::Json(io::Array(sweep.grid.axes[0].values)));
}

std::string hash(const study::Sweep& sweep) {
  study::Files files(STEPSIM_SOURCE_DIR);
  return study::grid_hash(sweep, files);
}

} // namespace

TEST_CASE("sweep file: values, spaced values, zip and replications") {
  const study::Sweep sweep = parse(R"("axes": [
      {"field": "/cluster/nodes", "from": 2, "to": 64, "steps": 6, "scale": "log"},
      {"field": "/communication/schedule", "values": ["wfbp", "single"]},
      {"field": "/cluster/network/latency_s", "values": [1e-6, 2e-6]}],
    "zip": [["/communication/schedule", "/cluster/network/latency_s"]], "replications": 3)");
  REQUIRE(sweep.grid.axes.size() == 3);
  CHECK(sweep.grid.points() == 6 * 2 * 3);
  CHECK(sweep.grid.zips == std::vector<std::vector<std::size_t>>{{1, 2}});
  CHECK(sweep.base.find("name")->as_string() == "small");
}

TEST_CASE("sweep file: whole ends give whole values where they are hit") {
  CHECK(values(R"("from": 2, "to": 64, "steps": 6, "scale": "log")") == "[2,4,8,16,32,64]");
  CHECK(values(R"("from": 1, "to": 9, "steps": 5)") == "[1,3,5,7,9]");
  CHECK(values(R"("from": 9, "to": 1, "steps": 3, "scale": "linear")") == "[9,5,1]");
  CHECK(values(R"("from": 1, "to": 2, "steps": 3)") == "[1,1.5,2]");
  CHECK(values(R"("from": 1e-6, "to": 1e-4, "steps": 3, "scale": "log")") == "[1e-06,1e-05,1e-04]");
  CHECK(values(R"("from": 5, "to": 7, "steps": 1)") == "[5]");
  const study::Sweep sweep = parse(
      R"("axes": [{"field": "/cluster/nodes", "from": 4, "to": 8, "steps": 7, "scale": "log"}])");
  CHECK(io::compact(io::Json(io::Array(sweep.grid.axes[0].values))) == "[4,5,6,7,8]");
}

TEST_CASE("sweep file: every problem is named with its place") {
  CHECK(problems(R"("axes": [])") == "s.json: /axes: needs at least one axis\n");
  CHECK(problems(R"("axes": [{"field": "/x", "values": []}])") ==
        "s.json: /axes/0/values: needs at least one value\n");
  CHECK(problems(R"("axes": [{"field": "nodes", "values": [1]}])")
            .starts_with("s.json: /axes/0/field: must be a JSON pointer"));
  CHECK(problems(R"("axes": [{"field": "/x", "values": [1], "steps": 3}])") ==
        "s.json: /axes/0/steps: has no meaning beside values\n");
  CHECK(problems(R"("axes": [{"field": "/x", "from": 0, "to": 3, "steps": 3, "scale": "log"}])")
            .starts_with("s.json: /axes/0/from: must be > 0"));
  CHECK(problems(R"("axes": [{"field": "/x", "from": 1, "to": 3, "steps": 0}])")
            .starts_with("s.json: /axes/0/steps: must be"));
  CHECK(problems(R"("axes": [{"field": "/x", "values": [1]}, {"field": "/x", "values": [1]}])") ==
        "s.json: /axes/1/field: is the field of an earlier axis too\n");
  CHECK(problems(R"("axes": [{"field": "/name/x", "values": [1]}])")
            .starts_with("s.json: /axes/0/field: "));
  const std::string two =
      R"("axes": [{"field": "/x", "values": [1, 2]}, {"field": "/y", "values": [1]}])";
  CHECK(problems(two + R"(, "zip": [["/x", "/y"]])")
            .starts_with("s.json: /zip/0: zipped axes need equal lengths"));
  CHECK(problems(two + R"(, "zip": [["/x", "/z"]])") ==
        "s.json: /zip/0/1: must be the field of an axis\n");
  CHECK(problems(two + R"(, "zip": [["/x", "/x"]])") == "s.json: /zip/0/1: zipped twice\n");
  CHECK(problems(two + R"(, "axis": 1)").find("did you mean axes?") != std::string::npos);
  CHECK(problems(two + R"(, "replications": 0)").starts_with("s.json: /replications: must be"));
}

TEST_CASE("sweep file: the scenario of a file is found beside the sweep") {
  const test::Folder folder("sweep-file");
  test::write_text(folder.file("base.json"), test::kScenario);
  test::write_text(folder.file("sweep.json"),
                   R"({"kind": "sweep", "scenario": "base.json",
                       "axes": [{"field": "/cluster/nodes", "values": [1, 2]}]})");
  const io::Json tree = io::read_json(folder.file("sweep.json"));
  CHECK(study::is_sweep(tree));
  CHECK(study::parse_sweep(tree).base.find("name")->as_string() == "small");
  CHECK(!study::is_sweep(io::read_json(folder.file("base.json"))));
  test::write_text(folder.file("sweep.json"),
                   R"({"kind": "sweep", "scenario": "gone.json",
                       "axes": [{"field": "/cluster/nodes", "values": [1, 2]}]})");
  CHECK_THROWS_WITH_AS((void)study::parse_sweep(io::read_json(folder.file("sweep.json"))),
                       doctest::Contains("gone.json"), InputError);
}

TEST_CASE("grid_hash: 16 hex digits, the same for the same work") {
  const std::string axes = R"("axes": [{"field": "/cluster/nodes", "values": [2, 4]}])";
  const std::string original = hash(parse(axes));
  CHECK(original.size() == 16);
  CHECK(original.find_first_not_of("0123456789abcdef") == std::string::npos);
  // Spaced instead of listed, a default written out, another value under the axis, 1e3 for 1000.
  CHECK(hash(parse(R"("axes": [{"field": "/cluster/nodes", "from": 2, "to": 4, "steps": 2}])")) ==
        original);
  CHECK(hash(study::sweep_over(test::scenario(),
                               {study::Axis{"/cluster/nodes", {io::Json(2), io::Json(4.0)}}})) ==
        original);
  io::Json scenario = test::scenario();
  const auto with = [&](const char* pointer, io::Json value) {
    io::Json changed = scenario;
    io::assign(changed, pointer, std::move(value));
    return hash(
        study::sweep_over(changed, {study::Axis{"/cluster/nodes", {io::Json(2), io::Json(4)}}}));
  };
  CHECK(with("/cluster/gpus_per_node", 1) == original);
  CHECK(with("/communication/collective", "ring") == original);
  CHECK(with("/cluster/nodes", 77) == original);
  CHECK(with("/cluster/network/bandwidth_Bps", std::int64_t{1250000000}) == original);
  // Anything that may change a result changes it; also a key that the first point ignores.
  CHECK(with("/cluster/network/latency_s", 6e-5) != original);
  CHECK(with("/communication/bucket_bytes", 1000) != original);
  CHECK(with("/seed", 2) != original);
  study::Sweep other = parse(axes);
  other.grid.replications = 2;
  CHECK(hash(other) != original);
  other = parse(axes);
  std::swap(other.grid.axes[0].values[0], other.grid.axes[0].values[1]);
  CHECK(hash(other) != original);
}

TEST_CASE("grid_hash: of the contents of files, not of their names") {
  const test::Folder folder("grid-hash");
  std::filesystem::create_directories(folder.file("a"));
  std::filesystem::create_directories(folder.file("b"));
  const std::string cost = R"({"kind": "cost", "op": "allreduce", "ranks": 4,
                               "table": [[1000, 1e-4], [1000000, 1e-3]]})";
  const auto hash_in = [&](const std::string& place, const std::string& name,
                           const std::string& content) {
    test::write_text(folder.file(place + "/" + name), content);
    io::Json scenario = test::scenario();
    io::assign(scenario, "/cluster/network/cost", io::Json(name));
    test::write_text(folder.file(place + "/base.json"), io::pretty(scenario));
    return hash(study::sweep_over(
        io::read_json(folder.file(place + "/base.json")),
        {study::Axis{"/communication/schedule", {io::Json("wfbp"), io::Json("single")}}}));
  };
  const std::string original = hash_in("a", "cost.json", cost);
  CHECK(hash_in("b", "cost.json", cost) == original);
  CHECK(hash_in("b", "other-name.json", cost) == original);
  std::string slower = cost;
  slower.replace(slower.find("1e-3"), 4, "2e-3");
  CHECK(hash_in("b", "cost.json", slower) != original);
}
