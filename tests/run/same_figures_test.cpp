// A figure is there wherever it has a meaning, whatever plays the step.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "run/summary_fields.hpp"
#include "scenario/scenario_text.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using stepsim::testing::within;

namespace {

struct Change {
  std::string training{}, others{}; // keys, each followed by a comma
  std::string nodes = "4";
};

study::Summary summary_of(const Change& change) {
  return study::testing::run_text(
             R"({"workload": {"layers": [
               {"name": "a", "forward_s": 0.001, "backward_s": 0.002, "gradient_bytes": 4000000},
               {"name": "b", "forward_s": 0.003, "backward_s": 0.004, "gradient_bytes": 8000000},
               {"name": "c", "forward_s": 0.001, "backward_s": 0.005, "gradient_bytes": 400000}]},
             )" +
             change.others + R"(
             "cluster": {"nodes": )" +
             change.nodes + R"(, "network": {"latency_s": 1e-5, "bandwidth_Bps": 1e9}},
             "training": {)" +
             change.training + R"("update_s": 0.0005, "iterations": 20}})")
      .summary;
}

const std::vector<Change> kSameStep{
    {},
    {.training = R"("micro_batches": 1, )"},
    {.training = R"("overlap": {"compute": 1.0000000001}, )"},
    {.others = R"("method": "events",)"},
    {.others = R"("variability": {"stragglers": [{"worker": 0, "factor": 1.0000000001}]},)"},
    {.training = R"("overlap": {"compute": 1.0000000001}, )",
     .others = R"("variability": {"stragglers": [{"worker": 0, "factor": 1.0000000001}]},)"},
    {.training = R"("overlap": {"compute": 1.0000000001}, )", .others = R"("method": "events",)"}};

} // namespace

TEST_CASE("figures: what changes a step by rounding takes no figure away") {
  const study::Summary plain = summary_of({});
  CHECK(*plain.closed_form_s == *plain.iteration_time_s);
  CHECK(*plain.steps == 1);
  CHECK(*plain.period_s == *plain.iteration_time_s);
  CHECK(*plain.utilization == within(1 - *plain.exposed_communication_s / *plain.period_s, 1e-12));
  for (const Change& change : kSameStep) {
    CAPTURE(change.training);
    CAPTURE(change.others);
    const study::Summary same = summary_of(change);
    for (const study::SummaryNumber figure :
         {&study::Summary::iteration_time_s, &study::Summary::period_s, &study::Summary::steps,
          &study::Summary::utilization, &study::Summary::lower_bound_s,
          &study::Summary::closed_form_s, &study::Summary::communication_s,
          &study::Summary::speedup}) {
      REQUIRE((same.*figure).has_value());
      CHECK(*(same.*figure) == within(*(plain.*figure), 1e-8));
    }
    CHECK(same.closed_form_is_bound == plain.closed_form_is_bound);
  }
}

TEST_CASE("figures: every algorithm has its period, its utilization and, by formula, its form") {
  for (const std::string training :
       {R"("micro_batches": 2, )", R"("algorithm": "od_sgd", )",
        R"("algorithm": "pipe_sgd", "pipeline_width": 2, )", R"("sharding": "zero1", )",
        R"("sharding": "full_shard", )", R"("algorithm": "local_sgd", "local_steps": 4, )",
        R"("input_s": 0.001, )", R"("algorithm": "parameter_server", )"}) {
    CAPTURE(training);
    const study::Summary summary = summary_of({.training = training});
    CHECK(*summary.period_s == within(*summary.steps * *summary.iteration_time_s, 1e-12));
    CHECK(*summary.utilization > 0);
    CHECK(*summary.utilization <= 1);
    CHECK(*summary.closed_form_s == within(*summary.iteration_time_s, 1e-9));
  }
}

