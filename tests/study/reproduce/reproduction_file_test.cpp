// Files of kind reproduction: what they say and what wrong ones get.
#include "study/reproduce/reproduction_file.hpp"

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
