#include "scenario/files.hpp"

#include <doctest/doctest.h>

#include "document/json_text.hpp"
#include "scenario/scenario_exchange.hpp"
#include "scenario/scenario_text.hpp"

using namespace stepsim;
using namespace stepsim::study;

namespace {

const CostFile& lines() {
  static const CostFile file = read_cost_file(io::parse_json(
      R"({"kind": "cost", "costs": [
        {"op": "allgather", "ranks": 8, "grade": "bound", "startup_s": 9, "per_byte_s": 9,
         "bus_bandwidth_Bps": 1},
        {"op": "allreduce", "ranks": 2, "grade": "measured", "startup_s": 1e-5,
         "per_byte_s": 2e-10, "bus_bandwidth_Bps": 5e9},
        {"op": "allreduce", "ranks": 8, "grade": "bound", "startup_s": 3e-5,
         "per_byte_s": 1e-11, "bus_bandwidth_Bps": 2.014e11}]})",
      "c.json"));
  return file;
}

// The problems of choosing from `file`, one per line.
std::string problems_of(const CostFile& file, std::optional<std::int64_t> ranks) {
  io::Problems problems;
  const io::Json place = io::parse_json(R"({"cost": "c.cost.json"})", "s.json");
  (void)all_reduce_cost(file, ranks, *place.find("cost"), problems);
  try {
    problems.throw_if_any();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

ChosenCost chosen(std::optional<std::int64_t> ranks) {
  io::Problems problems;
  ChosenCost cost = all_reduce_cost(lines(), ranks, io::Json("c.cost.json"), problems);
  CHECK(problems.empty());
  return cost;
}

} // namespace

TEST_CASE("of a file of lines the all-reduce of as many ranks counts") {
  CHECK(chosen(2).cost.seconds(1e6, 1) == 1e-5 + 1e6 * 2e-10);
  CHECK(chosen(2).warning.empty());
  CHECK(chosen(8).cost.seconds(1e6, 1) == 3e-5 + 1e6 * 1e-11);
  CHECK(chosen(8).warning == "link at least 201 GB/s: times are upper bounds");
}

TEST_CASE("a file without an all-reduce of as many ranks is refused, with what it has") {
  CHECK(problems_of(lines(), 4) ==
        "s.json: /cost: no allreduce with 4 ranks, the file has allgather with 8 ranks, allreduce "
        "with 2 ranks, allreduce with 8 ranks");
  CHECK(problems_of(lines(), std::nullopt) ==
        "s.json: /cost: needs one allreduce, the file has allgather with 8 ranks, allreduce with 2 "
        "ranks, allreduce with 8 ranks");
  const CostFile table = read_cost_file(
      io::parse_json(R"({"kind": "cost", "ranks": 8, "table": [[1, 1], [2, 2]]})", "c.json"));
  CHECK(problems_of(table, 8).empty());
  CHECK(problems_of(table, std::nullopt).empty());
  CHECK(problems_of(table, 4) == "s.json: /cost: measured with 8 ranks, the cluster has 4");
}

TEST_CASE("points of another operation are no cost of an all-reduce") {
  const auto table = [](const std::string& op) {
    return read_cost_file(io::parse_json(R"({"kind": "cost", "op": ")" + op +
                                             R"(", "ranks": 8, "table": [[1, 1], [2, 2]]})",
                                         "c.json"));
  };
  CHECK(problems_of(table("allreduce"), 8).empty());
  CHECK(problems_of(table("broadcast"), 8) ==
        "s.json: /cost: the times are those of broadcast, must be those of allreduce");
}
