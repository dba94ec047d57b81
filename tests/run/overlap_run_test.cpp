// Runs with /training/overlap and /communication/plan_cost (TRN 3).
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "document/json_text.hpp"
#include "programs/event_pass.hpp"
#include "programs/steady_state.hpp"
#include "run/run_timeline.hpp"
#include "run/scenario_program.hpp"
#include "scenario/scenario_text.hpp"
#include "scenario/scenario_tree.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using namespace stepsim::study;
using namespace stepsim::study::testing;
using stepsim::testing::plus_minus;
using stepsim::testing::within;

namespace {

// Input G3 of MER: forward 1, 2, 1, 1 s, backward 2 s each, 4, 8, 12, 16 bytes, messages of
// 0.5 + 0.25 s / B.
std::string g3(const std::string& training, const std::string& communication) {
  return R"({"workload": {"layers": [
      {"name": "1", "forward_s": 1, "backward_s": 2, "gradient_bytes": 4},
      {"name": "2", "forward_s": 2, "backward_s": 2, "gradient_bytes": 8},
      {"name": "3", "forward_s": 1, "backward_s": 2, "gradient_bytes": 12},
      {"name": "4", "forward_s": 1, "backward_s": 2, "gradient_bytes": 16}]},
    "cluster": {"nodes": 2, "network": {"cost": {"startup_s": 0.5, "per_byte_s": 0.25}}},
    "training": {"iterations": 5)" +
         training + R"(}, "communication": {)" + communication + "}}";
}
std::string slowed(const std::string& overlap) { return R"(, "overlap": {)" + overlap + "}"; }
std::string schedule(const std::string& name) { return R"("schedule": ")" + name + "\""; }

double period(const std::string& overlap, const std::string& communication) {
  return *run_text(g3(slowed(overlap), communication)).summary.iteration_time_s;
}

} // namespace

TEST_CASE("overlap: rows I6 to I10 as scenarios") {
  CHECK(period(R"("compute": 2)", schedule("wfbp")) == within(19.75, 1e-9));
  CHECK(period(R"("compute": 2)", schedule("single")) == within(23.5, 1e-9));
  CHECK(period(R"("compute": 1.5)", schedule("wfbp")) == within(19, 1e-9));
  CHECK(period(R"("compute": {"backward": 2})", schedule("wfbp")) == within(19.75, 1e-9));
  CHECK(period(R"("compute": {"*": 2, "forward": 1})", schedule("wfbp")) == within(19.75, 1e-9));
  // Row I11: start-ups of 0.5 s are not stretched.
  CHECK(period(R"("compute": 1.5, "exchange": 2)", schedule("wfbp")) == within(23, 1e-9));
}

// A start-up is not stretched: that of a ring's half has its own hops, whatever its additions take
// (MER 6.3), and that of other costs than lines is what a message of one byte takes.
TEST_CASE("overlap: start-ups are those of the exchange that is sent") {
  const Result halves = run_text(R"({"workload": {"layers": [
      {"name": "l1", "forward_s": 0.2, "backward_s": 1, "gradient_bytes": 4000},
      {"name": "l2", "forward_s": 0.2, "backward_s": 2, "gradient_bytes": 8000}]},
    "cluster": {"nodes": 4, "network": {"latency_s": 0.1, "bandwidth_Bps": 1e4,
                                        "reduction_Bps": 5000}},
    "training": {"iterations": 3, "overlap": {"exchange": 2}},
    "communication": {"collective": "ring", "schedule": "dear", "dear_layers": 1}})");
  CHECK(*halves.summary.iteration_time_s == within(7.35, 1e-12));
  // The one message is sent while the first layer, which has no gradients, computes.
  const auto message = [](const std::string& bytes, const std::string& cluster,
                          const std::string& collective) {
    const Result result = run_text(R"({"workload": {"layers": [
        {"name": "l0", "forward_s": 0.002, "backward_s": 0.01, "gradient_bytes": 0},
        {"name": "l1", "forward_s": 0, "backward_s": 1e-4, "gradient_bytes": )" +
                                   bytes + R"(}]}, "cluster": {)" + cluster +
                                   R"(}, "training": {"overlap": {"exchange": 1.5}},
        "communication": {"schedule": "wfbp", "collective": ")" +
                                   collective + "\"}}");
    return result.buckets.front().end_s - result.buckets.front().start_s;
  };
  for (const char* model : {"flow", "alpha_beta"}) {
    const std::string star = R"("nodes": 6, "network": {"model": ")" + std::string(model) +
                             R"(", "latency_s": 1e-5, "bandwidth_Bps": 1e8})";
    CHECK(message("840", star, "auto") == within(4e-5 + 1.5 * 3.36e-5, 1e-9));
    CHECK(message("840", star, "recursive_doubling") == within(4e-5 + 1.5 * 3.36e-5, 1e-9));
  }
  const auto leaf = [](const std::string& latency) {
    return R"("nodes": 7, "network": {"model": "flow"}, "topology": {"preset": "star", "hosts": 7,
              "bandwidth_Bps": 1.25e9, "latency_s": )" +
           latency + "}";
  };
  CHECK(message("200000", leaf("0"), "lp") == within(1.5 * 3.3666666666666666e-4, 1e-2));
  CHECK(message("8000", leaf("0"), "double_binary_tree") > 1.5e-5);
}

