// One change to a scenario, as `explain` lists them.
#include "study/step_changes.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "document/json_text.hpp"
#include "document/temporary_folder.hpp"
#include "run/run.hpp"
#include "scenario/files.hpp"
#include "scenario/scenario_tree.hpp"
#include "study/sweep/grid.hpp"
#include "testing/paths.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using stepsim::testing::within;

TEST_CASE("half the latency is half that of further blocks, too, where a calibration gives both") {
  const io::TemporaryFolder folder;
  const std::string file = folder.put("net.json", R"({"schema_version": 1, "name": "net",
      "kind": "network_calibration", "label": "measured", "network": {"latency_s": 1e-5,
      "bandwidth_Bps": 1e9, "block_latency_s": 2e-6}})");
  const auto half = [&](const std::string& collective, const std::string& model) {
    const io::Json tree = io::parse_json(
        R"({"kind": "scenario", "workload": {"layers": [{"name": "a", "forward_s": 0.01,
            "backward_s": 0.02, "gradient_bytes": 40000000}]}, "cluster": {"nodes": 4,
            "network": {"calibration": ")" +
            file + R"(", "model": ")" + model + R"("}}, "communication": {"collective": ")" +
            collective + "\"" + (collective == "lp" ? R"(, "block_bytes": 1000000)" : "") + "}}",
        "test.json");
    study::Files files(STEPSIM_SOURCE_DIR);
    const study::Scenario scenario = study::parse_scenario(tree, files);
    const double before = *study::run(scenario).summary.iteration_time_s;
    const auto changes = study::what_if_lines(tree, scenario, before, files);
    const auto found =
        std::ranges::find(changes, "half the latency of the network", &study::WhatIf::change);
    REQUIRE(found != changes.end());
    return before - found->step_s;
  };
  // The first block waits for a latency on each of 3 hops of the reduction. Behind it follow 39
  // blocks of the reduction and 40 of the broadcast, whose first one does not wait for the last.
  CHECK(half("lp", "alpha_beta") == within(3 * 5e-6 + 79 * 1e-6, 1e-9));
  CHECK(half("ring", "alpha_beta") == within(2 * 3 * 5e-6, 1e-9));
  CHECK(half("lp", "flow") > 0);
}

TEST_CASE("one network card more and another collective are tried") {
  const io::Json tree = io::parse_json(
      R"({"kind": "scenario", "workload": {"layers": [{"name": "a", "forward_s": 0.01,
          "backward_s": 0.02, "gradient_bytes": 400000000}]}, "cluster": {"nodes": 4,
          "gpus_per_node": 4, "network": {"latency_s": 1e-5, "bandwidth_Bps": 1e9},
          "intra_network": {"latency_s": 1e-6, "bandwidth_Bps": 1e11}},
          "communication": {"collective": "ring_rails"}})",
      "test.json");
  study::Files files(STEPSIM_SOURCE_DIR);
  const study::Scenario scenario = study::parse_scenario(tree, files);
  const double before = *study::run(scenario).summary.iteration_time_s;
  const auto changes = study::what_if_lines(tree, scenario, before, files);
  const auto step = [&](const std::string& change) {
    const auto found = std::ranges::find(changes, change, &study::WhatIf::change);
    REQUIRE(found != changes.end());
    return found->step_s;
  };
  CHECK(step("one network card per node more") ==
        study::changed_step(tree, {"/cluster/nics_per_node=2"}, files)->step_s);
  CHECK(step("one network card per node more") < before);
  CHECK(step("collective two_level") ==
        study::changed_step(tree, {"/communication/collective=two_level"}, files)->step_s);
}

