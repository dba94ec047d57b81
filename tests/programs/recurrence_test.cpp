#include "programs/recurrence.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "base/random.hpp"
#include "programs/builders/fsdp_program.hpp"
#include "programs/operation_times.hpp"
#include "programs/program_draft.hpp"
#include "programs/random_programs.hpp"
#include "programs/steady_state.hpp"
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

// Units of random times, some without parameters, in any order of gathers and reductions.
Program random_fsdp(RandomStream& random) {
  std::vector<UnitTimes> units(static_cast<std::size_t>(random.integer(1, 6)));
  const auto time = [&] { return Seconds{static_cast<double>(random.integer(0, 4)) / 3}; };
  for (UnitTimes& unit : units) {
    unit = {time(), time(), {time(), time()}, {time(), time()}, {}};
    unit.parameters = random.integer(0, 3) > 0;
  }
  FsdpOptions options{.micro_batches = static_cast<std::uint32_t>(random.integer(1, 3)),
                      .update = time()};
  options.reshard_after_forward = random.integer(0, 1) == 0;
  options.prefetch = static_cast<BackwardPrefetch>(random.integer(0, 2));
  options.communicators = static_cast<std::uint32_t>(random.integer(1, 2));
  options.exchange_each = random.integer(0, 1) == 0;
  return fsdp_program(units, options);
}

// Whether the times of iterations that are recorded until they repeat are those of all.
void check_repeats(const OperationTimes& found, const OperationTimes& all) {
  CHECK(found.makespan_s == within(all.makespan_s, 1e-12));
  for (std::int64_t t = 0; t < all.iterations; ++t) {
    CHECK(latest_marker_end(found, t) == within(latest_marker_end(all, t), 1e-12));
    for (std::uint32_t o = 0; o < all.operations; ++o) {
      const std::size_t at = found.at(found.row(t), o, 0);
      CHECK(found.start[at] + found.later_s(t) == within(all.start[all.at(t, o, 0)], 1e-12));
      CHECK(found.end[at] + found.later_s(t) == within(all.end[all.at(t, o, 0)], 1e-12));
    }
  }
}

// Whether the exchanges on the cycle are those of the only one. Returns whether there is only one.
bool check_cycle(const Program& program, const OperationTimes& found) {
  const SteadyState state = steady_state(program);
  CHECK(*found.period_s == within(state.period.value, 1e-12));
  double exchanges = 0;
  for (const std::uint32_t o : state.cycle) {
    const Operation& each = program.operations[o];
    exchanges += each.type == OperationType::exchange ? each.duration_s() : 0;
  }
  exchanges /= static_cast<double>(state.cycle_iterations);
  if (!state.other_cycles) {
    CHECK(cycle_exchange_s(program, layout_of(program), found) == within(exchanges, 1e-12));
  }
  return !state.other_cycles;
}

} // namespace

TEST_CASE("recurrence: a step that waits for the exchange before it takes their sum") {
  const OperationTimes times = recurrence(blocking_step(2, 4), 3, Record::all);
  CHECK(times.marker_end == std::vector<double>{2 + 4, 2 * (2 + 4), 3 * (2 + 4)});
  CHECK(times.start == std::vector<double>{0, 2, 6, 6 + 2, 12, 12 + 2});
  CHECK(times.end == std::vector<double>{2, 6, 6 + 2, 12, 12 + 2, 18});
  CHECK(times.makespan_s == 18);
  CHECK(mean_period(times, 1).value == 6);
}

TEST_CASE("ranks: factors are those of the inner iteration, iteration x steps + step") {
  Program program = blocking_step(2, 4);
  program.steps = 2;
  program.operations[1].step = 1;
  const Factors factors{.compute = {1, 100, 3, 100}, .exchange = {100, 2, 100, 1}};
  const OperationTimes times = rank_vectors(program, 2, factors);
  CHECK(times.marker_end == std::vector<double>{2 + 2 * 4, 10 + 3 * 2 + 4});
}

TEST_CASE("recurrence: the tail runs once, after the last iteration") {
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
  for (const OperationTimes& times : {recurrence(program, 3), rank_vectors(program, 3)}) {
    CHECK(times.marker_end == std::vector<double>{1, 2, 3});
    CHECK(times.makespan_s == 1 + 3 * 4 + 0.5 + 0.25); // exchanges queue up behind the first
  }
  const Factors factors{.compute = {2, 2, 2}, .exchange = {}}; // of iterations alone
  const OperationTimes slow = rank_vectors(program, 3, factors);
  CHECK(slow.marker_end == std::vector<double>{2, 4, 6});
  CHECK(slow.makespan_s == 2 + 3 * 4 + 0.5 + 0.25);
}