// Five iterations have five updates, whichever way evaluates them.
TEST_CASE("overlap: the makespan counts one update per iteration") {
  const auto makespan = [](const std::string& training, const std::string& variability) {
    std::string text = g3(training, schedule("single"));
    text.back() = ',';
    return *run_text(text + R"("variability": {)" + variability + "}}").summary.makespan_s;
  };
  const std::string nearly_equal = R"("stragglers": [{"worker": 0, "factor": 1.0000000001}])";
  const std::string update = R"(, "update_s": 1)";
  // 5 x (1 + 5 + 8 + 0.5 + 0.25 x 40 s), and 13 s more for a second micro-batch.
  for (const std::string& variability : {std::string(), nearly_equal}) {
    CHECK(makespan(update, variability) == within(5 * 24.5, 1e-8));
    CHECK(makespan(update + slowed(R"("compute": 2)"), variability) == within(5 * 24.5, 1e-8));
    CHECK(makespan(update + R"(, "micro_batches": 2)", variability) == within(5 * 37.5, 1e-8));
  }
}

TEST_CASE("overlap: every schedule has the period of its program") {
  for (const std::string name :
       {"wfbp", "single", "ddp", "horovod", "mg_wfbp", "eager", "asc_wfbp", "priority", "dear"}) {
    for (const std::string& more : {std::string(), std::string(R"(, "next_forward": "barrier")")}) {
      if (name == "priority" && !more.empty()) {
        continue;
      }
      CAPTURE(name);
      CAPTURE(more);
      const Scenario given =
          scenario(g3(slowed(R"("compute": 1.7)") + R"(, "update_s": 0.3)", schedule(name) + more));
      const Result result = run(given);
      programs::Program program = scenario_program(given).program;
      program.ranks = 1;
      const programs::EventPeriod found = programs::event_period(program);
      const Summary& summary = result.summary;
      const double plain_makespan =
          *run_text(g3(R"(, "update_s": 0.3)", schedule(name) + more)).summary.makespan_s;
      CHECK(found.cyclicity == 1);
      CHECK(*summary.iteration_time_s == within(found.period.value, 1e-9));
      programs::Program free = program;
      free.interference = {};
      CHECK(*summary.interference_s ==
            plus_minus(found.period.value - programs::event_period(free).period.value, 1e-9));
      const double alone =
          programs::event_period(programs::without_exchanges(program)).period.value;
      CHECK(*summary.exposed_communication_s == plus_minus(found.period.value - alone, 1e-9));
      CHECK(*summary.compute_s == within(alone, 1e-9));
      // The program counts the update before the first forward, too.
      const double first_update = programs::event_pass(free, 5).makespan_s - plain_makespan;
      CHECK(*summary.makespan_s ==
            within(programs::event_pass(program, 5).makespan_s - first_update, 1e-9));
      CHECK(result.method == "events");
      CHECK(!summary.closed_form_s);
      CHECK(!summary.merge_optimal_iteration_time_s);
      CHECK(*summary.lower_bound_s <= *summary.iteration_time_s);
      CHECK(!timeline(result, {}).spans.empty());
    }
  }
}

