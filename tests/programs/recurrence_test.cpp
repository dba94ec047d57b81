#include "programs/recurrence.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "base/random.hpp"
#include "programs/operation_times.hpp"
#include "programs/program_check.hpp"
#include "programs/program_draft.hpp"
#include "programs/random_programs.hpp"
#include "programs/rank_vectors.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim::programs;
using stepsim::Seconds;
using stepsim::base::RandomStream;
using stepsim::testing::within;

namespace {

// compute S waits X(1), reduce X waits S(0).
Program blocking_step(double compute_s, double exchange_s) {
  ProgramDraft draft;
  const auto compute = draft.stream("compute");
  const auto reduce = draft.stream("reduce");
  const auto step = draft.compute("S", compute, Kind::step, Seconds{compute_s});
  const auto exchange =
      draft.exchange("X", reduce, Kind::allreduce, Seconds{0}, Seconds{exchange_s});
  draft.wait(exchange, step, 0);
  draft.wait(step, exchange, 1);
  return draft.finish(exchange);
}

} // namespace

TEST_CASE("recurrence: a step that waits for the exchange before it takes their sum") {
  const OperationTimes times = recurrence(blocking_step(2, 4), 3, {}, Record::all);
  CHECK(times.marker_end == std::vector<double>{2 + 4, 2 * (2 + 4), 3 * (2 + 4)});
  CHECK(times.start == std::vector<double>{0, 2, 6, 6 + 2, 12, 12 + 2});
  CHECK(times.end == std::vector<double>{2, 6, 6 + 2, 12, 12 + 2, 18});
  CHECK(times.makespan_s == 18);
  CHECK(mean_period(times, 1).value == 6);
}

TEST_CASE("recurrence: factors are those of the inner iteration, iteration x steps + step") {
  Program program = blocking_step(2, 4);
  program.steps = 2;
  program.operations[1].step = 1;
  const Factors factors{.compute = {1, 100, 3, 100}, .exchange = {100, 2, 100, 1}};
  const OperationTimes times = recurrence(program, 2, factors);
  CHECK(times.marker_end == std::vector<double>{2 + 2 * 4, 10 + 3 * 2 + 4});
}

TEST_CASE("recurrence: the tail runs once, after the last iteration, without factors") {
  ProgramDraft draft;
  const auto compute = draft.stream("compute");
  const auto reduce = draft.stream("reduce");
  const auto step = draft.compute("S", compute, Kind::step, Seconds{1});
  const auto exchange = draft.exchange("X", reduce, Kind::allreduce, Seconds{0}, Seconds{4});
  draft.wait(exchange, step, 0);
  draft.start_tail();
  const auto update = draft.compute("U", compute, Kind::update, Seconds{0.5});
  draft.wait(update, exchange, 1);
  const auto last = draft.compute("V", compute, Kind::update, Seconds{0.25});
  draft.wait(last, update, 0);
  const Program program = draft.finish(step);
  check(program, "test");
  const Factors factors{.compute = {2, 2, 2}, .exchange = {}};
  for (const OperationTimes& times :
       {recurrence(program, 3, factors), rank_vectors(program, 3, factors)}) {
    CHECK(times.marker_end == std::vector<double>{2, 4, 6});
    CHECK(times.makespan_s == 2 + 3 * 4 + 0.5 + 0.25); // exchanges queue up behind the first
  }
}

TEST_CASE("recurrence: equals the definition and the vector over ranks on random programs") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    RandomStream random({.seed = 41, .point = seed});
    const Program program = with_ending_waits(random_program(random, 1), random);
    REQUIRE(problems_of(program, "random").empty());
    const Factors factors = random_factors(random, 1, 7);
    const OperationTimes times = recurrence(program, 7, factors, Record::all);
    CHECK(times.end == ends_by_definition(program, 7, factors));
    const OperationTimes vectors = rank_vectors(program, 7, factors, {}, Record::all);
    CHECK(times.end == vectors.end);
    CHECK(times.start == vectors.start);
    CHECK(times.marker_end == vectors.marker_end);
    CHECK(times.makespan_s == vectors.makespan_s);
    CHECK(times.makespan_s == *std::ranges::max_element(times.end));
  }
}

TEST_CASE("recurrence: splitting an operation in two on its stream changes nothing") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    CAPTURE(seed);
    RandomStream random({.seed = 42, .point = seed});
    const Program program = random_program(random, 1);
    const auto split = static_cast<std::uint32_t>(
        random.integer(0, static_cast<std::int64_t>(program.operations.size()) - 1));
    // The first part keeps the waits, the second part is awaited.
    ProgramDraft draft;
    for (const Stream& stream : program.streams) {
      draft.stream(stream);
    }
    const auto moved = [&](std::uint32_t o) { return o >= split ? o + 1 : o; };
    for (std::uint32_t o = 0; o < program.operations.size(); ++o) {
      Operation operation = program.operations[o];
      if (o == split) {
        operation.seconds = operation.seconds / 2;
        operation.startup = operation.startup / 2;
        operation.data = operation.data / 2;
        draft.add(operation);
        operation.id = "second part";
      }
      draft.add(operation);
      for (const Wait& wait : program.waits_of(o)) {
        draft.wait(o == split ? o : moved(o), moved(wait.operation), wait.distance, wait.scope);
      }
    }
    const Program two = draft.finish(moved(program.marker));
    REQUIRE(problems_of(two, "split").empty());
    CHECK(recurrence(two, 6).marker_end == recurrence(program, 6).marker_end);
  }
}
