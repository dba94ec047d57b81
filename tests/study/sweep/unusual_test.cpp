#include "scenario/scenario_tree.hpp"

#include <doctest/doctest.h>

#include "base/error.hpp"
#include "document/json_text.hpp"
#include "scenario/scenario.hpp"
#include "study/sweep/assumed.hpp"
#include "study/sweep/sweep_helpers.hpp"
#include "study/sweep/sweep_point.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;

namespace {

// What the small scenario with one value changed is refused for; "" if it is not.
std::string refused(std::string_view pointer, const io::Json& value, bool allowed = false) {
  io::Json tree = test::scenario();
  io::assign(tree, pointer, value);
  if (allowed) {
    io::assign(tree, "/allow_unusual", true);
  }
  study::Files files(STEPSIM_SOURCE_DIR);
  try {
    (void)study::parse_scenario(tree, files);
  } catch (const InputError& error) {
    return error.problems().front().text();
  }
  return "";
}

} // namespace

TEST_CASE("unusual: a network speed or latency that lacks its unit is asked about") {
  const std::string network = "/cluster/network/";
  CHECK(
      refused(network + "bandwidth_Bps", 25) ==
      "scenario.json: /cluster/network/bandwidth_Bps: 25 bytes/s: did you mean \"25Gbps\"? Below 1 "
      "kB/s needs \"allow_unusual\": true");
  CHECK(refused(network + "bandwidth_Bps", "25B/s") == refused(network + "bandwidth_Bps", 25));
  CHECK(refused(network + "latency_s", 50) ==
        "scenario.json: /cluster/network/latency_s: 50 s: did you mean \"50us\"? From 10 s on "
        "needs \"allow_unusual\": true");
  CHECK(refused(network + "bandwidth_Bps", 2e14) ==
        "scenario.json: /cluster/network/bandwidth_Bps: 2e+14 bytes/s: Above 1e14 bytes/s needs "
        "\"allow_unusual\": true");
  for (const double usual : {1e3, 1e14}) {
    CHECK(refused(network + "bandwidth_Bps", usual).empty());
  }
  CHECK(
      refused(network + "latency_s", 10)
          .starts_with("scenario.json: /cluster/network/latency_s: 10 s: did you mean \"10us\"? "));
  CHECK(refused(network + "latency_s", 9.9).empty());
  CHECK(refused(network + "bandwidth_Bps", 25, true).empty());
}

TEST_CASE("unusual: a bucket of bytes is asked about where a layer holds a megabyte") {
  for (const std::int64_t layer : {999'996, 1'000'000}) {
    const auto refused_for = [&](std::int64_t bucket, bool allowed) {
      io::Json tree = test::scenario();
      io::assign(tree, "/workload/layers/0/gradient_bytes", layer);
      io::assign(tree, "/workload/layers/1/gradient_bytes", 4000);
      io::assign(tree, "/communication/schedule", "ddp");
      io::assign(tree, "/communication/bucket_bytes", bucket);
      io::assign(tree, "/allow_unusual", allowed);
      study::Files files(STEPSIM_SOURCE_DIR);
      try {
        (void)study::parse_scenario(tree, files);
      } catch (const InputError& error) {
        return error.problems().front().text();
      }
      return std::string();
    };
    CHECK(refused_for(25, false) ==
          (layer < 1'000'000 ? ""
                             : "scenario.json: /communication/bucket_bytes: 25 bytes: did you mean "
                               "\"25MiB\"? Below 256 bytes needs \"allow_unusual\": true"));
    CHECK(refused_for(25, true).empty());
    CHECK(refused_for(256, false).empty());
  }
}

TEST_CASE("unusual: a point of a sweep is asked as the scenario is, on the short way too") {
  study::Files files(STEPSIM_SOURCE_DIR);
  const study::Sweep sweep = study::sweep_over(
      test::scenario(), {study::Axis{"/cluster/network/bandwidth_Bps",
                                     {io::Json(1e9), io::Json(25), io::Json(2e9)}}});
  study::PointRunner points(sweep, files);
  CHECK(points.run(0).error.empty());
  CHECK(points.run(1).error.find("did you mean \"25Gbps\"?") != std::string::npos);
  CHECK(points.run(2).error.empty());
}

TEST_CASE("unusual: what is allowed is written with the resolved scenario") {
  io::Json tree = test::scenario();
  io::assign(tree, "/allow_unusual", true);
  io::assign(tree, "/cluster/network/bandwidth_Bps", 25);
  study::Files files(STEPSIM_SOURCE_DIR);
  const io::Json resolved = study::scenario_tree(study::parse_scenario(tree, files));
  CHECK(resolved.find("allow_unusual")->as_bool());
  CHECK(study::parse_scenario(resolved, files).cluster.network.bandwidth_Bps == 25);
}

TEST_CASE("an axis counts if one word of another axis gives it a meaning, wherever that word is") {
  study::Axis bandwidth{"/cluster/network/bandwidth_Bps", {}};
  for (int i = 1; i <= 8; ++i) {
    bandwidth.values.emplace_back(1e9 * i);
  }
  const auto check = [&](const char* third) {
    const study::Axis schedule{"/communication/schedule",
                               {"wfbp", "single", third, "ddp", "fixed_count", "mg_wfbp", "optimal",
                                "eager", "asc_wfbp", "priority", "dear", "mg_wfbp_small_tensors"}};
    const study::Axis cycle{"/communication/cycle_s", {0.002}};
    study::Files files(STEPSIM_SOURCE_DIR);
    study::require_effect(study::sweep_over(test::scenario(), {bandwidth, schedule, cycle}), files);
  };
  CHECK_NOTHROW(check("horovod")); // at none of 32 points that are evenly spread
  CHECK_THROWS_AS(check("ddp"), UsageError);
}

TEST_CASE("a value of an axis that no point can use is refused with its reason") {
  io::Json tree = test::scenario();
  io::assign(tree, "/cluster/gpus_per_node", 4);
  io::assign(tree, "/cluster/intra_network",
             io::Object{{"latency_s", 1e-6}, {"bandwidth_Bps", 1e11}});
  const study::Axis cards{"/cluster/nics_per_node", {1, 2}};
  study::Files files(STEPSIM_SOURCE_DIR);
  const auto check = [&](std::vector<io::Json> collectives) {
    study::require_effect(
        study::sweep_over(
            tree, {study::Axis{"/communication/collective", std::move(collectives)}, cards}),
        files);
  };
  // One card is the least that there is; two count nowhere under a flat ring.
  CHECK_THROWS_WITH_AS(
      check({"ring"}),
      "/cluster/nics_per_node: nics_per_node has no meaning for collective ring, "
      "which is flat and uses one network card of a node; two_level and ring_rails "
      "use them all",
      UsageError);
  CHECK_NOTHROW(check({"auto"}));
  CHECK_NOTHROW(check({"ring", "two_level"}));
}
