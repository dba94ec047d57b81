#include "study/compare.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "base/error.hpp"
#include "document/json_text.hpp"
#include "study/sweep/sweep_helpers.hpp"
#include "testing/paths.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;

namespace {

double number(const io::Json& row, std::string_view key) { return row.find(key)->as_double(); }

// Nodes 1, 2, 4, 8 with 10 samples each.
study::Sweep scaling_sweep(bool batch_size = true) {
  io::Json scenario = test::scenario();
  if (batch_size) {
    io::assign(scenario, "/workload/batch_size", 10);
  }
  return study::sweep_over(
      scenario,
      {study::Axis{"/cluster/nodes", {io::Json(1), io::Json(2), io::Json(4), io::Json(8)}}});
}

} // namespace

TEST_CASE("compare: after an interruption the rows are sorted, and the others are counted") {
  study::Files files(STEPSIM_SOURCE_DIR);
  const study::Sweep sweep = study::sweep_over(
      test::scenario(),
      {study::Axis{"/communication/schedule",
                   {io::Json("wfbp"), io::Json("single"), io::Json("ddp"), io::Json("mg_wfbp")}}});
  int asked = 0;
  study::SweepOptions options{.jobs = 1};
  options.interrupted = [&] { return ++asked > 2; };
  const auto comparison = study::compare(sweep, files, options);
  REQUIRE(!comparison.rows.empty());
  CHECK(number(comparison.rows.front(), "ratio") == 1);
  CHECK(comparison.missing > 0);
  CHECK(comparison.missing + std::ssize(comparison.rows) == 4);
}

TEST_CASE("compare: best first, with the ratio to the first, failed rows last") {
  study::Files files(STEPSIM_SOURCE_DIR);
  const study::Sweep sweep = study::sweep_over(
      test::scenario(),
      {study::Axis{"/cluster/network/bandwidth_Bps", {io::Json(1e9), io::Json(-1), io::Json(4e9)}},
       study::Axis{"/communication/schedule", {io::Json("wfbp"), io::Json("single")}}});
  const auto comparison = study::compare(sweep, files, {.jobs = 2});
  CHECK(comparison.varied == std::vector<std::string>{"bandwidth_Bps", "schedule"});
  CHECK(comparison.failed == 2);
  REQUIRE(comparison.rows.size() == 3 * 2);
  CHECK(comparison.ranking.by == study::BestBy::iteration_time);
  CHECK(comparison.ranking.best == 0);
  const double best = number(comparison.rows[0], "iteration_time_s");
  CHECK(number(comparison.rows[0], "ratio") == 1);
  double last = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    const io::Json& row = comparison.rows[i];
    const double time = number(row, "iteration_time_s");
    CHECK(time >= last);
    CHECK(number(row, "ratio") == time / best);
    CHECK(row.find("error")->is_null());
    CHECK(row.find("method")->as_string() == "closed_form");
    CHECK(row.find("point") == nullptr);
    CHECK(row.find("status") == nullptr);
    last = time;
  }
  for (std::size_t i = 4; i < 6; ++i) {
    const io::Json& row = comparison.rows[i];
    CHECK(number(row, "bandwidth_Bps") == -1);
    CHECK(row.find("iteration_time_s")->is_null());
    CHECK(row.find("ratio")->is_null());
    CHECK(row.find("error")->as_string() == "/cluster/network/bandwidth_Bps: must be > 0, got -1");
  }
}

TEST_CASE("compare: the GPUs that a preset gives a node count as workers") {
  const io::Json scenario = io::parse_json(R"({
    "cluster": {"preset": "pcie3x4", "nodes": 2},
    "workload": {"layers": [{"name": "l", "forward_s": 0.01, "backward_s": 0.02,
                             "gradient_bytes": 4000000}]}})",
                                           "");
  const study::Sweep sweep = study::sweep_over(
      scenario, {study::Axis{"/cluster/preset", {io::Json("pcie3x4"), io::Json("pcie3x8")}}});
  study::Files files(STEPSIM_SOURCE_DIR);
  const auto comparison = study::compare(sweep, files, {});
  CHECK(comparison.batches == std::vector<std::int64_t>{8, 16});
  CHECK(comparison.ranking.by == study::BestBy::throughput);
}

TEST_CASE("compare: where the number of workers varies the most samples per second are the best") {
  study::Files files(STEPSIM_SOURCE_DIR);
  const auto comparison = study::compare(scaling_sweep(), files, {});
  REQUIRE(comparison.rows.size() == 4);
  CHECK(comparison.ranking.batches_differ);
  CHECK(comparison.ranking.by == study::BestBy::throughput);
  CHECK(comparison.batches == std::vector<std::int64_t>{1, 2, 4, 8});
  double most = 0;
  std::size_t best = 4;
  for (std::size_t i = 0; i < 4; ++i) { // in the order of the grid
    const double ranks = std::exp2(i);
    CHECK(number(comparison.rows[i], "nodes") == ranks);
    const double samples = 10 * ranks / number(comparison.rows[i], "iteration_time_s");
    CHECK(number(comparison.rows[i], "samples_per_s") == testing::within(samples, 1e-12));
    best = samples > most ? i : best;
    most = std::max(most, samples);
  }
  CHECK(comparison.ranking.best == best);
  CHECK(best > 0); // one node has the shortest iteration and the fewest samples
  for (const io::Json& row : comparison.rows) {
    CHECK(number(row, "ratio") == testing::within(most / number(row, "samples_per_s"), 1e-12));
  }
}