TEST_CASE("overlap: compute_slowdown is short for one number, and 1 changes nothing") {
  const Result plain = run_text(g3("", schedule("wfbp")));
  CHECK(!plain.summary.interference_s);
  for (const std::string one :
       {R"(, "compute_slowdown": 1)", R"(, "overlap": {"compute": 1})", R"(, "overlap": null)"}) {
    CHECK(io::compact(flat_summary(run_text(g3(one, schedule("wfbp"))).summary)) ==
          io::compact(flat_summary(plain.summary)));
  }
  const std::string both = R"(, "compute_slowdown": 1.7)";
  CHECK(io::compact(flat_summary(run_text(g3(both, schedule("wfbp"))).summary)) ==
        io::compact(
            flat_summary(run_text(g3(slowed(R"("compute": 1.7)"), schedule("wfbp"))).summary)));
  const std::string pipe = R"(, "algorithm": "pipe_sgd")";
  const Summary piped = run_text(g3(pipe + both, schedule("wfbp"))).summary;
  CHECK(*piped.interference_s ==
        plus_minus(*piped.iteration_time_s -
                       *run_text(g3(pipe, schedule("wfbp"))).summary.iteration_time_s,
                   1e-9));
  CHECK(io::compact(flat_summary(run_text(g3(pipe + both, schedule("wfbp"))).summary)) ==
        io::compact(flat_summary(
            run_text(g3(pipe + slowed(R"("compute": 1.7)"), schedule("wfbp"))).summary)));
}

TEST_CASE("overlap: slowed exchanges of pipe_sgd, and workers that differ, by events") {
  // Computing 100 s, an exchange of 6 s start-up and 54 s data: row I3 with a start-up, which is
  // not stretched.
  const auto pipe = [](const std::string& overlap) {
    return R"({"workload": {"layers": [{"name": "1", "forward_s": 40, "backward_s": 60,
        "gradient_bytes": 54}]}, "cluster": {"nodes": 2, "network": {"cost":
        {"startup_s": 6, "per_byte_s": 1}}}, "training": {"iterations": 5, "algorithm": "pipe_sgd",
        "overlap": {)" +
           overlap + "}}}";
  };
  CHECK(*run_text(pipe(R"("compute": 1.5, "exchange": 1.25)")).summary.iteration_time_s ==
        within(100 + (6 + 54 * 1.25) / 3, 1e-9));
  CHECK(*run_text(pipe(R"("compute": 1.5, "exchange": 1.25)")).summary.interference_s ==
        within((6 + 54 * 1.25) / 3, 1e-9));
  CHECK(*run_text(pipe(R"("compute": {"*": 1.5}, "exchange": 1.0000000000001)"))
             .summary.iteration_time_s == within(120, 1e-9));
  const std::string varied = g3(slowed(R"("compute": 2)"), schedule("wfbp"));
  const std::string stragglers =
      R"(, "variability": {"stragglers": [{"worker": 1, "factor": 1}]}})";
  const Result equal = run_text(varied);
  const Result one = run_text(varied.substr(0, varied.size() - 1) + stragglers);
  CHECK(*one.summary.iteration_time_s == within(*equal.summary.iteration_time_s, 1e-9));
  CHECK(*one.summary.interference_s == within(*equal.summary.interference_s, 1e-9));
}

// The exchange of the last counted iteration is slowed by computing that follows it.
TEST_CASE("overlap: a mean over varied iterations has no effect of the end of the run") {
  const auto period = [](const std::string& iterations, const std::string& variability) {
    return *run_text(R"({"workload": {"layers": [{"name": "1", "forward_s": 0.3, "backward_s": 0.5,
        "gradient_bytes": 50}]}, "cluster": {"nodes": 2, "network": {"cost":
        {"startup_s": 0, "per_byte_s": 0.01}}}, "training": {"algorithm": "pipe_sgd",
        "iterations": )" +
                     iterations + R"(, "overlap": {"compute": 2.5, "exchange": 1.2}})" +
                     variability + "}")
                .summary.period_s;
  };
  const double steady = 0.8 + 0.5 * 1.2 * (1 - 1 / 2.5);
  CHECK(period("10", "") == within(steady, 1e-9));
  const std::string nearly_equal =
      R"(, "variability": {"stragglers": [{"worker": 0, "factor": 1.0000000001}]})";
  CHECK(period("10", nearly_equal) == within(steady, 1e-8));
  CHECK(period("30", nearly_equal) == within(steady, 1e-8));
}

