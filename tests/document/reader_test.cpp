#include "document/json_text.hpp"
#include "document/reader.hpp"

#include <doctest/doctest.h>

#include <array>

using namespace stepsim;
using namespace stepsim::io;

namespace {

// Runs `read` on the fields of a text and gives the problems, one per line.
template <class Read> std::string problems(std::string_view text, Read read) {
  const Json json = parse_json(text, "s.json");
  Problems found;
  Fields fields(json, found);
  std::vector<base::Problem> list;
  try {
    read(fields);
    list = found.list();
  } catch (const InputError& error) {
    list = error.problems();
  }
  std::string all;
  for (const base::Problem& problem : list) {
    all += problem.text() + "\n";
  }
  return all;
}

constexpr std::array<std::string_view, 3> kWords{"wfbp", "mg_wfbp", "optimal"};

} // namespace

TEST_CASE("values in range are read without a problem") {
  CHECK(problems(R"({"n": 2, "x": 0.5, "m": 1e6, "t": "text", "b": true, "w": "optimal",
                     "l": [1, 2], "z": null})",
                 [](Fields& fields) {
                   CHECK(fields.integer("n", at_least(1)) == 2);
                   CHECK(fields.number("x", above_to(0, 1)) == 0.5);
                   CHECK(fields.integer("m", at_least(1)) == 1'000'000);
                   CHECK(fields.string("t") == "text");
                   CHECK(fields.boolean("b", false));
                   CHECK(fields.word("w", kWords, std::nullopt) == 2);
                   CHECK(fields.array("l", true).size() == 2);
                   CHECK(fields.number("z", at_least(0), 7.0) == 7.0);
                   CHECK(!fields.optional_number("none", at_least(0)));
                   CHECK(fields.string("none", "other") == "other");
                   fields.no_more();
                 })
            .empty());
}

TEST_CASE("a value that is null is not given, and only objects have members") {
  CHECK(problems(R"({"a": null, "b": {"x": 1}, "c": 3})", [](Fields& fields) {
          CHECK(fields.given("a") == nullptr);
          CHECK(fields.given("none") == nullptr);
          CHECK(fields.given("b") != nullptr);
          CHECK(fields.members("a").empty());
          CHECK(fields.members("b").front().first == "x");
          CHECK(fields.members("c", "{rank: seconds}").empty());
          fields.no_more();
        }) == "s.json: /c: must be an object {rank: seconds}, got 3\n");
}

TEST_CASE("wrong values are named with pointer, range and value") {
  CHECK(problems(R"({"nodes": 0, "latency_s": -1, "f": 1.4, "i": 1.5, "s": 3, "b": 1, "l": {},
                     "big": 1e300, "o": "x"})",
                 [](Fields& fields) {
                   (void)fields.integer("nodes", at_least(1));
                   (void)fields.number("latency_s", at_least(0));
                   (void)fields.number("f", above_to(0, 1));
                   (void)fields.integer("i", at_least(1));
                   (void)fields.string("s");
                   (void)fields.boolean("b", false);
                   (void)fields.array("l", false);
                   (void)fields.integer("big", at_least(0));
                   (void)fields.number("o", Range{});
                   (void)fields.number("missing", above(0));
                 }) == "s.json: /nodes: must be an integer >= 1, got 0\n"
                       "s.json: /latency_s: must be >= 0, got -1\n"
                       "s.json: /f: must be in (0, 1], got 1.4\n"
                       "s.json: /i: must be an integer >= 1, got 1.5\n"
                       "s.json: /s: must be a text, got 3\n"
                       "s.json: /b: must be true or false, got 1\n"
                       "s.json: /l: must be a list, got an object\n"
                       "s.json: /big: must be an integer >= 0, got 1e+300\n"
                       "s.json: /o: must be a number, got \"x\"\n"
                       "s.json: /missing: required (a number)\n");
}

TEST_CASE("each number of a pair has its own unit") {
  const Json json = parse_json(R"({"table": [["64KiB", "10us"], ["10us", "64KiB"]],
      "cdf": [["1kB", "50%"], ["50%", 1]]})",
                               "s.json");
  const auto number = [&](const char* list, std::size_t row, std::size_t column) {
    Problems found;
    return checked_number(json.find(list)->as_array()[row].as_array()[column], at_least(0), found);
  };
  CHECK(number("table", 0, 0) == 65536);
  CHECK(number("table", 0, 1) == 10e-6);
  CHECK(!number("table", 1, 0));
  CHECK(!number("table", 1, 1));
  CHECK(number("cdf", 0, 0) == 1000);
  CHECK(number("cdf", 0, 1) == 0.5);
  CHECK(!number("cdf", 1, 0));
}

TEST_CASE("a text with a unit of the key is the number it stands for") {
  const Json json = parse_json(R"({"bandwidth_Bps": "25Gbps", "bucket_bytes": "25MiB",
      "latency_s": "10us", "efficiency": "90%", "ready_s": ["5ms", 0.25],
      "select_s_per_element": "2ns"})",
                               "s.json");
  Problems found;
  Fields fields(json, found);
  CHECK(fields.number("bandwidth_Bps", above(0)) == 25e9 / 8);
  CHECK(fields.integer("bucket_bytes", at_least(1)) == 25 * 1024 * 1024);
  CHECK(fields.number("latency_s", at_least(0)) == 10e-6);
  CHECK(fields.number("efficiency", above_to(0, 1)) == 0.9);
  CHECK(fields.number("select_s_per_element", at_least(0)) == 2e-9);
  const auto ready = fields.array("ready_s", true);
  CHECK(checked_number(ready[0], at_least(0), found) == 5e-3);
  CHECK(checked_number(ready[1], at_least(0), found) == 0.25);
  CHECK(found.empty());
}

