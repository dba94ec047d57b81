// Several training jobs on one fabric: `workload` is a list.
#include <doctest/doctest.h>

#include <string>

#include "document/json_text.hpp"
#include "run/result_file.hpp"
#include "run/run_timeline.hpp"
#include "scenario/scenario_text.hpp"
#include "scenario/scenario_tree.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using stepsim::testing::within;

namespace {

std::string job(int nodes, const std::string& bytes) {
  return R"({"nodes": )" + std::to_string(nodes) +
         R"(, "layers": [{"name": "a", "forward_s": 0.001, "backward_s": 0.003,
      "gradient_bytes": )" +
         bytes + "}]}";
}

// Two leaves of four hosts; the uplink carries one flow of a host at a time.
std::string text_of(const std::string& jobs, const std::string& placement,
                    const std::string& training = "", const std::string& communication = "") {
  return R"({"workload": [)" + jobs + R"(], "cluster": {"nodes": 4, "topology": {
      "preset": "leaf_spine", "leaves": 2, "hosts_per_leaf": 4, "spines": 1, "latency_s": 0,
      "bandwidth_Bps": 1.25e9}, "rank_placement": )" +
         placement + R"(, "network": {"model": "flow"}}, "training": {)" + training +
         R"("iterations": 4}, "communication": {)" + communication + R"("element_bytes": 4}})";
}

const std::string kTwo = job(2, "5000000") + ", " + job(2, "5000000");

} // namespace

TEST_CASE("jobs: on disjoint links each takes what it takes alone, on a shared one twice as long") {
  // A ring of two sends M in all: M / B = 4 ms.
  const study::Result apart = study::testing::run_text(text_of(kTwo, "[0, 1, 4, 5]"));
  REQUIRE(apart.jobs.size() == 2);
  for (const study::JobTimes& each : apart.jobs) {
    CHECK(each.nodes == 2);
    CHECK(each.alone_s == within(0.004 + 0.004, 1e-9));
    CHECK(*each.together_s == within(0.004 + 0.004, 1e-9));
  }
  const study::Result shared = study::testing::run_text(text_of(kTwo, "[0, 4, 1, 5]"));
  for (const study::JobTimes& each : shared.jobs) {
    CHECK(each.alone_s == within(0.004 + 0.004, 1e-9));
    CHECK(*each.together_s == within(0.004 + 0.008, 1e-9));
  }
  // The summary is that of the first job among the others.
  CHECK(*shared.summary.iteration_time_s == within(0.012, 1e-9));
  CHECK(*shared.summary.speedup == within(2 * 0.004 / 0.012, 1e-9));
}

TEST_CASE("jobs: the timeline draws every job on its own nodes") {
  const study::Result result = study::testing::run_text(
      text_of(job(1, "5000000") + R"(, {"nodes": 3, "layers": [{"name": "b", "forward_s": 0.001,
              "backward_s": 0.005, "gradient_bytes": 2500000}]})",
              R"("packed")"));
  const events::Timeline drawn = study::timeline(result, {});
  const auto longest = [&](std::uint32_t node, std::string_view category) {
    double seconds = 0;
    for (const events::Span& span : drawn.spans) {
      if (span.track.node == node && span.category == category) {
        seconds = std::max(seconds, span.end.value - span.start.value);
      }
    }
    return seconds;
  };
  CHECK(longest(0, "backward") == within(0.003, 1e-9));
  CHECK(longest(0, "communication") == 0);
  for (std::uint32_t node = 1; node < 4; ++node) { // ring of three: 4 / 3 of 2 ms
    CHECK(longest(node, "backward") == within(0.005, 1e-9));
    CHECK(longest(node, "communication") == within(0.002 * 4 / 3, 1e-5));
  }
}

TEST_CASE("jobs: of different sizes, with servers of their own") {
  const std::string unequal = job(1, "5000000") + ", " + job(3, "2500000");
  const study::Result result = study::testing::run_text(
      text_of(unequal, R"("packed")", R"("algorithm": "parameter_server", )"));
  REQUIRE(result.jobs.size() == 2);
  CHECK(result.jobs[0].nodes == 1);
  CHECK(result.jobs[1].nodes == 3);
  // Hosts 0 and 4; 1 to 3 and 5: worker and server are on different leaves, so both jobs cross the
  // uplink. One worker pushes and pulls 5 MB alone; three send 7.5 MB to their server.
  CHECK(result.jobs[0].alone_s == within(0.004 + 2 * 0.004, 1e-9));
  CHECK(result.jobs[1].alone_s == within(0.004 + 2 * 0.006, 1e-9));
  CHECK(*result.jobs[0].together_s > result.jobs[0].alone_s);
  CHECK(*result.jobs[1].together_s > result.jobs[1].alone_s);
}

TEST_CASE("jobs: the resolved scenario gives the same result") {
  const study::Result result = study::testing::run_text(text_of(kTwo, R"("spread")"));
  const study::Result again =
      study::testing::run_text(io::compact(study::scenario_tree(*result.scenario)));
  CHECK(io::compact(study::result_tree(result)) == io::compact(study::result_tree(again)));
}

TEST_CASE("jobs: a straggler is a worker of one job, numbered through all of them") {
  // Worker 2 is the first of the second job; its compute takes twice as long, 2 x 4 ms.
  const std::string text = text_of(kTwo, "[0, 1, 4, 5]");
  const std::string slow = text.substr(0, text.size() - 1) +
                           R"(, "variability": {"stragglers": [{"worker": 2, "factor": 2}]}})";
  const study::Result result = study::testing::run_text(slow);
  REQUIRE(result.jobs.size() == 2);
  CHECK(result.jobs[0].alone_s == within(0.004 + 0.004, 1e-9));
  CHECK(result.jobs[1].alone_s == within(2 * 0.004 + 0.004, 1e-9));
  CHECK(*result.summary.compute_s == within(0.004, 1e-9));
}