TEST_CASE("every row of what-if is a run that its assignments give") {
  int rows = 0;
  for (
      const char* keys :
      {R"("communication": {"schedule": "ddp", "bucket_bytes": 1000000, "collective": "ring",
                             "ring_startup": "2P"})",
       R"("communication": {"schedule": "priority", "preset": "p3"})",
       R"("communication": {"schedule": "dear", "bucket_bytes": 4000000})",
       R"("communication": {"schedule": "horovod", "fusion_bytes": 0, "blocking": true})",
       R"("communication": {"schedule": "asc_wfbp", "concurrency": 3})",
       R"("communication": {"collective": "lp", "block_bytes": 1000000}, "training":
            {"algorithm": "pipe_sgd", "pipeline_width": 2, "update_s": 1e-3})",
       R"("training": {"sharding": {"strategy": "zero1"}, "micro_batches": 2})",
       R"("training": {"overlap": {"compute": 1.1}}, "variability": {"compute_cv": 0.1}, "communication":
            {"compression": {"method": "topk", "density": 0.01, "costs": {"select_s": 1e-4}}})"}) {
    CAPTURE(std::string(keys));
    const io::Json tree = study::with_short_forms_expanded(io::parse_json(
        R"({"kind": "scenario", "workload": {"layers": [
            {"name": "a", "forward_s": 0.01, "backward_s": 0.02, "gradient_bytes": 40000000},
            {"name": "b", "forward_s": 0.01, "backward_s": 0.02, "gradient_bytes": 4000000}]},
            "cluster": {"nodes": 4, "network": {"latency_s": 1e-5, "bandwidth_Bps": 1e9}}, )" +
            std::string(keys) + "}",
        "test.json"));
    study::Files files(STEPSIM_SOURCE_DIR);
    const study::Scenario scenario = study::parse_scenario(tree, files);
    const double before = *study::run(scenario).summary.iteration_time_s;
    for (const study::WhatIf& row : study::what_if_lines(tree, scenario, before, files)) {
      io::Json changed = tree;
      for (const std::string& text : row.set) {
        auto [pointer, value] = study::parse_set(text);
        io::assign(changed, pointer, std::move(value));
        changed = study::with_short_forms_expanded(std::move(changed));
      }
      CAPTURE(row.change);
      CHECK(*study::run(study::parse_scenario(changed, files)).summary.iteration_time_s ==
            within(row.step_s, 1e-12));
      ++rows;
    }
  }
  CHECK(rows > 80);
}

TEST_CASE(
    "changes of a step that is merged by omgs, whose planner counts selection, have a range") {
  const io::Json tree = io::parse_json(
      R"({"kind": "scenario", "workload": {"layers": [{"name": "a", "forward_s": 1e-3,
          "backward_s": 3e-3, "gradient_bytes": 40000}]}, "cluster": {"nodes": 4, "network":
          {"latency_s": 1e-5, "bandwidth_Bps": 1e9, "transport": "rdma"}}, "conditions": "typical",
          "communication": {"schedule": "omgs", "compression": {"method": "ok_topk",
          "density": 0.01, "dense_warmup_iterations": 1}}})",
      "test.json");
  study::Files files(STEPSIM_SOURCE_DIR);
  const study::Scenario scenario = study::parse_scenario(tree, files);
  const study::Summary summary = study::run(scenario).summary;
  const auto lines = study::what_if_lines(tree, scenario, *summary.iteration_time_s, files,
                                          {.parts = summary.interval_parts});
  CHECK(lines.size() > 1);
  CHECK(std::ranges::all_of(lines,
                            [](const study::WhatIf& line) { return line.gain_range.has_value(); }));
}

TEST_CASE("changes: what would run for long is left out, and said") {
  std::string layers;
  for (int l = 0; l < 100; ++l) {
    layers += std::string(l > 0 ? "," : "") + R"({"name": "l)" + std::to_string(l) +
              R"(", "forward_s": 0.01, "backward_s": 0.02, "gradient_bytes": 40000000})";
  }
  const io::Json tree = study::with_short_forms_expanded(io::parse_json(
      R"({"kind": "scenario", "workload": {"layers": [)" + layers +
          R"(]}, "cluster": {"nodes": 2000, "network": {"model": "packet", "packet": {"transport": "reno"}},
          "topology": {"preset": "star", "hosts": 2000, "bandwidth_Bps": 1e9, "latency_s": 1e-5}}})",
      "test.json"));
  study::Files files(STEPSIM_SOURCE_DIR);
  const study::Scenario scenario = study::parse_scenario(tree, files);
  const std::vector<study::ChangeKind> kinds{study::ChangeKind::network};
  std::vector<std::string> warnings;
  CHECK(study::what_if_lines(tree, scenario, 10, files, {.kinds = kinds, .warnings = &warnings})
            .empty());
  REQUIRE(warnings.size() == 1);
  CHECK(warnings.front().starts_with("not tried, because each takes more than 10 s: "));
  CHECK(warnings.front().find("twice the bandwidth") != std::string::npos);
}
