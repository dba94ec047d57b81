#include "scenario/files/network_files.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "document/json_text.hpp"
#include "document/problem_text.hpp"
#include "links/profile/profile_curve.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using namespace stepsim::io;

namespace {

std::string problems(std::string_view text) { return problem_text(text, parse_profile); }

// A profile with the given keys behind the required ones.
std::string profile(std::string_view rest) {
  return R"({"schema_version": 1, "kind": "network_calibration", "name": "n", "label": "default")" +
         std::string(rest) + "}";
}

// The example of the format's description, and the keys of sparse profiles.
constexpr std::string_view kFull = R"(
{"schema_version": 1, "kind": "network_calibration", "name": "h100x8", "label": "calibrated", "note": "nccl-tests log; ring assumed",
 "source": {"format": "nccl-tests", "files": [{"name": "nccl_N1_G8.log", "sha256": "..."}], "importer": "stepsim-calibrate 0.1", "date": "2026-01-31"},
 "device": {"name": "NVIDIA H100 80GB HBM3", "count": 8, "driver": null, "sm_clock_Hz": null, "p2p": null},
 "valid": {"ranks": [8, 8], "bytes": [33554432, 17179869184], "gpus_per_node": 8, "density": [0.001, 0.001]},
 "network": {"model": "alpha_beta", "latency_s": 4.4588e-6, "bandwidth_Bps": 4.74580e11, "reduction_Bps": 0},
 "links": [{"class": "nvlink", "latency_s": {"value": 4.4588e-6, "low": 3.87e-6, "high": 5.05e-6}, "per_byte_s": {"value": 2.10713e-12, "low": 2.067e-12, "high": 2.147e-12},
            "block_latency_s": null, "duplex": {"exchange": null, "shift": null}}],
 "collectives": [{"op": "allreduce", "algorithm": "nccl", "ranks": 8, "column": "out-of-place",
                  "segments": [{"from_bytes": 33554432, "to_bytes": 536870912, "startup_s": 5.478e-5, "per_byte_s": 3.82712e-12},
                               {"from_bytes": 1073741824, "to_bytes": 17179869184, "startup_s": 1.1158e-4, "per_byte_s": 3.62225e-12}],
                  "residuals": [[33554432, 1.8287e-4, 1.83197e-4]], "fit": {"bic": [-74.998, -103.989, -92.885], "median_relative_error": 0.0005, "max_relative_error": 0.0065, "points": 10}}],
 "dense_inflation": {"ranks": [4, 8], "factor": [1.295, 1.299]},
 "compression_costs": {"any": {"select_s_per_element": 6.1e-9}},
 "kernels": [{"kernel": "radix_select", "n": [65536], "k": [66], "achieved_k": [66], "median_s": [1e-5], "p10_s": [1e-5], "p90_s": [1e-5],
              "fit": {"c0_s": 1e-6, "c1_s_per_element": 1e-10, "c2_s_per_entry": 0, "max_relative_error": 0.1}, "device": "x", "driver": "y", "distribution": "gaussian"}],
 "identifiable": {"latency": true, "bandwidth": true, "reduction": false}, "grade": "ok", "warnings": ["w"]})";

} // namespace

TEST_CASE("a calibration is read with every part") {
  const links::NetworkProfile read = parse_profile(parse_json(kFull, "c.json"));
  CHECK(read.label == links::ProfileLabel::calibrated);
  CHECK(read.latency_s == 4.4588e-6);
  CHECK(read.bandwidth_Bps == 4.7458e11);
  CHECK(read.reduction_Bps == 0.0);
  CHECK(read.links[0].name == "nvlink");
  CHECK(read.links[0].per_byte_s == 2.10713e-12);
  CHECK(read.collectives[0].algorithm == "nccl");
  CHECK(read.collectives[0].segments[1].startup_s == 1.1158e-4);
  CHECK(read.valid_ranks->first == 8);
  CHECK(read.valid_bytes->second == 17179869184.0);
  CHECK(read.grade == "ok");
  CHECK(read.warnings == std::vector<std::string>{"w"});
  CHECK(read.valid_density->first == 0.001);
  CHECK(read.valid_gpus_per_node == 8);
  CHECK(read.dense_inflation.ranks == std::vector<std::int64_t>{4, 8});
  CHECK(read.dense_inflation.factor == std::vector<double>{1.295, 1.299});
  REQUIRE(read.compression_costs.size() == 1);
  CHECK(read.compression_costs[0].method == "any");
  CHECK(read.compression_costs[0].form.empty());
  CHECK(read.compression_costs[0].values ==
        std::vector<std::pair<std::string, double>>{{"select_s_per_element", 6.1e-9}});
}