TEST_CASE("recurrence: equals the definition and the vector over ranks on random programs") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    RandomStream random({.seed = 41, .point = seed});
    const Program program = with_ending_waits(random_program(random, 1), random);
    REQUIRE(problems_of(program, "random").empty());
    const OperationTimes times = recurrence(program, 7, Record::all);
    CHECK(times.end == ends_by_definition(program, 7, {}));
    const OperationTimes vectors = rank_vectors(program, 7, {}, {}, Record::all);
    CHECK(times.end == vectors.end);
    CHECK(times.start == vectors.start);
    CHECK(times.marker_end == vectors.marker_end);
    CHECK(times.makespan_s == vectors.makespan_s);
    CHECK(times.makespan_s == *std::ranges::max_element(times.end));
  }
}

TEST_CASE("recurrence: times until iterations repeat are those of all iterations") {
  constexpr std::int64_t kIterations = 60;
  int repeated = 0;
  int single = 0; // critical cycle
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    CAPTURE(seed);
    RandomStream random({.seed = 46, .point = seed});
    const Program program = with_ending_waits(random_program(random, 1), random);
    const OperationTimes all = recurrence(program, kIterations, Record::all);
    const OperationTimes found = recurrence(program, kIterations, Record::steady);
    CHECK(recurrence(program, kIterations).marker_end == all.marker_end);
    const OperationTimes one = recurrence(program, 1, Record::all); // waits may look further back
    CHECK(std::ranges::equal(one.end, std::span(all.end).first(one.end.size())));
    check_repeats(found, all);
    if (found.period_s) {
      ++repeated;
      CHECK(found.repeats_from < kIterations);
      single += check_cycle(program, found) ? 1 : 0;
      const OperationTimes cut = first_iterations(found, 5);
      CHECK(cut.marker_end.size() <= 5);
      CHECK(latest_marker_end(cut, 4) == within(latest_marker_end(all, 4), 1e-12));
      CHECK(cut.makespan_s == within(first_iterations(all, 5).makespan_s, 1e-12));
    }
  }
  CHECK(repeated > 300);
  CHECK(single > 200);
}

TEST_CASE("recurrence: of iterations that begin on idle streams the first one tells all") {
  int single = 0; // critical cycle
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    RandomStream random({.seed = 47, .point = seed});
    const Program program = random_fsdp(random);
    const OperationTimes found = recurrence(program, 20, Record::steady);
    const bool idle = layout_of(program).begins_idle;
    CHECK((found.repeats_from == 1) == idle);
    check_repeats(found, recurrence(program, 20, Record::all));
    single += idle && check_cycle(program, found) ? 1 : 0;
  }
  CHECK(single > 50);
}

TEST_CASE("recurrence: the tail follows the last iteration, not the last one recorded") {
  for (const double exchange_s : {0.25, 1.5}) { // hidden behind computing, and bound by exchanges
    ProgramDraft draft;
    const auto compute = draft.stream("compute");
    const auto reduce = draft.stream("reduce");
    const auto step = draft.compute("S", compute, Kind::step, Seconds{1});
    const auto exchange =
        draft.exchange("X", reduce, Kind::allreduce, Seconds{0}, Seconds{exchange_s});
    draft.wait(exchange, step, 0);
    draft.wait(step, exchange, 3);
    draft.start_tail();
    const auto merge = draft.compute("U", compute, Kind::update, Seconds{0.5});
    draft.wait(merge, exchange, 3);
    draft.wait(merge, step, 1);
    const auto last = draft.exchange("V", reduce, Kind::broadcast, Seconds{0}, Seconds{0.125});
    draft.wait(last, merge, 0);
    const Program program = draft.finish(step);
    check(program, "test");
    const OperationTimes found = recurrence(program, 1'000, Record::steady);
    const double period = std::max(1.0, exchange_s);
    CHECK(found.period_s == period);
    CHECK(found.repeats_from < 20);
    CHECK(found.makespan_s == recurrence(program, 1'000, Record::all).makespan_s);
  }
}

TEST_CASE("recurrence: a program whose times alternate is recorded as a whole") {
  // a (3 s) waits for c of the iteration before, b (4 s) for a, c (5 s) for b of the one before:
  // the ends of a differ by 5 and 7 s in turn.
  ProgramDraft draft;
  const auto stream = [&](const char* name) { return draft.stream(name); };
  const auto a = draft.compute("a", stream("a"), Kind::forward, Seconds{3});
  const auto b = draft.compute("b", stream("b"), Kind::forward, Seconds{4});
  const auto c = draft.compute("c", stream("c"), Kind::forward, Seconds{5});
  draft.wait(a, c, 1);
  draft.wait(b, a, 0);
  draft.wait(c, b, 1);
  const Program program = draft.finish(a);
  const OperationTimes times = recurrence(program, 20, Record::steady);
  CHECK(!times.period_s);
  CHECK(times.end == recurrence(program, 20, Record::all).end);
  CHECK(steady_period(program, layout_of(program)).value == 6);
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
