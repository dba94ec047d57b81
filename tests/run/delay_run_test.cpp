// A delay in training runs: where every hop waits for the one before, it counts as a latency does;
// on links that differ it counts less.
#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "document/json_text.hpp"
#include "scenario/scenario_text.hpp"
#include "scenario/scenario_tree.hpp"
#include "study/sweep/sweep_file.hpp"
#include "study/sweep/sweep_point.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using stepsim::testing::within;
using study::testing::shipped_files;

namespace {

constexpr std::string_view kBase = R"({
  "kind": "scenario",
  "workload": {"layers": [
    {"name": "a", "forward_s": 0.001, "backward_s": 0.002, "gradient_bytes": 400000},
    {"name": "b", "forward_s": 0.002, "backward_s": 0.003, "gradient_bytes": 200000}]},
  "cluster": {"nodes": 4,
              "network": {"latency_s": 1e-4, "bandwidth_Bps": 1e9, "reduction_Bps": 1e10}},
  "training": {"iterations": 4}, "communication": {"schedule": "wfbp"}})";

using Changes = std::vector<std::pair<std::string, std::string>>;

io::Json with(const Changes& changes) {
  io::Json tree = io::parse_json(kBase, "test.json");
  for (const auto& [pointer, value] : changes) {
    io::assign(tree, pointer, io::parse_json(value, ""));
  }
  return tree;
}

study::Result run(Changes changes, double latency, double delay) {
  changes.emplace_back("/cluster/network/latency_s", std::to_string(latency));
  changes.emplace_back("/cluster/network/delay_s", std::to_string(delay));
  return study::run(
      study::parse_scenario(with(changes), shipped_files(), study::Leftovers::refuse));
}

} // namespace

TEST_CASE("delay: as long as a latency wherever hops are equal") {
  const std::string topk = R"({"method": "topk", "density": 0.01})";
  const std::string tree = R"({"method": "gtopk_tree", "density": 0.01, "round_barriers": true})";
  const std::string server = R"("parameter_server")";
  const std::vector<Changes> all{
      {},
      {{"/communication/schedule", R"("mg_wfbp")"}},
      {{"/communication/schedule", R"("optimal")"}},
      {{"/communication/schedule", R"("priority")"}},
      {{"/communication/collective", R"("be")"}},
      {{"/communication/collective", R"("mst")"}},
      {{"/method", R"("max_plus")"}},
      {{"/method", R"("events")"}},
      {{"/training/algorithm", R"("pipe_sgd")"}},
      {{"/training/algorithm", server}, {"/communication", "{}"}},
      {{"/training/algorithm", server}, {"/communication", "{}"}, {"/training/mode", R"("async")"}},
      {{"/training/algorithm", server},
       {"/communication/schedule", R"("single")"},
       {"/variability", R"({"exchange_cv": 0.3, "stragglers": [{"worker": 1, "factor": 2}]})"}},
      {{"/variability", R"({"exchange_cv": 0.3, "compute_cv": 0.1})"}},
      {{"/communication/schedule", R"("single")"}, {"/communication/compression", topk}},
      {{"/communication/schedule", R"("single")"}, {"/communication/compression", tree}},
      {{"/communication/schedule", R"("single")"},
       {"/communication/compression", R"({"method": "ok_topk", "density": 0.01})"}},
      {{"/communication/compression", R"("quantize8")"}},
  };
  for (const Changes& changes : all) {
    CAPTURE(changes.empty() ? "" : changes.back().second);
    const study::Summary latency = run(changes, 4e-4, 0).summary;
    const study::Summary delay = run(changes, 1e-4, 3e-4).summary;
    CHECK(*delay.iteration_time_s == within(*latency.iteration_time_s, 1e-9));
    CHECK(*delay.communication_s == within(*latency.communication_s, 1e-9));
    CHECK(delay.bottleneck == latency.bottleneck);
    CHECK(*run(changes, 1e-4, 0).summary.communication_s < *delay.communication_s);
  }
}

TEST_CASE("delay: two levels wait for it less often than for a latency") {
  const Changes levels{
      {"/communication/collective", R"("ring")"},
      {"/cluster/gpus_per_node", "4"},
      {"/cluster/intra_network", R"({"latency_s": 1e-6, "bandwidth_Bps": 1e11, "delay_s": 0})"}};
  const double latency = *run(levels, 1e-3, 0).summary.communication_s;
  const study::Result delayed = run(levels, 0, 1e-3);
  CHECK(delayed.method == "max_plus");
  CHECK(*delayed.summary.communication_s < 0.5 * latency);
  Changes inside = levels;
  inside.emplace_back("/cluster/intra_network/delay_s", "0.0005");
  CHECK(*run(inside, 0, 1e-3).summary.communication_s > *delayed.summary.communication_s);
}

TEST_CASE("delay: a calibration gives it, and the scenario replaces it") {
  const std::string given = R"({"calibration": ")" + std::string(STEPSIM_SOURCE_DIR) +
                            R"(/tests/run/delay.calibration.json"})";
  const auto network = [&](const Changes& changes) {
    Changes all{{"/cluster/network", given}};
    all.insert(all.end(), changes.begin(), changes.end());
    return study::parse_scenario(with(all), shipped_files(), study::Leftovers::refuse)
        .cluster.network;
  };
  CHECK(network({}).delay_s == 2e-5);
  CHECK(network({{"/cluster/network/delay_s", "0"}}).delay_s == 0);
  CHECK(network({{"/cluster/network/latency_s", "1e-6"}}).delay_s == 2e-5);
}

TEST_CASE("delay: refused where the network is simulated, whose latency is one already") {
  for (const std::string model : {"flow", "packet"}) {
    const io::Json tree =
        with({{"/cluster/network", R"({"latency_s": 1e-4, "bandwidth_Bps": 1e9, "delay_s": 1e-5,
                                       "packet": {"transport": "dlcp"}})"},
              {"/cluster/network/model", '"' + model + '"'}});
    CHECK_THROWS_WITH_AS(
        (void)study::parse_scenario(tree, shipped_files(), study::Leftovers::refuse),
        ("test.json: /cluster/network/delay_s: delay_s has no meaning for network model " + model +
         ", where latency_s is such a delay already")
            .c_str(),
        InputError);
  }
}

TEST_CASE("delay: a resolved scenario has it, and no other has the key") {
  const auto resolved = [](const Changes& changes) {
    return study::scenario_tree(
        study::parse_scenario(with(changes), shipped_files(), study::Leftovers::refuse));
  };
  const io::Json tree = resolved({{"/cluster/network/delay_s", "1e-5"}});
  CHECK(io::resolve(tree, "/cluster/network/delay_s")->as_double() == 1e-5);
  CHECK(io::resolve(resolved({}), "/cluster/network/delay_s") == nullptr);
}
