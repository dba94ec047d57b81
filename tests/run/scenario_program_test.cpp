// The program of a scenario has the period and the exposed communication that a run reports:
// today's formulas are shortcuts of programs (TRN 2.10).
#include "run/scenario_program.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>

#include "base/error.hpp"
#include "programs/event_pass.hpp"
#include "programs/explain/program_evaluation.hpp"
#include "programs/recurrence.hpp"
#include "programs/steady_state.hpp"
#include "run/program_memory.hpp"
#include "run/random_scenarios.hpp"
#include "run/run.hpp"
#include "run/run_program.hpp"
#include "run/summary.hpp"
#include "scenario/scenario_text.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using namespace stepsim::study;
using programs::OperationTimes;
using programs::Program;
using stepsim::testing::plus_minus;
using stepsim::testing::within;

namespace {

// Of pipe_sgd: the mean over the second half of the run, from end to end of an iteration, the later
// of its exchanges and its computing (PIP 10).
double second_half(const Program& made, std::int64_t iterations) {
  const OperationTimes times =
      programs::recurrence_applies(made)
          ? programs::recurrence(made, iterations, programs::Record::all)
          : programs::event_pass(made, iterations, {}, programs::Record::all);
  const auto end = [&](std::int64_t t) {
    double last = 0;
    for (std::uint32_t o = 0; t > 0 && o < made.iteration_size(); ++o) {
      last = std::max(last, times.end[times.at(t - 1, o, 0)]);
    }
    return last;
  };
  return (end(iterations) - end(iterations / 2)) / static_cast<double>(iterations - iterations / 2);
}

// Merged layers leave the times of iterations and exchanges as they are.
void check_merged(const Scenario& scenario, const Program& made) {
  const Program merged = scenario_program(scenario, false, MadeFor::figures).program;
  CHECK(merged.operations.size() <= made.operations.size());
  CHECK(programs::period_s(merged, {}) == within(programs::period_s(made, {}), 1e-9));
  const auto makespan = [](const Program& program) {
    programs::Evaluation evaluation;
    evaluation.iterations = 7;
    return programs::evaluate(program, evaluation, programs::Record::marker).makespan_s;
  };
  CHECK(makespan(merged) == within(makespan(made), 1e-9));
}

// A program that is retimed is the one made anew, and so is the summary of its run.
int check_retimed(const Scenario& scenario) {
  Scenario other = scenario;
  other.cluster.network.latency_s *= 0.5;
  other.cluster.network.block_latency_s *= 0.5;
  other.cluster.network.bandwidth_Bps *= 2.5;
  ProgramMemory known;
  known.made = scenario_program(scenario, false, MadeFor::figures);
  if (!retime(other, MadeFor::figures, nullptr, known)) {
    return 0;
  }
  const Program& found = known.made->program;
  const Program made = scenario_program(other, false, MadeFor::figures).program;
  REQUIRE(found.operations.size() == made.operations.size());
  CHECK(found.first_wait == made.first_wait);
  CHECK(found.marker == made.marker);
  for (std::size_t o = 0; o < made.operations.size(); ++o) {
    const programs::Operation& a = found.operations[o];
    const programs::Operation& b = made.operations[o];
    CAPTURE(b.id);
    CHECK(a.id == b.id);
    CHECK(a.stream == b.stream);
    CHECK(a.seconds.value == b.seconds.value);
    CHECK(a.startup.value == b.startup.value);
    CHECK(a.data.value == b.data.value);
  }
  for (std::size_t w = 0; w < made.waits.size(); ++w) {
    CHECK(found.waits[w].operation == made.waits[w].operation);
    CHECK(found.waits[w].distance == made.waits[w].distance);
  }
  ProgramMemory memory;
  (void)run(scenario, Detail::summary, &memory);
  CHECK(flat_summary(run(other, Detail::summary, &memory).summary) ==
        flat_summary(run(other, Detail::summary).summary));
  return 1;
}

void check_equal(const Scenario& scenario) {
  const Summary run_says = run(scenario).summary;
  const ScenarioProgram made = scenario_program(scenario);
  check_merged(scenario, made.program);
  const double whole = programs::period_s(made.program, {});
  const double exposed =
      programs::beyond_s(programs::without_exchanges(made.program), {}, whole) / made.program.steps;
  const double period = scenario.training.algorithm == TrainingAlgorithm::pipe_sgd
                            ? second_half(made.program, scenario.training.iterations)
                            : whole / made.program.steps;
  CHECK(period == within(*run_says.iteration_time_s, 1e-9));
  if (scenario.training.input.value == 0) { // exposed beside reading is no difference of periods
    CHECK(exposed == plus_minus(*run_says.exposed_communication_s, 1e-9 * period));
  }
}

} // namespace

