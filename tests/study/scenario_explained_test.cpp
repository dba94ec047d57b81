// What an explanation of a scenario adds up to is the period that its run reports.
#include "study/explained.hpp"

#include <doctest/doctest.h>

#include <string>

#include "programs/explain/binding_path.hpp"
#include "programs/explain/program_evaluation.hpp"
#include "programs/steady_state.hpp"
#include "scenario/scenario_text.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using stepsim::testing::plus_minus;
using stepsim::testing::within;

namespace {

std::string differing(const std::string& training, const std::string& schedule,
                      const std::string& first_bytes, const std::string& more = "") {
  return R"({"workload": {"layers": [
      {"name": "a", "forward_s": 0.003, "backward_s": 0.001, "gradient_bytes": )" +
         first_bytes + R"(},
      {"name": "b", "forward_s": 0.001, "backward_s": 0.001, "gradient_bytes": 4000000}]},
      "cluster": {"nodes": 4, "network": {"latency_s": 1e-5, "bandwidth_Bps": 1.25e9}},
      "training": {)" +
         training + R"("iterations": 40}, "communication": {"schedule": ")" + schedule +
         R"(", "collective": "ring")" + more +
         R"(}, "variability": {"compute_cv": 0.2, "exchange_cv": 0.1}})";
}

} // namespace

TEST_CASE("explanation: its period and exposed communication are those of the run") {
  for (const std::string& text :
       {differing("", "wfbp", "0"), differing("", "wfbp", "400000"),
        differing("", "single", "400000", R"(, "next_forward": "barrier")"),
        differing("", "dear", "400000"), differing("", "priority", "400000"),
        differing(R"("discard_iterations": 0, )", "wfbp", "0"),
        differing(R"("micro_batches": 2, )", "wfbp", "0"),
        differing(R"("algorithm": "pipe_sgd", )", "wfbp", "400000")}) {
    CAPTURE(text);
    const study::Scenario scenario = study::testing::scenario(text);
    const study::Summary summary = study::run(scenario).summary;
    const study::ExplainableScenario made = study::explainable(scenario);
    const double period =
        programs::period_s(made.file.program, made.file.evaluation) / made.file.program.steps;
    CHECK(period == within(*summary.iteration_time_s, 1e-9));
    const double exposed = programs::beyond_s(programs::without_exchanges(made.file.program),
                                              made.file.evaluation, period) /
                           made.file.program.steps;
    CHECK(exposed == plus_minus(*summary.exposed_communication_s, 1e-9 * period));
    const programs::Explanation found = programs::explain(
        made.file.program,
        {.evaluation = made.file.evaluation, .labels = {}, .links = {}, .operations = 0});
    double sum = 0;
    for (const programs::PathStep& step : found.path.steps) {
      sum += step.seconds() / found.path.iterations;
    }
    CHECK(sum == within(period, 1e-6));
  }
}

TEST_CASE("explanation: its makespan is that of the iterations it names") {
  const std::string slows = R"("overlap": {"compute": 1.2}, )";
  for (const std::string& training : {std::string(), slows}) {
    const study::ExplainableScenario made =
        study::explainable(study::testing::scenario(differing(training, "dear", "400000")));
    const study::Explained found = study::explained_program(made.file, made.labels);
    std::string text = differing(training, "dear", "400000");
    text.replace(text.find(R"("iterations": 40)"), 16,
                 R"("iterations": )" + std::to_string(found.iterations));
    const study::Summary summary = study::run(study::testing::scenario(text)).summary;
    CHECK(found.makespan_s == within(*summary.makespan_s, 1e-9));
  }
}

TEST_CASE("explanation: start-ups are those of the messages, whatever form their cost has") {
  const auto explained = [](const std::string& communication, const std::string& training = "") {
    const study::ExplainableScenario made = study::explainable(study::testing::scenario(
        R"({"workload": {"layers": [
      {"name": "a", "forward_s": 1e-4, "backward_s": 1e-4, "gradient_bytes": 40000}]},
      "cluster": {"nodes": 16, "network": {"latency_s": 5e-5, "bandwidth_Bps": 1e10}},
      "communication": {"schedule": "single", )" +
        communication + "}, \"training\": {" + training + "}}"));
    return programs::explain(
        made.file.program,
        {.evaluation = made.file.evaluation, .labels = made.labels, .links = made.file.links});
  };
  const auto share = [](const programs::Explanation& found, std::string_view name) {
    const auto& links = found.attribution.by_link;
    const auto each = std::ranges::find(links, name, &programs::Share::name);
    return each == links.end() ? 0 : each->seconds;
  };
  // Four rounds of 40 kB each: the cheapest of all by far.
  for (const std::string collective :
       {R"("recursive_doubling")", R"("auto", "candidates": ["recursive_doubling"])"}) {
    const programs::Explanation found = explained(R"("collective": )" + collective);
    CHECK(share(found, "start-up") == within(4 * 5e-5, 1e-12));
    CHECK(share(found, "bandwidth") == within(4 * 40000 / 1e10, 1e-9));
  }
  const programs::Explanation pipeline = explained(R"("collective": "lp")");
  CHECK(share(pipeline, "start-up") >= 15 * 5e-5);
  CHECK(std::ranges::find(pipeline.sensitivities, "seconds_per_byte",
                          &programs::Sensitivity::parameter) == pipeline.sensitivities.end());
  // A reduce by halves and its gather, a broadcast by halves and a ring.
  const programs::Explanation rooted =
      explained(R"("collective": "be", "exchange": "reduce_broadcast")");
  CHECK(share(rooted, "start-up") == within((2 * 4 + 4 + 15) * 5e-5, 1e-12));
  // The halves of sharded training, and a broadcast down a chain behind the all-reduce of a ring.
  const std::string zero = R"("sharding": {"strategy": "zero1")";
  const std::string halving = R"("collective": "auto", "candidates": ["be"])";
  CHECK(share(explained(halving, zero + "}"), "start-up") == within(2 * 4 * 5e-5, 1e-12));
  const programs::Explanation owned =
      explained(R"("collective": "ring")", zero + R"(, "gather_by": "broadcast_tensors"})");
  CHECK(share(owned, "start-up") >= (30 + 15) * 5e-5);
  const programs::Explanation sparse =
      explained(R"("compression": {"method": "topk", "density": 0.01})");
  CHECK(share(sparse, "bandwidth") == 0);
  CHECK(share(sparse, "whole exchanges") > 0);
  CHECK(share(explained(R"("compression": "truncate16")"), "bandwidth and additions") > 0);
}
