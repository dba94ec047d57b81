#include "programs/event_pass.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "programs/builders/step_programs.hpp"
#include "programs/program_draft.hpp"
#include "programs/random_programs.hpp"
#include "programs/steady_state.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim::programs;
using stepsim::base::RandomStream;
using stepsim::testing::within;

namespace {

// A random program of one rank under interference, with times that no sum of doubles gives exactly;
// one in four times is 0, and one time in four is that of another operation, so that ends meet.
Program slowed_program(RandomStream& random) {
  Program program = with_ending_waits(random_program(random, 1, 5), random);
  double before = 1;
  for (Operation& operation : program.operations) {
    const auto draw = random.integer(0, 3);
    before = draw == 0 ? 0 : draw == 1 ? before : random.uniform(0.01, 3);
    (operation.type == OperationType::exchange ? operation.data : operation.seconds) = {before};
    operation.kind = random.integer(0, 1) == 0 ? Kind::forward : Kind::update;
  }
  program.interference.compute[static_cast<std::size_t>(Kind::forward)] = random.uniform(1, 3);
  program.interference.compute[static_cast<std::size_t>(Kind::update)] = random.uniform(1, 2);
  return program;
}

// The program whose operation 0 waits for all of the iteration before, and all others for it.
Program begun_idle(const Program& program) {
  Program made = program;
  made.waits.clear();
  std::vector<bool> is_known(program.streams.size());
  for (std::uint32_t o = 0; o < program.operations.size(); ++o) {
    made.first_wait[o] = made.waits.size();
    if (o < program.iteration_size() && o > 0 && !is_known[program.operations[o].stream]) {
      made.waits.push_back({.operation = 0, .distance = 0});
    }
    is_known[program.operations[o].stream] = true;
    for (const Wait& wait : program.waits_of(o)) {
      if (o > 0 || wait.distance > 0) {
        made.waits.push_back(wait);
      }
    }
    for (std::uint32_t other = 1; o == 0 && other < program.iteration_size(); ++other) {
      made.waits.push_back({.operation = other, .distance = 1});
    }
  }
  made.first_wait.back() = made.waits.size();
  return made;
}

} // namespace

TEST_CASE("fifo pass: iterations that begin on idle streams repeat the first one") {
  int repeated = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    CAPTURE(seed);
    RandomStream random({.seed = 84, .point = seed});
    Program program = slowed_program(random);
    const bool is_idle = random.integer(0, 2) > 0;
    if (is_idle) {
      program = begun_idle(without_warmup(program));
    }
    const std::int64_t iterations = random.integer(2, 12);
    const OperationTimes events = event_pass(program, iterations, {}, Record::all);
    const OperationTimes found = times_from_idle(program, layout_of(program), iterations)
                                     .value_or(fifo_pass(program, iterations, Record::all));
    repeated += is_idle && found.period_s ? 1 : 0;
    CHECK(found.makespan_s == within(events.makespan_s, 1e-12));
    for (std::int64_t t = 0; t < iterations; ++t) {
      const double later = found.later_s(t);
      CHECK(latest_marker_end(found, t) == within(latest_marker_end(events, t), 1e-12));
      for (std::uint32_t o = 0; o < events.operations; ++o) {
        const std::size_t row = found.at(found.row(t), o, 0);
        const std::size_t at = events.at(t, o, 0);
        CHECK(found.start[row] + later == within(events.start[at], 1e-12));
        CHECK(found.end[row] + later == within(events.end[at], 1e-12));
      }
    }
    if (found.period_s) {
      CHECK(event_period(program).period.value == *found.period_s);
    }
  }
  CHECK(repeated > 1000);
}

TEST_CASE("fifo pass: a single pass over computing, delays and exchanges has its bits") {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    CAPTURE(seed);
    RandomStream random({.seed = 85, .point = seed});
    double before = 1;
    const auto seconds = [&] { // 0 now and then, or as before, so that ends meet
      const auto draw = random.integer(0, 3);
      return before = draw == 0 ? 0 : draw == 1 ? before : random.uniform(0.01, 3);
    };
    ProgramDraft draft;
    const std::uint32_t streams[]{draft.stream("compute"), draft.stream("reduce")};
    std::vector<std::uint32_t> computed{
        draft.compute("o0", streams[0], Kind::forward, {seconds()})};
    std::vector<std::uint32_t> all = computed;
    const std::int64_t count = random.integer(0, 12);
    for (std::int64_t o = 1; o <= count; ++o) {
      const std::string id = "o" + std::to_string(o);
      if (random.integer(0, 1) == 0) {
        const Kind kind = random.integer(0, 1) == 0 ? Kind::forward : Kind::update;
        computed.push_back(draft.compute(id, streams[0], kind, {seconds()}));
        all.push_back(computed.back());
        continue;
      }
      const double startup = random.integer(0, 1) == 0 ? 0 : 0.125;
      const auto last = static_cast<std::int64_t>(computed.size()) - 1;
      std::optional<std::uint32_t> delay;
      if (random.integer(0, 1) == 0) {
        delay = draft.compute("d" + id, draft.stream("host" + id), Kind::other, {seconds()});
        draft.last().type = OperationType::delay;
        draft.wait(*delay, computed[static_cast<std::size_t>(random.integer(0, last))], 0);
        all.push_back(*delay);
      }
      all.push_back(draft.exchange(id, streams[1], Kind::allreduce, {startup}, {seconds()}));
      for (std::int64_t wait = random.integer(delay ? 0 : 1, 2); wait > 0; --wait) {
        draft.wait(all.back(), computed[static_cast<std::size_t>(random.integer(0, last))], 0);
      }
      if (delay) {
        draft.wait(all.back(), *delay, 0);
      }
    }
    for (const std::uint32_t o : all) {
      draft.wait(computed[0], o, 1);
    }
    Program program = draft.finish(computed.back());
    program.interference.compute[static_cast<std::size_t>(Kind::forward)] = random.uniform(1, 3);
    program.interference.compute[static_cast<std::size_t>(Kind::update)] = random.uniform(1, 2);
    const OperationLayout layout = layout_of(program);
    CHECK(layout.single_pass.empty() == (computed.size() == all.size()));
    const OperationTimes events = fifo_pass(program, 1, Record::all);
    const OperationTimes found = *times_from_idle(program, layout, 1);
    CHECK(found.start == events.start);
    CHECK(found.end == events.end);
    CHECK(found.marker_end == events.marker_end);
    CHECK(found.makespan_s == events.makespan_s);
    CHECK(*found.period_s == event_period(program).period.value);
    Program free = program;
    free.interference = {};
    CHECK(period_from_idle(program, layout, {}) == fifo_pass(free, 1, Record::all).makespan_s);
  }
}

