#include "files/cost_file.hpp"

#include <doctest/doctest.h>

#include "json/json_parse.hpp"
#include "json/json_text.hpp"
#include "json/problem_text.hpp"

using namespace stepsim;
using namespace stepsim::io;

namespace {

std::string problems(std::string_view text) { return problem_text(text, parse_cost); }

} // namespace

TEST_CASE("a cost file is read and written back") {
  const std::string_view text =
      R"({"kind":"cost","op":"allreduce","ranks":8,"schema_version":1,"table":[[4,0.5],[1024,2]]})";
  const CostPoints cost = parse_cost(parse_json(text, ""));
  CHECK(cost.op == "allreduce");
  CHECK(cost.ranks == 8);
  CHECK(cost.table == std::vector<std::pair<double, double>>{{4, 0.5}, {1024, 2}});
  CHECK(compact(to_json(cost)) == text);
}

TEST_CASE("wrong tables are refused with pointer and rule") {
  CHECK(problems(R"({"table": [[4, 1]]})") == "f.json: /table: needs at least 2 points\n");
  CHECK(problems(R"({"table": [[4, 1], [4, 2]]})") ==
        "f.json: /table/1/0: bytes must be strictly ascending, got 4\n");
  CHECK(problems(R"({"table": [[0, 1], [4, 0]]})") == "f.json: /table/0/0: must be > 0, got 0\n"
                                                      "f.json: /table/1/1: must be > 0, got 0\n");
  CHECK(problems(R"({"table": [[1], {}]})") ==
        "f.json: /table/0: must be a pair [bytes, seconds]\n"
        "f.json: /table/1: must be a pair [bytes, seconds]\n");
  CHECK(problems("{}") == "f.json: /table: required (a list of [bytes, seconds])\n");
  CHECK(problems(R"({"table": 5})") ==
        "f.json: /table: must be a list of [bytes, seconds], got 5\n");
}