TEST_CASE("scenario program: messages that share a channel start alike, whatever form they have") {
  for (const std::string collective : {"lp", "auto", "double_binary_tree", "ring"}) {
    CAPTURE(collective);
    check_equal(study::testing::scenario(
        R"({"workload": {"layers": [
              {"name": "a", "forward_s": 1e-3, "backward_s": 1e-3, "gradient_bytes": 16000000},
              {"name": "b", "forward_s": 1e-3, "backward_s": 1e-3, "gradient_bytes": 150000000},
              {"name": "c", "forward_s": 1e-3, "backward_s": 1e-3, "gradient_bytes": 67000000}]},
            "cluster": {"nodes": 4, "network": {"latency_s": 6e-5, "bandwidth_Bps": 2e8}},
            "communication": {"schedule": "wfbp", "concurrency": 3, "collective": ")" +
        collective + R"("}})"));
  }
}

TEST_CASE("program: period and exposed communication are those of the run (random scenarios)") {
  // By hand: STEPSIM_PROGRAM_TRIALS=20000.
  const char* asked = std::getenv("STEPSIM_PROGRAM_TRIALS");
  const int trials = asked != nullptr ? std::atoi(asked) : 1500;
  const std::uint64_t seed = 1;
  CAPTURE(seed);
  base::RandomStream random({.seed = seed});
  std::map<std::string, int> compared; // by schedule
  int retimed = 0;
  for (int trial = 0; trial < trials; ++trial) {
    const std::string text =
        study::testing::random_scenario(random, study::testing::Workers::equal);
    CAPTURE(text);
    try {
      const Scenario scenario = study::testing::scenario(text, Leftovers::ignore);
      if (!why_no_program(scenario).empty()) {
        continue;
      }
      check_equal(scenario);
      retimed += check_retimed(scenario);
      const bool pipe = scenario.training.algorithm == TrainingAlgorithm::pipe_sgd;
      ++compared[pipe ? "pipe_sgd"
                      : std::string(buckets::planner(scenario.communication.schedule).name)];
    } catch (const InputError&) { // a combination that does not exist
    } catch (const SimulationError&) {
    } catch (const UsageError&) {}
  }
  CHECK(retimed > trials / 10);
  for (const std::string schedule : {"wfbp", "single", "ddp", "horovod", "mg_wfbp", "optimal",
                                     "asc_wfbp", "priority", "dear", "eager", "pipe_sgd"}) {
    CAPTURE(schedule);
    CHECK(compared[schedule] > 0);
  }
}

TEST_CASE("program: operations are labelled with layers and buckets, and streams named") {
  const ScenarioProgram made = scenario_program(study::testing::scenario(
      R"({"workload": {"layers": [
            {"name": "a", "forward_s": 1, "backward_s": 2, "gradient_bytes": 4},
            {"name": "b", "forward_s": 2, "backward_s": 2, "gradient_bytes": 8}]},
          "cluster": {"nodes": 4, "network": {"cost": {"startup_s": 0.5, "per_byte_s": 0.25}}},
          "communication": {"schedule": "single"}, "training": {"update_s": 0}})"));
  const programs::Program& program = made.program;
  CHECK(program.ranks == 4);
  CHECK(program.streams[0].name == "compute");
  CHECK(program.streams[1].name == "reduce");
  const programs::Operation& exchange = program.operations[program.iteration_size() - 1];
  CHECK(exchange.kind == programs::Kind::allreduce);
  CHECK(exchange.startup.value == 0.5);
  CHECK(exchange.data.value == 3);
  CHECK(exchange.unit == 0);
  CHECK(exchange.first_layer == 0);
  CHECK(exchange.last_layer == 1);
  CHECK(made.units[0].layer_bytes == std::vector<double>{4, 8});
}

TEST_CASE("program: what a program does not have is refused in words") {
  const auto reason = [](const std::string& training) {
    return why_no_program(study::testing::scenario(
        R"({"workload": {"layers": [{"name": "a", "forward_s": 1, "backward_s": 2, "gradient_bytes": 4}]},
            "cluster": {"nodes": 4, "network": {"latency_s": 1e-5, "bandwidth_Bps": 1e9}},
            "training": {)" +
        training + "}}"));
  };
  CHECK(reason("").empty());
  CHECK(reason(R"("input_s": 0.1)").empty());
  CHECK(reason(R"("algorithm": "parameter_server")").empty());
  CHECK(reason(R"("algorithm": "parameter_server", "mode": "async")") ==
        "asynchronous servers have no program; --set /training/mode=sync has one");
  CHECK(reason(R"("algorithm": "pipe_sgd", "warmup_iterations": 2)").empty());
}