TEST_CASE("fifo pass: all times have the bits of the event pass") {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    CAPTURE(seed);
    RandomStream random({.seed = 83, .point = seed});
    const Program program = slowed_program(random);
    const std::int64_t iterations = random.integer(1, 12);
    REQUIRE(fifo_pass_applies(program));
    const OperationTimes events = event_pass(program, iterations, {}, Record::all);
    const OperationTimes found = fifo_pass(program, iterations, Record::all);
    CHECK(found.start == events.start);
    CHECK(found.end == events.end);
    CHECK(found.marker_end == events.marker_end);
    CHECK(found.makespan_s == events.makespan_s);
    CHECK(fifo_pass(program, iterations).marker_end == events.marker_end);
    // Stopped early it knows all of the iterations that are asked for.
    const std::int64_t needed = random.integer(0, iterations);
    const OperationTimes first = fifo_pass(program, iterations, Record::all, needed);
    for (std::size_t i = 0; i < events.at(needed, 0, 0); ++i) {
      CHECK(first.start[i] == events.start[i]);
      CHECK(first.end[i] == events.end[i]);
    }
  }
}

TEST_CASE("fifo pass: the update of the tail runs once, behind the last exchange") {
  const Program program = [] {
    Program made =
        pipe_sgd_program({{.forward = {1}, .backward = {2}, .bytes = 1}},
                         {{.layers = {0}, .reduce = {.startup = {0}, .data = {4}}, .gather = {}}},
                         {.update = {0.5}, .width = 2});
    made.interference.compute.fill(1.5);
    return made;
  }();
  const OperationTimes events = event_pass(program, 5, {}, Record::all);
  CHECK(fifo_pass(program, 5, Record::all).makespan_s == events.makespan_s);
}

TEST_CASE(
    "fifo pass: a single pass ends with the tail, also where that computes beside an exchange") {
  const std::vector<LayerTimes> layers(3, {.forward = {1}, .backward = {2}, .bytes = 1});
  std::vector<BucketTimes> buckets;
  for (const std::uint32_t layer : {2U, 1U, 0U}) {
    buckets.push_back({.layers = {layer}, .reduce = {.startup = {0}, .data = {1.5}}, .gather = {}});
  }
  ProgramDraft draft;
  const std::uint32_t compute = draft.stream("compute");
  const std::uint32_t first = draft.compute("B", compute, Kind::backward, {2});
  const std::uint32_t exchange =
      draft.exchange("X", draft.stream("reduce"), Kind::allreduce, {0}, {3});
  draft.wait(exchange, first, 0);
  draft.wait(first, exchange, 1);
  draft.start_tail();
  draft.compute("T", compute, Kind::update, {1});
  std::vector<Program> programs{draft.finish(first)};
  for (const NextForward next : {NextForward::barrier, NextForward::per_layer}) {
    programs.push_back(sync_sgd_program(layers, buckets, {.update = {0.5}, .next_forward = next}));
  }
  for (Program& program : programs) {
    program.interference.compute.fill(1.5);
    const OperationLayout layout = layout_of(program);
    REQUIRE_FALSE(layout.single_pass.empty());
    REQUIRE(program.tail_operations == 1);
    CHECK(times_from_idle(program, layout, 5)->makespan_s ==
          within(event_pass(program, 5, {}, Record::all).makespan_s, 1e-12));
  }
}

TEST_CASE("fifo pass: it leaves slowed exchanges and other disciplines to the event queue") {
  Program program;
  CHECK(fifo_pass_applies(program));
  program.interference.exchange = 1.5;
  CHECK_FALSE(fifo_pass_applies(program));
  program.interference.exchange = 1;
  program.streams.push_back({.name = "reduce", .discipline = Discipline::priority});
  CHECK_FALSE(fifo_pass_applies(program));
}
