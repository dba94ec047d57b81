// Sweeps whose points are collectives: records, shards, resuming, merging, and what their hash
// knows.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/error.hpp"
#include "document/json_text.hpp"
#include "run/collective_record.hpp"
#include "study/sweep/rows.hpp"
#include "study/sweep/sweep.hpp"
#include "study/sweep/sweep_helpers.hpp"

using namespace stepsim;
using study::RecordFormat;

namespace {

io::Json collective() {
  return io::parse_json(R"({"kind": "collective", "op": "allreduce", "algorithm": "ring",
      "ranks": 4, "bytes": 1000000, "network": {"latency_s": 1e-5, "bandwidth_Bps": 1e9},
      "compression": {"density": 0.01}})",
                        "c.json");
}

// Ranks 2, 0 (fails), 6 x ring, topk, auto.
study::Sweep collectives() {
  return study::sweep_over(
      collective(),
      {study::Axis{"/ranks", {io::Json(2), io::Json(0), io::Json(6)}},
       study::Axis{"/algorithm", {io::Json("ring"), io::Json("topk"), io::Json("auto")}}});
}
constexpr std::int64_t kPoints = 3 * 3;

std::string hash(const study::Sweep& sweep) {
  study::Files files(STEPSIM_SOURCE_DIR);
  return study::grid_hash(sweep, files);
}

} // namespace

TEST_CASE("sweep of collectives: a record has the members that the collective alone gives") {
  const study::Sweep sweep = collectives();
  study::Files files(STEPSIM_SOURCE_DIR);
  const auto lines = test::lines_of(test::sweep_text(sweep, RecordFormat::jsonl));
  REQUIRE(lines.size() == 1 + kPoints);
  for (std::int64_t point = 0; point < kPoints; ++point) {
    const io::Json row = io::parse_json(lines[static_cast<std::size_t>(point) + 1], "");
    CHECK(row.find("/ranks")->is_integer()); // the record has ranks of its own
    if (row.find("/ranks")->as_integer() == 0) {
      CHECK(row.find("error")->as_string() == "/ranks: must be an integer in [1, 1048576], got 0");
      CHECK(row.find("seconds")->is_null());
      CHECK(row.find("max_plus_s")->is_null());
      CHECK(row.find("method")->is_null());
      continue;
    }
    const io::Json alone = study::evaluate_collective(
        study::parse_collective(study::scenario_at(sweep.base, sweep.grid, point), files,
                                study::Leftovers::ignore),
        {.max_seconds = 1});
    for (const auto& [key, value] : alone.as_object()) {
      CAPTURE(key);
      REQUIRE(row.find(key) != nullptr);
      CHECK(io::compact(*row.find(key)) == io::compact(value));
    }
  }
}

TEST_CASE(
    "sweep of collectives: CSV has a column for every number of an object and none for lists") {
  const auto lines = test::lines_of(test::sweep_text(collectives(), RecordFormat::csv));
  REQUIRE(lines.size() == 2 + kPoints);
  CHECK(lines[1].starts_with("point,status,/ranks,/algorithm,"));
  CHECK(lines[1].find(",bytes_sent_per_rank_min,") != std::string::npos);
  CHECK(lines[1].find(",lower_bounds_latency_s,") != std::string::npos);
  CHECK(lines[1].find("warnings") == std::string::npos);
  CHECK(lines[1].ends_with(",method,error"));
  const auto cells = [](const std::string& line) { return std::ranges::count(line, ','); };
  CHECK(cells(lines[2]) == cells(lines[1]));
}

TEST_CASE("sweep of collectives: shards, threads and resuming give the bytes of one run") {
  const test::Folder folder("collectives");
  const study::Sweep sweep = collectives();
  study::Files files(STEPSIM_SOURCE_DIR);
  for (const RecordFormat format : {RecordFormat::jsonl, RecordFormat::csv}) {
    const std::string ending = format == RecordFormat::csv ? ".csv" : ".jsonl";
    study::SweepOptions options = test::options_for(folder.file("whole" + ending));
    options.format = format;
    CHECK(study::run_sweep(sweep, files, options).failed == 3);
    const std::string whole = test::read_text(options.output);
    std::vector<std::string> shards;
    for (std::int64_t index = 0; index < 2; ++index) {
      options.shard = {index, 2};
      options.jobs = 2;
      options.output = shards.emplace_back(folder.file("part" + std::to_string(index) + ending));
      (void)study::run_sweep(sweep, files, options);
      const std::string part = test::read_text(options.output);
      test::write_text(options.output, part.substr(0, part.size() * 2 / 3));
      options.if_exists = study::IfExists::resume;
      (void)study::run_sweep(sweep, files, options);
      options.if_exists = study::IfExists::refuse;
      CHECK(test::read_text(options.output) == part);
    }
    const std::string merged = folder.file("merged" + ending);
    CHECK(study::merge_sweeps(shards, merged).missing.empty());
    CHECK(test::read_text(merged) == whole);
  }
}

TEST_CASE("sweep of collectives: the hash knows values and contents, not defaults and names") {
  const std::string plain = hash(collectives());
  const auto with = [](std::string_view key, io::Json value) {
    study::Sweep sweep = collectives();
    sweep.base.set(key, std::move(value));
    return hash(sweep);
  };
  CHECK(with("root", io::Json(0)) == plain);
  CHECK(with("options", io::parse_json(R"({"cost_form": "exact"})", "")) == plain);
  CHECK(with("method", io::Json("auto")) == plain);
  CHECK(with("bytes", io::Json(1000001)) != plain);
  CHECK(with("options", io::parse_json(R"({"cost_form": "paper"})", "")) != plain);

  const test::Folder folder("collective-hash");
  const std::string topology =
      R"({"preset": "star", "hosts": 16, "latency_s": 1e-6, "bandwidth_Bps": )";
  const auto with_file = [&](const std::string& key, const std::string& text) {
    const std::string file = folder.file("file.json");
    test::write_text(file, text);
    return with(key, io::Json(file));
  };
  CHECK(with_file("topology", topology + "1e9}") == with_file("topology", topology + "1e9} "));
  CHECK(with_file("topology", topology + "1e9}") != with_file("topology", topology + "2e9}"));
  CHECK(with_file("links", R"({"links": []})") !=
        with_file("links", R"({"links": [], "enter_s": [1, 2]})"));
  CHECK(with_file("sizes", "[1, 2]") != with_file("sizes", "[1, 3]"));
}

TEST_CASE("sweep of collectives: nothing is random in them, and no training is compared") {
  CHECK_THROWS_WITH_AS(
      (void)study::parse_sweep(
          io::parse_json(R"({"kind": "sweep", "replications": 2,
          "scenario": )" + io::compact(collective()) +
                             R"(, "axes": [{"field": "/ranks", "values": [2]}]})",
                         "s.json")),
      "s.json: /replications: has no meaning for a collective: nothing in it is random",
      InputError);
  study::Files files(STEPSIM_SOURCE_DIR);
  CHECK_THROWS_WITH_AS(
      (void)study::rows_of(collectives(), files, {}),
      "c.json: /kind: this is a file of kind collective: stepsim collective runs it", InputError);
}