TEST_CASE("overlap: the resolved scenario gives the same run") {
  for (const std::string overlap :
       {R"("compute": 2)", R"("compute": {"backward": 2}, "exchange": 1.5)",
        R"("table": "V100-PCIe/NCCL-2.4+IB-56G")"}) {
    const Scenario given = scenario(g3(slowed(overlap), schedule("wfbp")));
    const Scenario again = scenario(io::compact(scenario_tree(given)));
    CHECK(*run(again).summary.iteration_time_s == *run(given).summary.iteration_time_s);
  }
}

TEST_CASE("overlap: the table of slowdowns, after given numbers") {
  CHECK(scenario(g3(slowed(R"("table": "V100-PCIe/NCCL-2.4+TCP-10GbE")"), ""))
            .training.overlap.compute[0] == 2.26);
  CHECK(scenario(g3(slowed(R"("table": "H100-SXM/NCCL")"), "")).training.overlap.compute[0] ==
        within(1.138, 1e-3));
  const Scenario both =
      scenario(g3(slowed(R"("compute": 1.5, "table": "V100-PCIe/NCCL-2.4+IB-56G")"), ""));
  CHECK(both.training.overlap.compute[0] == 1.5);
}

TEST_CASE("overlap: what a slowdown does not go with is refused") {
  const std::string given = slowed(R"("compute": 2)");
  CHECK(problem_of(g3(given + R"(, "algorithm": "parameter_server")", "")) ==
        "test.json: /training/overlap: overlap has no meaning for parameter_server");
  CHECK(problem_of(g3(R"(, "compute_slowdown": 2, "algorithm": "parameter_server")", "")) ==
        "test.json: /training/compute_slowdown: compute_slowdown has no meaning for "
        "parameter_server");
  CHECK(problem_of(g3(slowed(R"("exchange": 1.5)"), schedule("priority"))) ==
        "test.json: /training/overlap/exchange: is defined for fifo streams only");
  CHECK(problem_of(g3(R"(, "compute_slowdown": 2, "overlap": {"compute": 2})", "")) ==
        "test.json: /training/overlap/compute: give either compute or /training/compute_slowdown");
  CHECK(problem_of(g3(slowed(R"("compute": {"backwards": 2})"), "")) ==
        "test.json: /training/overlap/compute/backwards: unknown kind of computing \"backwards\"; "
        "did "
        "you mean \"backward\"?");
}

TEST_CASE("plan_cost: buckets by one cost, times by another") {
  // With the cost that the run has, MG-WFBP sends messages by themselves; a start-up of 100 s
  // merges all of them.
  const auto run_by = [](const std::string& cost) {
    return run_text(g3("", schedule("mg_wfbp") + cost));
  };
  const std::string merged = R"(, "plan_cost": {"startup_s": 100, "per_byte_s": 0.25})";
  const std::string same = R"(, "plan_cost": {"startup_s": 0.5, "per_byte_s": 0.25})";
  CHECK(run_by(merged).buckets.size() == 1);
  CHECK(*run_by(merged).summary.iteration_time_s == within(23.5, 1e-9));
  CHECK(run_by(same).buckets.size() == run_by("").buckets.size());
  CHECK(problem_of(g3("", schedule("wfbp") + same)) ==
        "test.json: /communication/plan_cost: plan_cost has no meaning for schedule wfbp");
}

TEST_CASE(
    "overlap: what an exchange slows down begins earlier, and no bound counts it as time saved") {
  const std::string layers = R"({"workload": {"layers": [
      {"name": "1", "forward_s": 1, "backward_s": 4, "gradient_bytes": 0},
      {"name": "2", "forward_s": 1, "backward_s": 2, "gradient_bytes": 40}]},
    "cluster": {"nodes": 3, "network": {"cost": {"startup_s": 0.5, "per_byte_s": 0.25}}},
    "training": {"iterations": 3, "overlap": {"compute": 2}},
    "variability": {"compute_cv": 1}, "seed": )";
  for (int seed = 1; seed <= 50; ++seed) {
    const Summary summary = run_text(layers + std::to_string(seed) + "}").summary;
    REQUIRE(summary.lower_bound_s);
    CHECK(*summary.lower_bound_s <= *summary.iteration_time_s);
  }
}
