#include "study/sweep/sweep.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <string>

#include "base/error.hpp"
#include "document/json_text.hpp"
#include "run/run.hpp"
#include "study/sweep/sweep_helpers.hpp"
#include "testing/paths.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using study::Axis;
using study::RecordFormat;
using testing::plus_minus;

TEST_CASE("sweep: a header, then one flat record per point with the summary of its run") {
  const study::Sweep sweep = test::small_sweep();
  const auto lines = test::lines_of(test::sweep_text(sweep, RecordFormat::jsonl));
  REQUIRE(lines.size() == 1 + test::kSmallPoints);
  const io::Json header = io::parse_json(lines[0], "");
  CHECK(header.find("record")->as_string() == "header");
  CHECK(header.find("schema_version")->as_integer() == 1);
  CHECK(header.find("tool")->as_string() == "stepsim test");
  CHECK(header.find("points_total")->as_integer() == test::kSmallPoints);
  study::Files named_files(STEPSIM_SOURCE_DIR);
  CHECK(header.find("grid_hash")->as_string() == study::grid_hash(sweep, named_files));
  CHECK(header.find("shard")->as_integer() == 0);
  CHECK(header.find("shards")->as_integer() == 1);
  CHECK(io::compact(*header.find("axes")) ==
        R"([{"field":"/cluster/nodes","values":[2,0,8]},)"
        R"({"field":"/communication/schedule","values":["wfbp","single"]}])");

  study::Files files(STEPSIM_SOURCE_DIR);
  for (std::int64_t point = 0; point < test::kSmallPoints; ++point) {
    CAPTURE(point);
    const std::string& line = lines[static_cast<std::size_t>(point) + 1];
    const io::Json record = io::parse_json(line, "");
    CHECK(io::compact(record) == line); // keys sorted, shortest numbers
    CHECK(record.find("record")->as_string() == "point");
    CHECK(record.find("point")->as_integer() == point);
    CHECK(record.find("schedule")->as_string() == (point % 2 == 0 ? "wfbp" : "single"));
    const bool fails = point == 2 || point == 3; // 0 nodes
    CHECK(record.find("status")->as_string() == (fails ? "error" : "ok"));
    if (fails) {
      CHECK(record.find("error")->as_string() == test::kNodesError);
      CHECK(record.find("method")->is_null());
      for (const auto& [key, value] : study::flat_summary({})) {
        CAPTURE(key);
        CHECK(record.find(key)->is_null());
      }
      continue;
    }
    const study::Result expected =
        study::run(study::parse_scenario(study::scenario_at(sweep.base, sweep.grid, point), files,
                                         study::Leftovers::ignore),
                   study::Detail::summary);
    CHECK(record.find("error")->is_null());
    CHECK(record.find("method")->as_string() == expected.method);
    for (const auto& [key, value] : study::flat_summary(expected.summary)) {
      CAPTURE(key);
      const io::Json& found = *record.find(key);
      CHECK(found.is_number() == value.is_number());
      if (found.is_number()) {
        CHECK(found.as_double() == plus_minus(value.as_double(), 1e-12));
      } else {
        CHECK(io::compact(found) == io::compact(value));
      }
    }
  }
}

TEST_CASE("sweep: CSV has the columns point, status, varied, sorted summary, method, error") {
  const auto lines = test::lines_of(test::sweep_text(test::small_sweep(), RecordFormat::csv));
  REQUIRE(lines.size() == 2 + test::kSmallPoints);
  REQUIRE(lines[0].starts_with("# {"));
  CHECK(io::parse_json(std::string_view(lines[0]).substr(2), "").find("record")->as_string() ==
        "header");
  std::vector<std::string> summary;
  for (const auto& [key, value] : study::flat_summary({})) {
    summary.push_back(key);
  }
  std::sort(summary.begin(), summary.end());
  std::string expected = "point,status,nodes,schedule";
  for (const std::string& key : summary) {
    expected += "," + key;
  }
  CHECK(lines[1] == expected + ",method,error");
  CHECK(lines[2].starts_with("0,ok,2,wfbp,"));
  CHECK(lines[2].ends_with(",closed_form,"));
  CHECK(lines[4].starts_with("2,error,0,wfbp,,,"));
  CHECK(lines[4].ends_with(",,\"" + std::string(test::kNodesError) + "\""));
}

TEST_CASE("sweep: the same bytes with 1, 2 and 8 threads") {
  std::vector<Axis> axes{Axis{"/cluster/nodes", {}}, Axis{"/cluster/network/latency_s", {}}};
  for (int i = 0; i < 40; ++i) {
    axes[0].values.emplace_back(i % 7 == 3 ? 0 : i + 1);
    axes[1].values.emplace_back(1e-6 * i);
  }
  const study::Sweep sweep = study::sweep_over(test::scenario(), std::move(axes));
  for (const RecordFormat format : {RecordFormat::jsonl, RecordFormat::csv}) {
    const std::string alone = test::sweep_text(sweep, format);
    CHECK(test::lines_of(alone).size() == 40 * 40 + (format == RecordFormat::csv ? 2 : 1));
    CHECK(test::sweep_text(sweep, format, {}, 2) == alone);
    CHECK(test::sweep_text(sweep, format, {}, 8) == alone);
  }
}