TEST_CASE("figures: a wait of unknown cause lengthens every step, and no baseline") {
  for (const std::string training :
       {R"()", R"("micro_batches": 2, )", R"("sharding": "zero1", )",
        R"("algorithm": "local_sgd", "local_steps": 4, )", R"("algorithm": "easgd", )",
        R"("algorithm": "parameter_server", )", R"("sharding": "full_shard", )",
        R"("sharding": "full_shard", "micro_batches": 2, )",
        R"("input_s": 0.001, "input_pipelined": false, )"}) {
    CAPTURE(training);
    const study::Summary plain = summary_of({.training = training});
    const study::Summary waits = summary_of({.training = training + R"("wait_s": 0.25, )"});
    CHECK(*waits.iteration_time_s == within(*plain.iteration_time_s + 0.25, 1e-12));
    CHECK(*waits.exposed_communication_s == within(*plain.exposed_communication_s + 0.25, 1e-12));
    CHECK(*waits.communication_s == within(*plain.communication_s + 0.25, 1e-12));
    CHECK(*waits.compute_s == within(*plain.compute_s, 1e-12));
    CHECK(*waits.speedup * *waits.iteration_time_s ==
          within(*plain.speedup * *plain.iteration_time_s, 1e-12));
    CHECK(waits.bottleneck == "waiting");
  }
  const study::Summary alone = summary_of({.nodes = "1"});
  const study::Summary waits = summary_of({.training = R"("wait_s": 0.25, )", .nodes = "1"});
  CHECK(*waits.iteration_time_s == *alone.iteration_time_s);
  CHECK(*waits.communication_s == 0);
}

TEST_CASE("figures: a batch that is not read ahead takes as long in every algorithm") {
  for (const std::string training :
       {R"()", R"("algorithm": "pipe_sgd", "pipeline_width": 2, )", R"("algorithm": "od_sgd", )",
        R"("algorithm": "parameter_server", )", R"("sharding": "full_shard", )"}) {
    CAPTURE(training);
    const study::Summary waits = summary_of({.training = training + R"("wait_s": 0.25, )"});
    const study::Summary reads =
        summary_of({.training = training + R"("input_s": 0.25, "input_pipelined": false, )"});
    CHECK(*reads.iteration_time_s == within(*waits.iteration_time_s, 1e-12));
    CHECK(*reads.input_wait_s == within(0.25, 1e-12));
    const study::Summary ahead = summary_of({.training = training + R"("input_s": 0.25, )"});
    CHECK(*ahead.iteration_time_s == within(0.25 + *ahead.update_s, 1e-12));
  }
}

TEST_CASE("figures: bounds of programs are computed by hand, and are not above the period") {
  const double compute = 0.016, bytes = 12.4e6;                  // forward and backward
  const double messages = 2 * 3 * 1e-5 + 2 * 0.75 * bytes / 1e9; // in one ring
  const double chain = 0.005 + messages + 0.001; // backward of c, all messages, forward of c
  CHECK(*summary_of({}).lower_bound_s == within(chain, 1e-12));
  CHECK(*summary_of({.training = R"("micro_batches": 3, )"}).lower_bound_s ==
        within(2 * compute + chain, 1e-12));
  CHECK(*summary_of({.training = R"("algorithm": "od_sgd", )"}).lower_bound_s ==
        within(messages, 1e-12));
  const Change slow{.training = R"("micro_batches": 3, )",
                    .others = R"("variability": {"stragglers": [{"worker": 1, "factor": 2}]},)"};
  // Backward of the slow worker, the message of a, and its forward.
  const double first = 2 * 3 * 1e-5 + 2 * 0.75 * 4e6 / 1e9;
  CHECK(*summary_of(slow).lower_bound_s ==
        within(4 * compute + 2 * 0.011 + first + 2 * 0.005, 1e-12));
  for (const Change& change :
       {Change{.training = R"("micro_batches": 3, )"},
        Change{.training = R"("algorithm": "od_sgd", )"},
        Change{.training = R"("algorithm": "pipe_sgd", "pipeline_width": 2, )"}, slow}) {
    const study::Summary summary = summary_of(change);
    CHECK(*summary.lower_bound_s <= *summary.iteration_time_s);
  }
}
