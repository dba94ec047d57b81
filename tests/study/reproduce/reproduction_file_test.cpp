// Files of kind reproduction: what they say and what wrong ones get.
#include "study/reproduce/paper_records.hpp"

#include <doctest/doctest.h>

#include "base/error.hpp"
#include "document/json_text.hpp"
#include "study/reproduce/reproduction_keys.hpp"

using namespace stepsim;

namespace {

io::Json example() {
  return io::parse_json(reproduce::keys::kReproductionFile.examples.front(), "figures.json");
}

// The example with a value changed: what it gets, or "".
std::string problem(const std::string& pointer, const std::string& value) {
  io::Json tree = example();
  io::assign(tree, pointer, io::parse_json(value, "figures.json"));
  try {
    (void)reproduce::parse_reproduction(tree);
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

} // namespace

TEST_CASE("reproduction file: runs, figures and claims") {
  const reproduce::Reproduction paper = reproduce::parse_reproduction(example());
  CHECK(paper.name == "tiny");
  REQUIRE(paper.runs.size() == 1);
  CHECK(paper.runs[0].argv.front() == "collective");
  REQUIRE(paper.figures.size() == 1);
  CHECK(paper.figures[0].x.scale == plot::Scale::log2);
  CHECK(paper.figures[0].panels[0].curves[0].y == "1000 * closed_form_s");
  REQUIRE(paper.claims.size() == 1);
  CHECK(paper.claims[0].ours[0].series.other->where.size() == 1);
  CHECK(paper.claims[0].low == 1);
  CHECK(!paper.claims[0].high);
}

TEST_CASE("reproduction file: names of runs and figures are looked up when it is read") {
  CHECK(problem("/figures/0/runs", R"(["rong"])") == "figures.json: figure R1: no run rong");
  CHECK(problem("/claims/0/figure", R"("R9")") == "figures.json: claim slower: no figure R9");
}

TEST_CASE("reproduction file: a claim has numbers with a limit, or a reason") {
  CHECK(problem("/claims/0/low", "null") ==
        "figures.json: /claims/0: give low or high: what decides whether it is met");
  CHECK(problem("/claims/0/ours", "[]") ==
        "figures.json: /claims/0: give ours, or the reason why it cannot be compared");
  CHECK(problem("/claims/0/label", R"("rumour")").starts_with("figures.json: /claims/0/label"));
}

TEST_CASE("reproduction file: wrong types are told with their place and value") {
  CHECK(problem("/words", R"({"a": 5})") == "figures.json: /words/a: must be a text, got 5");
  CHECK(problem("/words", R"({"a": null})") == "figures.json: /words/a: must be a text, got null");
  CHECK(problem("/words", "5") == "figures.json: /words: must be an object, got 5");
  CHECK(problem("/first", R"(["a", 5])") == "figures.json: /first/1: must be a text, got 5");
  const std::string other = "/claims/0/ours/0/other";
  CHECK(problem(other, R"({"match": {"a": 7}})") ==
        "figures.json: " + other + "/match/a: must be a text, got 7");
  CHECK(problem(other, R"({"where": 7})") ==
        "figures.json: " + other + "/where: must be an object, got 7");
}

TEST_CASE("reproduction file: the rules that predict speeds are checked as the rest") {
  const auto predicting = [](const std::string& pointer, const std::string& value) {
    io::Json tree = example();
    io::assign(tree, "/tables",
               io::parse_json(R"([{"id": "t", "file": "t.csv", "source": "x",
      "predict": {"bus_latency_s": 0, "buses": {"a": 1e9}, "bus_kinds": {"n": "nvlink"},
        "fabrics": {"f": {"latency_s": 0, "share": 1, "transport": "tcp"}},
        "methods": {"m": {"schedule": "wfbp"}}, "schedules": {"wfbp": {"bucket_bytes": 1}}}}])",
                              "figures.json"));
    const std::string place = "/tables/0/predict" + pointer;
    io::assign(tree, place, io::parse_json(value, "figures.json"));
    try {
      const auto paper = reproduce::parse_reproduction(tree);
      CHECK(paper.tables[0].predict->methods.at("m").schedule == "wfbp");
      CHECK(paper.tables[0].predict->bus_kinds.front().second == "nvlink");
      CHECK(paper.tables[0].predict->schedules.at("wfbp").size() == 1);
      return std::string();
    } catch (const InputError& error) {
      const std::string text = error.what();
      return text.starts_with("figures.json: " + place) ? text.substr(14 + place.size()) : text;
    }
  };
  CHECK(predicting("/interval", "1.5").empty());
  CHECK(predicting("/bus_kinds/n", "7").starts_with(": unknown n 7; one of "));
  CHECK(predicting("/publishers", R"({"a": 1})") == "/a: must be a text, got 1");
  CHECK(predicting("/schedules/wfbp", "5") == ": must be an object, got 5");
  CHECK(predicting("/fabrics/f", "5") == ": must be an object, got 5");
  CHECK(predicting("/fabrics/f/shar", "5") == ": unknown key, did you mean share?");
  CHECK(predicting("/buses/a", "0").starts_with(": must be > 0"));
  CHECK(predicting("/methods", "null") == ": must be an object");
}