TEST_CASE("sweep: words with commas, quotes and line ends survive JSON Lines and CSV") {
  const study::Sweep sweep = study::sweep_over(
      test::scenario(), {Axis{"/name", {io::Json("a\"b"), io::Json("c,d"), io::Json("e\nf")}}});
  const auto records = test::lines_of(test::sweep_text(sweep, RecordFormat::jsonl));
  CHECK(io::parse_json(records[1], "").find("name")->as_string() == "a\"b");
  CHECK(io::parse_json(records[3], "").find("name")->as_string() == "e\nf");
  const std::string csv = test::sweep_text(sweep, RecordFormat::csv);
  CHECK(csv.find("\n0,ok,\"a\"\"b\",") != std::string::npos);
  CHECK(csv.find("\n1,ok,\"c,d\",") != std::string::npos);
  CHECK(csv.find("\n2,ok,\"e\nf\",") != std::string::npos);
}

TEST_CASE(
    "sweep: lists and objects in an axis are written as their text, so that records stay flat") {
  const study::Sweep sweep = study::sweep_over(
      test::scenario(),
      {Axis{"/cluster/network",
            {io::parse_json(R"({"latency_s": 1e-5, "bandwidth_Bps": 1e9})", "")}}});
  const auto lines = test::lines_of(test::sweep_text(sweep, RecordFormat::jsonl));
  CHECK(io::parse_json(lines[1], "").find("network")->as_string() ==
        R"({"bandwidth_Bps":1e+09,"latency_s":1e-05})");
}

TEST_CASE("sweep: replications are numbered") {
  study::Sweep sweep =
      study::sweep_over(test::scenario(), {Axis{"/cluster/nodes", {io::Json(2), io::Json(4)}}});
  sweep.grid.replications = 3;
  const auto lines = test::lines_of(test::sweep_text(sweep, RecordFormat::jsonl));
  REQUIRE(lines.size() == 1 + 2 * 3);
  const io::Json record = io::parse_json(lines[5], ""); // point 4 = nodes 4, replication 1
  CHECK(record.find("nodes")->as_integer() == 4);
  CHECK(record.find("replication")->as_integer() == 1);
}

TEST_CASE(
    "sweep: a scenario of which no point can be read is an error of the file, not of points") {
  io::Json scenario = test::scenario();
  io::assign(scenario, "/cluster/nods", io::Json(3));
  study::Files files(STEPSIM_SOURCE_DIR);
  std::string text;
  CHECK_THROWS_WITH_AS(
      (void)study::run_sweep(
          study::sweep_over(scenario, {Axis{"/cluster/nodes", {io::Json(2), io::Json(4)}}}), files,
          test::options_for(""), text),
      doctest::Contains("nods"), InputError);
  CHECK(text.empty());
}

TEST_CASE("sweep: progress ends at all points and the report counts failures and warnings") {
  for (const int jobs : {1, 3}) {
    study::Files files(STEPSIM_SOURCE_DIR);
    study::SweepOptions options = test::options_for("");
    options.jobs = jobs;
    std::int64_t last = -1; // the first call says 0, before any point
    bool rising = true;
    options.progress = [&](std::int64_t done, std::int64_t total) {
      rising = rising && done > last && total == test::kSmallPoints;
      last = done;
    };
    std::string text;
    const auto report = study::run_sweep(test::small_sweep(), files, options, text);
    CHECK(rising);
    CHECK(last == test::kSmallPoints);
    CHECK(report.points == test::kSmallPoints);
    CHECK(report.failed == 2);
    CHECK(report.first_error == test::kNodesError);
    CHECK(!report.interrupted);
  }
}

TEST_CASE("sweep: a shard holds the lines of its points only") {
  const study::Sweep sweep = test::small_sweep();
  const auto all = test::lines_of(test::sweep_text(sweep, RecordFormat::jsonl));
  const auto part = test::lines_of(test::sweep_text(sweep, RecordFormat::jsonl, {1, 4}));
  REQUIRE(part.size() == 1 + 2); // points 1 and 5
  CHECK(part[1] == all[1 + 1]);
  CHECK(part[2] == all[1 + 5]);
  CHECK(test::lines_of(test::sweep_text(sweep, RecordFormat::jsonl, {7, 8})).size() == 1);
}

TEST_CASE("sweep: the time estimate is positive and falls with the number of threads") {
  study::Files files(STEPSIM_SOURCE_DIR);
  study::SweepOptions options = test::options_for("");
  CHECK(study::estimate(test::small_sweep(), files, options).seconds > 0);
  options.shard = {7, 8};
  CHECK(study::estimate(test::small_sweep(), files, options).seconds == 0);
}
