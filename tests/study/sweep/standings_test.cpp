// Orders that are stated or withheld (CON 4): by hand, and with every factor moved in the scenario.
#include "study/sweep/ranking.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "document/json_text.hpp"
#include "scenario/scenario_text.hpp"
#include "study/sweep/rows.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using namespace stepsim::study;
using stepsim::testing::within;

namespace {

io::Json record(double time_s, const std::string& parts) {
  return io::parse_json(R"({"iteration_time_s": )" + std::to_string(time_s) +
                            R"(, "interval_parts": [)" + parts + "]}",
                        "");
}

std::string part(const std::string& factor, const std::string& high, const std::string& low) {
  return R"({"factor": ")" + factor + R"(", "share": 0, "at_high": )" + high + R"(, "at_low": )" +
         low + "}";
}

const std::string kRest = part("rest", "0", "0");

} // namespace

TEST_CASE("standings: what both runs have in common drops out of their difference") {
  const io::Json x = record(1.09, kRest + "," + part("e_tcp", "-0.30", "0.40"));
  const io::Json y = record(1.0, kRest + "," + part("e_tcp", "-0.28", "0.39") + "," +
                                     part("a_nccl", "0.05", "-0.02"));
  const auto paired = paired_difference(x, y, std::log(1.09));
  REQUIRE(paired);
  CHECK(paired->value == std::log(1.09));
  // e_tcp moves it by -0.02 and 0.01, a_nccl by -0.05 and 0.02.
  const double rest = 2 * 0.035 * 0.035;
  CHECK(paired->up == within(std::sqrt(rest + 0.01 * 0.01 + 0.02 * 0.02), 1e-12));
  CHECK(paired->down == within(std::sqrt(rest + 0.02 * 0.02 + 0.05 * 0.05), 1e-12));
  CHECK(paired->range_of_gain().second ==
        within(1 - 1.09 * std::exp(-1.2816 * paired->down), 1e-12));
  CHECK_FALSE(paired->is_stated()); // 0.0862 < 1.2816 * 0.0731
  CHECK_FALSE(paired_difference(x, io::parse_json("{}", ""), 0.1));
}

TEST_CASE(
    "standings: a difference of less than 5 % is never stated, a larger one where it is sure") {
  const io::Json row = record(1, kRest);
  CHECK(paired_difference(row, row, 0.064)->is_stated()); // 1.2816 sqrt(2) 0.035 = 0.06344
  CHECK_FALSE(paired_difference(row, row, 0.063)->is_stated());
  CHECK(paired_difference(row, row, -0.064)->is_stated());
}

TEST_CASE("standings: rank counts the rows that are shorter for sure") {
  const std::vector<io::Json> rows{
      record(1.00, kRest), record(1.04, kRest), record(1.08, kRest),
      record(1.05, kRest + "," + part("c_tcp", "0.2", "-0.3")),
      io::parse_json(R"({"error": "cannot run", "iteration_time_s": null})", "")};
  const Ranking ranking = rank_rows(rows, std::vector<std::int64_t>(rows.size(), 4));
  REQUIRE(ranking.standings.size() == rows.size());
  std::vector<std::int64_t> ranks;
  std::vector<std::string> measure;
  for (const Standing& each : ranking.standings) {
    ranks.push_back(each.rank);
    measure.push_back(each.measure);
  }
  CHECK(ranks == std::vector<std::int64_t>{1, 1, 2, 1, 0});
  CHECK(measure == std::vector<std::string>{"", "rest", "", "c_tcp", ""});
  const std::vector<io::Json> ideal{io::parse_json(R"({"iteration_time_s": 1})", "")};
  CHECK(rank_rows(ideal, std::vector<std::int64_t>{4}).standings.empty());
}

TEST_CASE(
    "standings: the spread of a difference is that of both scenarios with every factor moved") {
  const auto tree_of = [](const std::string& schedule) {
    return io::parse_json(
        R"({"workload": {"model": "bert_base", "batch_size": 1,
              "measured": {"forward_s": 0.05, "backward_s": 0.1}},
            "cluster": {"nodes": 4, "gpus_per_node": 8,
              "network": {"latency_s": 1e-6, "bandwidth_Bps": 3.125e9, "transport": "tcp_cloud"},
              "intra_network": {"latency_s": 1e-6, "bandwidth_Bps": 150e9, "bus": "nvlink"}},
            "communication": {"collective": "ring", "schedule": ")" +
            schedule + R"("}, "conditions": {"kind": "typical"}})",
        "");
  };
  // Values and 80 % ranges of CON 3.
  struct Range {
    const char* factor;
    double value, tau;
    bool plain;
  };
  const std::vector<Range> ranges{{"e_nvlink", 0.79, 0.30, false}, {"c_cloud", 0.8e9, 0.5, false},
                                  {"a_nccl", 7e-5, 0.8, false},    {"h_tcp", 4e-5, 0.7, false},
                                  {"s_net", 1.24, 0.15, false},    {"l_0", 0.03, 0.025, true},
                                  {"l_1", 0.012, 0.006, true},     {"e_tcp", 1.0, 0.05, false}};
  study::Files& files = study::testing::shipped_files();
  const io::Json x = tree_of("wfbp");
  const io::Json y = tree_of("single");
  const auto log_ratio = [&](const std::string& factor, double value) {
    double sum = 0;
    for (const io::Json* tree : {&x, &y}) {
      io::Json moved = *tree;
      if (!factor.empty()) {
        io::assign(moved, "/conditions/factors/" + factor, value);
      }
      const double time = *number_in(row_of(moved, files), "iteration_time_s");
      sum += (tree == &x ? 1 : -1) * std::log(time);
    }
    return sum;
  };
  const double middle = log_ratio("", 0);
  double up = 2 * 0.035 * 0.035;
  double down = up;
  for (const Range& each : ranges) {
    double most = 0;
    double least = 0;
    for (const double way : {-1.0, 1.0}) {
      const double value =
          each.plain ? each.value + way * each.tau : each.value * std::exp(way * each.tau);
      most = std::max(most, log_ratio(each.factor, value) - middle);
      least = std::min(least, log_ratio(each.factor, value) - middle);
    }
    up += most * most;
    down += least * least;
  }
  const auto paired = paired_difference(row_of(x, files), row_of(y, files), middle);
  REQUIRE(paired);
  CHECK(paired->up == within(std::sqrt(up), 1e-9));
  CHECK(paired->down == within(std::sqrt(down), 1e-9));
}