TEST_CASE("a text that is no quantity of its key says why") {
  CHECK(problems(R"({"bandwidth_Bps": "25gbps", "bucket_bytes": "1M", "latency_s": "5",
                     "nodes": "200%", "per_byte_s": "1ns", "efficiency": "190%"})",
                 [](Fields& fields) {
                   (void)fields.number("bandwidth_Bps", above(0));
                   (void)fields.integer("bucket_bytes", at_least(1));
                   (void)fields.number("latency_s", at_least(0));
                   (void)fields.integer("nodes", at_least(1));
                   (void)fields.number("per_byte_s", at_least(0));
                   (void)fields.number("efficiency", above_to(0, 1));
                 }) ==
        "s.json: /bandwidth_Bps: must be a number > 0, got \"25gbps\": unknown unit, did you mean "
        "Gbps (bits) or GB/s (bytes)?\n"
        "s.json: /bucket_bytes: must be an integer >= 1, got \"1M\": unknown unit, did you mean MB "
        "(1000000 B) or MiB (1048576 B)?\n"
        "s.json: /latency_s: must be a number >= 0, got \"5\": a number stands without quotes, or "
        "carries a unit\n"
        "s.json: /nodes: must be an integer >= 1, got \"200%\"\n"
        "s.json: /per_byte_s: must be a number >= 0, got \"1ns\"\n"
        "s.json: /efficiency: must be in (0, 1], got \"190%\"\n");
}

TEST_CASE("a tree with numbers keeps texts that are none") {
  const Json json = parse_json(
      R"({"name": "10us", "block_bytes": "optimal", "l": [{"latency_s": "10us"}]})", "s.json");
  CHECK(compact(with_numbers(json)) ==
        R"({"block_bytes":"optimal","l":[{"latency_s":1e-05}],"name":"10us"})");
}

TEST_CASE("a file that is a list has one problem") {
  const Json json = parse_json("[]", "s.json");
  Problems found;
  Fields fields(json, found);
  CHECK_THROWS_WITH_AS(fields.header("scenario"), "s.json: must be an object, got a list",
                       InputError);
}

TEST_CASE("unknown keys and words name the nearest known one") {
  CHECK(problems(R"({"node": 1, "schedule": "mgwfbp", "other": 1})",
                 [](Fields& fields) {
                   (void)fields.integer("nodes", at_least(1), 1);
                   (void)fields.word("schedule", kWords, 0);
                   fields.no_more();
                 }) == "s.json: /schedule: unknown schedule \"mgwfbp\"; did you mean \"mg_wfbp\"?\n"
                       "s.json: /node: unknown key, did you mean nodes?\n"
                       "s.json: /other: unknown key\n");
  CHECK(problems(R"({"schedule": 5})", [](Fields& fields) {
          (void)fields.word("schedule", kWords, 0);
        }) == "s.json: /schedule: unknown schedule 5; one of wfbp, mg_wfbp, optimal\n");
}

TEST_CASE("the header checks version and kind") {
  const auto header = [](Fields& fields) {
    fields.header("scenario");
    fields.no_more();
  };
  CHECK(
      problems(R"({"schema_version": 1, "kind": "scenario", "name": "n", "$schema": "s"})", header)
          .empty());
  CHECK(problems("{}", header).empty());
  CHECK(problems(R"({"schema_version": 2})", header) ==
        "s.json: /schema_version: written by a newer stepsim (this one reads up to 1), got 2\n");
  CHECK(problems(R"({"kind": "sweep"})", header) ==
        "s.json: /kind: this is a file of kind sweep: stepsim sweep runs it; plot and report read "
        "the "
        "records that it writes\n");
  CHECK(problems(R"({"kind": "trace", "layers": [], "ranks": 2})", header) ==
        "s.json: /kind: this is a file of kind trace: name it at /workload/trace of a scenario\n");
  CHECK(problems("{}", [](Fields& fields) { fields.header("cost", true); }) ==
        "s.json: /kind: required (a text)\n");
}

TEST_CASE("something that is no object is one problem") {
  CHECK(problems("[1]", [](Fields& fields) {
          (void)fields.integer("nodes", at_least(1));
          fields.no_more();
        }) == "s.json: must be an object, got a list\n");
}

TEST_CASE("twenty problems are kept, the others counted") {
  const Json json = parse_json("{}", "s.json");
  Problems found;
  found.throw_if_any();
  for (int i = 0; i < 23; ++i) {
    found.add(json, std::string("k").append(std::to_string(i)), "bad");
  }
  for (const std::string_view repeated : {"k3", "k22"}) {
    found.add(json, repeated, "bad");
  }
  try {
    found.throw_if_any();
    FAIL("nothing was thrown");
  } catch (const InputError& error) {
    CHECK(error.problems().size() == 21);
    CHECK(error.problems()[19].text() == "s.json: /k19: bad");
    CHECK(error.problems()[20].text() == "s.json: and 3 more problems");
  }
}
