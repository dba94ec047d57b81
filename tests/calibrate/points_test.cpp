// Groups and points of samples (CAL 4.1, 13).
#include "calibrate/core/points.hpp"

#include <doctest/doctest.h>

#include "base/error.hpp"
#include "document/json_text.hpp"

using namespace stepsim;
using namespace stepsim::calibrate;

namespace {

io::Samples csv(std::string_view rows) {
  return io::parse_samples_csv("op,algorithm,ranks,bytes,time_s,pass,column\n" + std::string(rows),
                               "s.csv");
}

template <class Run> std::string failure(Run run) {
  try {
    run();
  } catch (const InputError& error) {
    return error.problems().front().text();
  }
  return "no error";
}

} // namespace

TEST_CASE("group_samples: the point is the median; least and 90th percentile are kept") {
  std::string rows;
  for (int i = 1; i <= 10; ++i) {
    rows += "allreduce,ring,4,1000," + std::to_string(i) + ",,\n";
  }
  rows += "allreduce,ring,4,0,0.5,,\nallreduce,ring,4,2000,20,,\n";
  const auto groups = group_samples(std::vector{csv(rows)});
  REQUIRE(groups.size() == 1);
  const Group& group = groups[0];
  REQUIRE(group.points.size() == 2);
  CHECK(group.points[0].time_s == (5 + 6) / 2.0);
  CHECK(group.points[0].min_s == 1);
  CHECK(group.points[0].p90_s == 9); // 9th of 10
  CHECK(group.points[0].count == 10);
  REQUIRE(group.empty.size() == 1); // kept for the report only
  CHECK(group.empty[0].time_s == 0.5);
  CHECK(group.samples.size() == 11);
  CHECK(group.passes == 1); // 2000 bytes were measured once
  CHECK(group.text() == "allreduce ring P=4");
}

TEST_CASE("group_samples: operation, algorithm, ranks and column make the group, over all files") {
  const auto groups = group_samples(std::vector{
      csv("allreduce,nccl,4,1,1,,out-of-place\nallreduce,nccl,8,1,1,,\nallreduce,nccl,8,2,1,,\n"
          "allreduce,nccl,4,2,1,,in-place\nallreduce,nccl,4,4,1,,in-place\n"),
      csv("allreduce,nccl,4,2,2,,out-of-place\n")});
  REQUIRE(groups.size() == 3);
  CHECK(groups[0].points.size() == 2);
  CHECK(groups[0].text() == "allreduce P=4");
  CHECK(groups[1].ranks == 8);
  CHECK(groups[2].column == "in-place");
}

TEST_CASE("group_samples: passes that every size has, by number or by repetition") {
  const auto passes = [](std::string_view rows) {
    return group_samples(std::vector{csv(rows)})[0].passes;
  };
  CHECK(passes("reduce,be,4,1,1,5,\nreduce,be,4,1,1,5,\nreduce,be,4,2,1,5,\n") == 1);
  CHECK(
      passes("reduce,be,4,1,1,5,\nreduce,be,4,1,1,6,\nreduce,be,4,2,1,5,\nreduce,be,4,2,1,6,\n") ==
      2);
  CHECK(passes("reduce,be,4,1,1,,\nreduce,be,4,1,1,,\nreduce,be,4,2,1,,\nreduce,be,4,2,1,,\n") ==
        2);
}

TEST_CASE("group_samples: one size, or two devices, are no group") {
  CHECK(failure([] { (void)group_samples(std::vector{csv("allreduce,,8,64,1,,\n")}); }) ==
        "s.csv: allreduce P=8: need at least 2 sizes, got 1");
  CHECK(failure([] {
          (void)group_samples(std::vector{csv("allreduce,,8,64,1,,\nallreduce,,8,0,1,,\n")});
        }) == "s.csv: allreduce P=8: need at least 2 sizes, got 1");
  io::Samples mixed = csv("allreduce,,8,64,1,,\nallreduce,,8,128,1,,\n");
  mixed.sets.push_back(mixed.sets[0]);
  mixed.sets[0].device = "A100";
  mixed.sets[1].device = "H100";
  CHECK(failure([&] { (void)group_samples(std::vector{mixed}); }) ==
        "s.csv: two devices in one set: A100, H100; split the file");
  mixed.sets[1].device = "";
  mixed.sets[0].dtype = "float";
  mixed.sets[1].dtype = "half";
  CHECK(failure([&] { (void)group_samples(std::vector{mixed}); }) ==
        "s.csv: two element types in one set: float, half; split the file");
}