TEST_CASE("jobs: a job whose steady iterations all end after another job has no time beside it") {
  // Alone 4 iterations of 4 + 4 ms and of 4 + 40 ms: the second has none behind the discarded ones.
  const study::Result result =
      study::testing::run_text(text_of(job(2, "5000000") + ", " + job(2, "50000000"),
                                       "[0, 1, 4, 5]", R"("discard_iterations": 3, )"));
  REQUIRE(result.jobs.size() == 2);
  CHECK(result.jobs[1].alone_s == within(0.004 + 0.040, 1e-9));
  CHECK_FALSE(result.jobs[1].together_s);
  CHECK(*result.jobs[0].together_s == within(0.004 + 0.004, 1e-9));
}

TEST_CASE("jobs: programs on disjoint links take together what they take alone") {
  for (const std::string& training :
       {std::string(R"("micro_batches": 2, )"), std::string(R"("algorithm": "od_sgd", )"),
        std::string(R"("algorithm": "local_sgd", )"),
        std::string(R"("algorithm": "diloco", "local_steps": 2, )")}) {
    for (const std::string& small : {std::string("5000"), std::string("500000")}) {
      CAPTURE(training);
      CAPTURE(small);
      // The second job goes on until the first one has ended.
      const std::string fast = R"({"nodes": 2, "layers": [{"name": "a", "forward_s": 0.0001,
                                  "backward_s": 0.0002, "gradient_bytes": )" +
                               small + "}]}";
      const study::Result result = study::testing::run_text(
          text_of(job(2, "5000000") + ", " + fast, "[0, 1, 4, 5]", training));
      REQUIRE(result.jobs.size() == 2);
      CHECK(result.jobs[0].alone_s == within(*result.summary.iteration_time_s, 1e-9));
      CHECK(result.jobs[0].alone_s >= result.summary.lower_bound_s.value_or(0) * (1 - 1e-9));
      CHECK(*result.jobs[0].together_s == within(result.jobs[0].alone_s, 1e-9));
      CHECK(*result.jobs[1].together_s == within(result.jobs[1].alone_s, 1e-9));
      const study::Result same = study::testing::run_text(text_of(kTwo, "[0, 1, 4, 5]", training));
      for (const study::JobTimes& each : same.jobs) {
        CHECK(*each.together_s == within(each.alone_s, 1e-9));
      }
    }
  }
}

TEST_CASE("jobs: gathers that the next forward waits for are sent in the last iteration, too") {
  // Reduce-scatter and all-gather of 2 ms each, and nothing to hide them behind.
  const study::Result result = study::testing::run_text(
      text_of(kTwo, "[0, 1, 4, 5]", "", R"("schedule": "dear", "prefetch": "one", )"));
  CHECK(*result.summary.iteration_time_s == within(0.008, 1e-9));
  for (const study::JobTimes& each : result.jobs) {
    CHECK(each.alone_s == within(0.008, 1e-9));
    CHECK(*each.together_s == within(0.008, 1e-9));
  }
}

TEST_CASE("jobs: what is wrong with a list of them") {
  const auto says = [](const std::string& text, const std::string& words) {
    const std::string problem = study::testing::problem_of(text);
    CAPTURE(problem);
    CHECK(problem.find(words) != std::string::npos);
  };
  says(text_of(job(2, "1000"), R"("packed")"), "/workload: the jobs have 2 nodes, the cluster 4");
  says(text_of("", R"("packed")"), "needs at least one job");
  says(text_of(R"({"layers": []})", R"("packed")"), "/workload/0/nodes: required");
  // Rules over the layers of a workload hold of each job.
  const std::string two_types =
      R"({"nodes": 2, "layers": [{"name": "a", "forward_s": 1, "backward_s": 1, "gradient_bytes": 8,
          "dtype": "float16"}, {"name": "b", "forward_s": 1, "backward_s": 1, "gradient_bytes": 8}]})";
  const std::string ddp = R"("schedule": "ddp", )";
  says(text_of(two_types + ", " + job(2, "1000"), R"("packed")", "", ddp),
       "/workload/0/layers/1/dtype: needed because bucket rules are per dtype");
  says(text_of(job(2, "1000") + ", " + two_types, R"("packed")", "", ddp),
       "/workload/1/layers/1/dtype: needed because bucket rules are per dtype");
  // Servers on workers are those of the job.
  const std::string colocated =
      R"("algorithm": "parameter_server", "placement": "colocated", "servers": 2, )";
  says(text_of(job(1, "1000") + ", " + job(3, "1000"), R"("packed")", colocated),
       "/training/servers: every job has its own, on its workers: at most 1, as the smallest job "
       "has, got 2");
  CHECK_NOTHROW((void)study::testing::run_text(text_of(kTwo, R"("packed")", colocated)));
  std::string many = R"({"nodes": 2, "layers": [)";
  for (int l = 0; l <= 20; ++l) {
    many += (l > 0 ? ", " : "") +
            std::string(R"({"name": "a", "forward_s": 1, "backward_s": 1, "gradient_bytes": 8})");
  }
  says(text_of(job(2, "1000") + ", " + many + "]}", R"("packed")", "",
               R"("schedule": "exhaustive", )"),
       "limited to 20 gradients, got 21");
}