TEST_CASE("a curve's segment may leave open from where to where it holds") {
  const auto text = profile(R"(, "collectives": [{"op": "allgather", "algorithm": "library",
      "ranks": 4, "segments": [{"to_bytes": 1048575, "startup_s": 2.7e-3, "per_byte_s": 1.3e-8},
      {"from_bytes": 1048576, "to_bytes": null, "startup_s": 5.6e-3, "per_byte_s": 7.4e-9}]}])");
  const links::NetworkProfile read = parse_profile(parse_json(text, ""));
  CHECK(read.collectives[0].segments[0].from_bytes == 0);
  CHECK(read.collectives[0].segments[1].to_bytes == std::numeric_limits<double>::infinity());
  CHECK(problems(profile(R"(, "collectives": [{"op": "allreduce", "algorithm": "mpi", "ranks": 8,
            "segments": [{"startup_s": 0, "per_byte_s": 0},
                         {"from_bytes": 8, "startup_s": 0, "per_byte_s": 0}]}])")) ==
        "f.json: /collectives/0/segments/1/from_bytes: segments must be ascending and disjoint\n");
}

TEST_CASE("a class same-device is kept for the reader to refuse") {
  const auto text =
      profile(R"(, "links": [{"class": "same-device", "latency_s": 1e-6, "per_byte_s": 1e-11}])");
  CHECK(parse_profile(parse_json(text, "")).links[0].name == "same-device");
}

TEST_CASE("kind, name, label and one of the three parts are required") {
  CHECK(problems("{}") == "f.json: /kind: required (a text)\n"
                          "f.json: /name: required (a text)\n"
                          "f.json: /label: required (a word)\n"
                          "f.json: give at least one of network, links, collectives\n");
}

TEST_CASE("wrong profiles are refused with pointer and rule") {
  CHECK(problems(profile(R"(, "network": {"latency_s": -1, "bandwidth_Bps": 0})")) ==
        "f.json: /network/latency_s: must be >= 0, got -1\n"
        "f.json: /network/bandwidth_Bps: must be >= 1, got 0\n");
  CHECK(problems(profile(R"(, "network": {}, "dense_inflaton": {})")) ==
        "f.json: /dense_inflaton: unknown key, did you mean dense_inflation?\n");
  CHECK(problems(profile(R"(, "links": [{"class": "ethernet", "latency_s": 0}])")) ==
        "f.json: /links/0/class: unknown class \"ethernet\"; one of network, nvlink, pcie, host, "
        "same-device\n"
        "f.json: /links/0/per_byte_s: required (a number)\n");
  CHECK(problems(profile(R"(, "network": {"latency_s": {"value": 2, "low": 3, "high": 4}})")) ==
        "f.json: /network/latency_s: value must lie between low and high\n");
  CHECK(problems(profile(R"(, "network": {}, "valid": {"ranks": [8, 4]})")) ==
        "f.json: /valid/ranks/1: must be >= 8, got 4\n");
  CHECK(problems(profile(R"(, "collectives": [{"op": "allreduce", "algorithm": "nccl", "ranks": 8,
            "segments": [{"from_bytes": 1, "to_bytes": 9, "startup_s": 0, "per_byte_s": 0},
                         {"from_bytes": 8, "to_bytes": 9, "startup_s": -1, "per_byte_s": 0}]}])")) ==
        "f.json: /collectives/0/segments/1/startup_s: must be >= 0, got -1\n"
        "f.json: /collectives/0/segments/1/from_bytes: segments must be ascending and disjoint\n");
  CHECK(problems(profile(R"(, "network": {}, "dense_inflation": {"ranks": [4], "factor": []})")) ==
        "f.json: /dense_inflation/factor: must have as many entries as ranks\n");
}

