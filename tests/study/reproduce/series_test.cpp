// Series and cells: selection, the other record, formulas.
#include "study/reproduce/paper_records.hpp"

#include <doctest/doctest.h>

#include "base/error.hpp"
#include "document/json_text.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using namespace stepsim::reproduce;
using stepsim::testing::within;

namespace {

// Times of two ways over the number of nodes: "slow" takes n, "fast" 1 up to 4 nodes, then 8.
Reproduced times() {
  Reproduction paper;
  paper.file = "f.json";
  return decide(std::move(paper), {{"t", records_of_lines(R"({"record":"header"}
{"record":"point","way":"slow","nodes":2,"s":2}
{"record":"point","way":"slow","nodes":4,"s":4}
{"record":"point","way":"slow","nodes":8,"s":8}
{"record":"point","way":"fast","nodes":2,"s":1}
{"record":"point","way":"fast","nodes":4,"s":1}
{"record":"point","way":"fast","nodes":8,"s":8.0}
)",
                                                          "t.jsonl")}});
}

Series of(const char* way) {
  return {.run = "t", .where = {{"way", way}}, .when = "", .other = {}, .place = "/x"};
}

Series fast_over_slow() {
  Series series = of("fast");
  series.other = Other{.run = "", .where = {{"way", "slow"}}, .match = {{"nodes", "nodes"}}};
  return series;
}

double cell(Series series, const char* value, Reduce reduce) {
  return evaluate(
      Cell{.series = std::move(series), .value = value, .reduce = reduce, .group = {}, .with = ""},
      times());
}

} // namespace

TEST_CASE("series: a formula sees the record and its other") {
  CHECK(cell(fast_over_slow(), "other_s / s", Reduce::max) == 4);
  CHECK(cell(fast_over_slow(), "other_s / s", Reduce::min) == 1);
  CHECK(cell(fast_over_slow(), "other_s / s", Reduce::median) == 2);
  CHECK(cell(fast_over_slow(), "other_s / s", Reduce::mean) == within((2.0 + 4 + 1) / 3, 1e-12));
  CHECK(cell(of("slow"), "s", Reduce::sum) == 2 + 4 + 8);
}

TEST_CASE("series: `when` keeps the records at which a formula is above 0") {
  Series series = fast_over_slow();
  series.when = "other_s - s"; // where fast is faster
  CHECK(cell(series, "nodes", Reduce::max) == 4);
  CHECK(cell(series, "nodes", Reduce::count) == 2);
}

TEST_CASE("series: same_best counts the groups in which two opinions agree") {
  Cell agree{.series = {.run = "t", .where = {}, .when = "", .other = {}, .place = ""},
             .value = "s",
             .reduce = Reduce::same_best,
             .group = {"nodes"},
             .with = "10 - s"}; // the other way round: they agree where both are equal
  CHECK(evaluate(agree, times()) == 1);
  agree.with = "s";
  CHECK(evaluate(agree, times()) == 3);
}

TEST_CASE("series: errors name the place in the file") {
  CHECK_THROWS_WITH(cell(of("slow"), "s", Reduce::one),
                    "f.json: /x: 3 records, but one is asked for");
  CHECK_THROWS_WITH(cell(of("slew"), "s", Reduce::max),
                    doctest::Contains("f.json: /x: no record of t has"));
  CHECK_THROWS_WITH(cell(of("slow"), "seconds", Reduce::max),
                    doctest::Contains("unknown variable"));
  CHECK_THROWS_WITH(cell(of("slow"), "s / (nodes - nodes)", Reduce::max),
                    doctest::Contains("is not finite"));
  Series lost = fast_over_slow();
  lost.other->where = {{"way", "none"}};
  CHECK_THROWS_WITH(cell(lost, "s", Reduce::max), doctest::Contains("no other record"));
}

TEST_CASE("series: numbers of one input that were added in another order are the same") {
  CHECK(same_value(0.1 + 0.2, 0.3));
  CHECK(same_value(4, 4.0));
  CHECK(!same_value(4, 4.1));
  CHECK(!same_value("4", 4));
}
