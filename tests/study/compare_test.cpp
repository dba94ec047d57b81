#include "study/compare.hpp"

#include <doctest/doctest.h>

#include "base/error.hpp"
#include "study/sweep_helpers.hpp"
#include "testing/paths.hpp"

using namespace stepsim;

TEST_CASE("compare: best first, with the ratio to the first, failed rows last") {
  study::Files files(STEPSIM_SOURCE_DIR);
  const auto comparison = study::compare(test::small_sweep(), files, 2);
  CHECK(comparison.varied == std::vector<std::string>{"nodes", "schedule"});
  CHECK(comparison.failed == 2);
  REQUIRE(comparison.rows.size() == test::kSmallPoints);
  const double best = comparison.rows[0].find("iteration_time_s")->as_double();
  CHECK(comparison.rows[0].find("ratio")->as_double() == 1);
  double last = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    const io::Json& row = comparison.rows[i];
    const double time = row.find("iteration_time_s")->as_double();
    CHECK(time >= last);
    CHECK(row.find("ratio")->as_double() == time / best);
    CHECK(row.find("error")->is_null());
    CHECK(row.find("method")->as_string() == "closed_form");
    CHECK(row.find("point") == nullptr);
    CHECK(row.find("status") == nullptr);
    last = time;
  }
  for (std::size_t i = 4; i < 6; ++i) {
    const io::Json& row = comparison.rows[i];
    CHECK(row.find("nodes")->as_integer() == 0);
    CHECK(row.find("iteration_time_s")->is_null());
    CHECK(row.find("ratio")->is_null());
    CHECK(row.find("error")->as_string() == test::kNodesError);
  }
}

TEST_CASE("compare: equal times keep the order in which they were asked for") {
  study::Files files(STEPSIM_SOURCE_DIR);
  const auto comparison = study::compare(
      study::sweep_over(test::scenario(),
                        {study::Axis{"/name", {io::Json("z"), io::Json("a"), io::Json("m")}}}),
      files, 1);
  CHECK(comparison.rows[0].find("name")->as_string() == "z");
  CHECK(comparison.rows[1].find("name")->as_string() == "a");
  CHECK(comparison.rows[2].find("name")->as_string() == "m");
  CHECK(comparison.rows[2].find("ratio")->as_double() == 1);
}