TEST_CASE(
    "points of a curve instead of its segments: straight lines, and refused where they fall") {
  const auto curve = [](std::string_view parts) {
    return profile(R"(, "collectives": [{"op": "allreduce", "algorithm": "nccl", "ranks": 8)" +
                   std::string(parts) + "}]");
  };
  const links::NetworkProfile read =
      parse_profile(parse_json(curve(R"(, "points": [[100, 1], [300, 2], [400, 2]])"), "f.json"));
  REQUIRE(read.collectives[0].points.size() == 3);
  CHECK(links::curve_seconds(read.collectives[0].segments, 200) == testing::within(1.5, 1e-12));
  CHECK(problems(curve("")) == "f.json: /collectives/0: give exactly one of segments and points\n");
  CHECK(problems(curve(R"(, "points": [[1, 1]])")) ==
        "f.json: /collectives/0/points: needs at least 2 points\n");
  CHECK(problems(curve(R"(, "points": [[1, 1], [2, 0.5], [2, 3], [1, 4], 7, [0, 1]])")) ==
        "f.json: /collectives/0/points/1/1: seconds must not fall from point to point, got 0.5\n"
        "f.json: /collectives/0/points/2/0: bytes must be strictly ascending, got 2\n"
        "f.json: /collectives/0/points/3/0: bytes must be strictly ascending, got 1\n"
        "f.json: /collectives/0/points/4: must be a pair [bytes, seconds]\n"
        "f.json: /collectives/0/points/5/0: must be > 0, got 0\n");
}

TEST_CASE("wrong tables of dense inflation are refused (SPA 14)") {
  const auto inflation = [](std::string_view ranks, std::string_view factor) {
    return problems(profile(R"(, "network": {}, "dense_inflation": {"ranks": )" +
                            std::string(ranks) + R"(, "factor": )" + std::string(factor) + "}"));
  };
  CHECK(inflation("[4, 8]", "[1, 2]").empty());
  CHECK(inflation("[8, 4]", "[1, 2]") ==
        "f.json: /dense_inflation/ranks/1: ranks must be strictly ascending, got 4 after 8\n");
  CHECK(inflation("[4, 4]", "[1, 2]") ==
        "f.json: /dense_inflation/ranks/1: ranks must be strictly ascending, got 4 after 4\n");
  CHECK(inflation("[4, 8]", "[1, 0]") ==
        "f.json: /dense_inflation/factor/1: factor must be > 0, got 0\n");
  CHECK(inflation("[4, 8]", "[-1, 1]") ==
        "f.json: /dense_inflation/factor/0: factor must be > 0, got -1\n");
  CHECK(inflation("[0]", "[1]") ==
        "f.json: /dense_inflation/ranks/0: must be an integer >= 1, got 0\n");
  CHECK(inflation("[]", "[]") == "f.json: /dense_inflation/ranks: needs at least one entry\n");
}

TEST_CASE("costs of unknown methods and under unknown keys are refused with the nearest name") {
  const auto costs = [](std::string_view text) {
    return problems(profile(R"(, "network": {}, "compression_costs": )" + std::string(text)));
  };
  CHECK(costs(R"({"any": {"merge_s": 1}, "topk": {"form": "n_log_n", "scatter_s": 0}})").empty());
  CHECK(costs(R"({"gtopk": {"select_s": 1}})") ==
        "f.json: /compression_costs/gtopk: unknown compression method \"gtopk\"; did you mean "
        "\"gtopk_tree\"?\n");
  CHECK(costs(R"({"truncate16": {"select_s": 1}})") ==
        "f.json: /compression_costs/truncate16: method truncate16 has no costs\n");
  CHECK(costs(R"({"topk": {"select_s_per_elment": 1}})") ==
        "f.json: /compression_costs/topk/select_s_per_elment: unknown key, did you mean "
        "select_s_per_element, select_s_per_entry or select_s_per_element_log2?\n");
  CHECK(costs(R"({"topk": {"merge_s": -1}})") ==
        "f.json: /compression_costs/topk/merge_s: must be >= 0, got -1\n");
  CHECK(costs(R"({"topk": {"form": "linar"}})") ==
        "f.json: /compression_costs/topk/form: unknown form \"linar\"; did you mean "
        "\"linear\"?\n");
}