TEST_CASE("compare: without a batch size workers per iteration time decide") {
  study::Files files(STEPSIM_SOURCE_DIR);
  const auto with = study::compare(scaling_sweep(), files, {});
  const auto without = study::compare(scaling_sweep(false), files, {});
  CHECK(without.rows[0].find("samples_per_s")->is_null());
  CHECK(without.ranking.best == with.ranking.best);
  CHECK(number(without.rows[1], "ratio") == testing::within(number(with.rows[1], "ratio"), 1e-12));
}

TEST_CASE("compare: the criterion can be asked for") {
  study::Files files(STEPSIM_SOURCE_DIR);
  const auto time = study::compare(scaling_sweep(), files, {}, study::BestBy::iteration_time);
  CHECK(time.ranking.best == 0);
  CHECK(number(time.rows[0], "nodes") == 1);
  const auto efficiency = study::compare(scaling_sweep(), files, {}, study::BestBy::efficiency);
  CHECK(efficiency.ranking.best == 0); // one worker: 1
  CHECK(number(efficiency.rows[3], "ratio") ==
        testing::within(1 / number(efficiency.rows[3], "scaling_efficiency"), 1e-12));
}

TEST_CASE("compare: steps of more micro-batches or larger batches are compared by throughput") {
  const auto compared = [](const std::string& training, const std::string& batch,
                           study::Axis axis) {
    const io::Json tree = io::parse_json(
        R"({"kind": "scenario",
      "workload": {"layers": [{"name": "l", "forward_s": 0.1, "backward_s": 0.2, "gradient_bytes": 1000000}]
        )" + batch +
            R"(}, "cluster": {"nodes": 4, "network": {"latency_s": 1e-5, "bandwidth_Bps": 1e7}},
      "training": {)" +
            training + "}}",
        "scenario.json");
    study::Files files(STEPSIM_SOURCE_DIR);
    return study::compare(study::sweep_over(tree, {std::move(axis)}), files, {});
  };
  // A step of sync_sgd takes 4 x 0.3 s and an exchange of 0.15 s, one of pipe_sgd 0.3 s: left out
  // there, the micro-batches count for sync_sgd only.
  const study::Axis algorithms{"/training/algorithm", {"sync_sgd", "pipe_sgd"}};
  for (const std::string batch : {"", R"(, "batch_size": 8)"}) {
    const auto found = compared(R"("micro_batches": 4)", batch, algorithms);
    REQUIRE(found.rows.size() == 2);
    CHECK(found.batches == std::vector<std::int64_t>{16, 4});
    CHECK(found.ranking.by == study::BestBy::throughput);
    const double sync = 16 / number(found.rows[0], "iteration_time_s");
    const double pipe = 4 / number(found.rows[1], "iteration_time_s");
    CHECK(number(found.rows[0], "ratio") == testing::within(std::max(sync, pipe) / sync, 1e-12));
    CHECK(found.ranking.best == (sync >= pipe ? 0 : 1));
  }
  const auto sizes = compared("", R"(, "batch_size": 8)", {"/workload/batch_size", {1, 4}});
  CHECK(sizes.ranking.by == study::BestBy::throughput);
}

TEST_CASE("compare: an axis may go through a list of layers") {
  study::Files files(STEPSIM_SOURCE_DIR);
  const auto comparison =
      study::compare(study::sweep_over(test::scenario(),
                                       {study::Axis{"/workload/layers/0/gradient_bytes",
                                                    {io::Json(4'000'000), io::Json(8'000'000)}}}),
                     files, {});
  CHECK(comparison.failed == 0);
  const auto message_s = [](double bytes) { // ring over 4 ranks, 50 us, 1.25 GB/s
    return 2 * 3 * (50e-6 + bytes / 4 / 1.25e9);
  };
  CHECK(number(comparison.rows[0], "communication_s") ==
        testing::within(message_s(4e6) + message_s(1e6), 1e-12));
  CHECK(number(comparison.rows[1], "communication_s") ==
        testing::within(message_s(8e6) + message_s(1e6), 1e-12));
}

TEST_CASE("compare: equal times keep the order in which they were asked for") {
  study::Files files(STEPSIM_SOURCE_DIR);
  const auto comparison = study::compare(
      study::sweep_over(test::scenario(),
                        {study::Axis{"/name", {io::Json("z"), io::Json("a"), io::Json("m")}}}),
      files, {});
  CHECK(comparison.rows[0].find("name")->as_string() == "z");
  CHECK(comparison.rows[1].find("name")->as_string() == "a");
  CHECK(comparison.rows[2].find("name")->as_string() == "m");
  CHECK(comparison.rows[2].find("ratio")->as_double() == 1);
}
