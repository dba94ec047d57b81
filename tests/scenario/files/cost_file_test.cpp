#include "scenario/files/samples_file.hpp"

#include <doctest/doctest.h>

#include "document/json_text.hpp"
#include "document/problem_text.hpp"

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

TEST_CASE("a cost file of lines, one for each operation, is read and written back") {
  const std::string_view text =
      R"({"costs":[{"bus_bandwidth_Bps":4.04e+10,"bus_bandwidth_high_Bps":4.2e+10,)"
      R"("bus_bandwidth_low_Bps":3.9e+10,"collectives":24,"grade":"measured",)"
      R"("largest_bytes":1576964,"op":"allreduce","per_byte_s":4.3e-11,"ranks":8,)"
      R"("smallest_bytes":448,"startup_high_s":2.5e-05,"startup_low_s":2.2e-05,)"
      R"("startup_s":2.3e-05},{"bus_bandwidth_Bps":2e+11,"bus_bandwidth_high_Bps":null,)"
      R"("bus_bandwidth_low_Bps":2e+11,"grade":"bound","op":"allgather","per_byte_s":4e-12,)"
      R"("ranks":8,"startup_high_s":3e-05,"startup_low_s":0,"startup_s":3e-05}],)"
      R"("kind":"cost","schema_version":1})";
  const CostPoints cost = parse_cost(parse_json(text, ""));
  REQUIRE(cost.costs.size() == 2);
  CHECK(cost.table.empty());
  CHECK(cost.costs[0].grade == CostGrade::measured);
  CHECK(cost.costs[0].startup_high_s == 2.5e-5);
  CHECK(cost.costs[1].grade == CostGrade::bound);
  CHECK_FALSE(cost.costs[1].bus_bandwidth_high_Bps.has_value());
  CHECK(cost.costs[1].collectives == 0);
  CHECK(compact(to_json(cost)) == text);
}

TEST_CASE("wrong lines are refused with pointer and rule") {
  const std::string line = R"({"op": "allreduce", "ranks": 8, "grade": "bound", "startup_s": 1,
                               "per_byte_s": 1e-9, "bus_bandwidth_Bps": 1e9})";
  const auto file = [](const std::string& rest) { return problems("{" + rest + "}"); };
  CHECK(file(R"("costs": [)" + line + "]") == "");
  CHECK(file(R"("costs": [)" + line + "," + line + "]") ==
        "f.json: /costs/1: allreduce with 8 ranks appears twice\n");
  CHECK(file(R"("costs": [], "table": [[1, 1], [2, 2]])") ==
        "f.json: give either table or costs\n");
  CHECK(file(R"("ranks": 8, "costs": [)" + line + "]") ==
        "f.json: /ranks: belongs to a table: each element of costs has its own\n");
  CHECK(file(R"("costs": [])") == "f.json: /costs: needs at least one cost\n");
  CHECK(file(R"("costs": [{"op": "allreduce", "ranks": 0, "grade": "good", "startup_s": -1,
                            "per_byte_s": 0, "bus_bandwidth_Bps": 1}])") ==
        "f.json: /costs/0/ranks: must be an integer >= 1, got 0\n"
        "f.json: /costs/0/grade: unknown grade \"good\"; one of measured, bound\n"
        "f.json: /costs/0/startup_s: must be >= 0, got -1\n"
        "f.json: /costs/0/per_byte_s: must be > 0, got 0\n");
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