TEST_CASE("samples as CSV: wrong rows are named by line") {
  const auto of = [](std::string text) {
    return failure([&] { (void)io::parse_samples_csv(text, "samples.csv"); });
  };
  const std::string head = "op,ranks,bytes,time_s\n";
  CHECK(of(head + "allreduce,8,64,0\n") == "samples.csv:2: time_s must be in (0, 1e+09], got 0");
  CHECK(of(head + "# note\nallreduce,8,-1,1\n") ==
        "samples.csv:3: bytes must be in [0, 9007199254740992], got -1");
  CHECK(of(head + "allreduce,8,64,nan\n") == "samples.csv:2: time_s: not a number: \"nan\"");
  CHECK(of(head + "allreduce,8,1.5,1\n") == "samples.csv:2: bytes must be an integer, got 1.5");
  CHECK(of(head + "allreduce,0,64,1\n") == "samples.csv:2: ranks must be in [1, 1048576], got 0");
  CHECK(of(head + "all_reduce,8,64,1\n") ==
        "samples.csv:2: unknown operation \"all_reduce\"; did you mean \"allreduce\"?");
  CHECK(of("op,ranks,bytes,times\n").find("did you mean \"time_s\"?") != std::string::npos);
  CHECK(of("op,ranks,bytes\n") == "samples.csv:1: no column time_s");
  CHECK(of("op,op,bytes\n") == "samples.csv:1: column op appears twice");
  CHECK(of(head + "allreduce,8,64\n") == "samples.csv:2: expected 4 fields, got 3");
  CHECK(of(head) == "samples.csv: no rows");
}

TEST_CASE("samples: calls alone and in a queue are sets and groups of their own") {
  const io::Samples samples = io::parse_samples_csv("op,ranks,bytes,time_s,start_up\n"
                                                    "allreduce,4,64,3,alone\n"
                                                    "allreduce,4,64,1,queue\n"
                                                    "allreduce,4,128,4,\n"
                                                    "allreduce,4,128,2,queue\n",
                                                    "samples.csv");
  const std::string text = io::pretty(io::to_json(samples));
  const io::Samples again = io::parse_samples(io::parse_json(text, "s.json"));
  CHECK(io::pretty(io::to_json(again)) == text);
  const std::vector<Group> groups = group_samples(std::span(&again, 1));
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].text() == "allreduce P=4");
  CHECK(groups[1].text() == "allreduce P=4 queued");
  CHECK(groups[1].points[1].time_s == 2);
  CHECK(failure([] {
          (void)io::parse_samples_csv("op,ranks,bytes,time_s,start_up\nallreduce,4,64,3,que\n",
                                      "samples.csv");
        }) == "samples.csv:2: unknown start_up \"que\"; did you mean \"queue\"?");
}

TEST_CASE("samples: JSON and CSV hold the same") {
  io::Samples samples = csv("allreduce,ring,8,64,1.5,0,\nallreduce,ring,8,64,2,1,\n"
                            "broadcast,,4,128,3,,in-place\n");
  const std::string text = io::pretty(io::to_json(samples));
  const io::Samples again = io::parse_samples(io::parse_json(text, "s.json"));
  CHECK(io::pretty(io::to_json(again)) == text);
  REQUIRE(again.sets.size() == 2);
  CHECK(again.sets[0].samples.size() == 2);
  CHECK(again.sets[0].samples[1].pass == 1);
  CHECK(again.sets[1].column == "in-place");
  CHECK(
      failure([] {
        (void)io::parse_samples(io::parse_json(
            R"({"sets": [{"op": "allreduce", "ranks": 2, "points": [{"bytes": 1, "time_s": -1}]}]})",
            "s.json"));
      }) == "s.json: /sets/0/points/0/time_s: must be in (0, 1e+09], got -1");
}
