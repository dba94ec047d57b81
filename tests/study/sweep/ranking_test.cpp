#include "study/sweep/ranking.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "document/json_text.hpp"

using namespace stepsim;
using namespace stepsim::study;

namespace {

std::vector<io::Json> rows_of(const char* text) {
  const io::Json list = io::parse_json(text, "rows.json");
  return {list.as_array().begin(), list.as_array().end()};
}

} // namespace

TEST_CASE("ranking: a run that needs more memory than a device has is never best") {
  const std::vector<std::int64_t> batches{4, 4, 4};
  const std::vector<io::Json> rows = rows_of(
      R"([{"iteration_time_s": 1, "memory_fits": false}, {"iteration_time_s": 3},
          {"iteration_time_s": 2, "memory_fits": true}])");
  CHECK(rank_rows(rows, batches).best == 2);
  const std::vector<io::Json> none = rows_of(
      R"([{"iteration_time_s": 2, "memory_fits": false},
          {"iteration_time_s": 1, "memory_fits": false}])");
  const Ranking ranking = rank_rows(none, std::vector<std::int64_t>{4, 4});
  CHECK_FALSE(ranking.best.has_value());
  CHECK(ranking.ratios.front() == 2); // of the best of them
}

TEST_CASE("ranking: where the number of batches varies samples per second decide") {
  const std::vector<io::Json> rows =
      rows_of(R"([{"iteration_time_s": 1}, {"iteration_time_s": 1.5}])");
  CHECK(rank_rows(rows, std::vector<std::int64_t>{4, 4}).best == 0);
  const Ranking ranking = rank_rows(rows, std::vector<std::int64_t>{4, 8});
  CHECK(ranking.by == BestBy::throughput);
  CHECK(ranking.best == 1);
}
