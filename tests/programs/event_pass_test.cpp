#include "programs/event_pass.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/random.hpp"
#include "programs/operation_times.hpp"
#include "programs/program_draft.hpp"
#include "programs/random_programs.hpp"
#include "programs/recurrence.hpp"
#include "programs/steady_state.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim::programs;
using stepsim::Seconds;
using stepsim::base::RandomStream;
using stepsim::testing::within;

namespace {

// Pipe-SGD with one piece and K = 2.
Program pipelined(double compute_s, double exchange_s, double compute_slowdown,
                  double exchange_slowdown, double startup_s = 0) {
  ProgramDraft draft;
  const auto step = draft.compute("S", draft.stream("compute"), Kind::step, Seconds{compute_s});
  const auto exchange = draft.exchange("X", draft.stream("reduce"), Kind::allreduce,
                                       Seconds{startup_s}, Seconds{exchange_s - startup_s});
  draft.wait(exchange, step, 0);
  draft.wait(step, exchange, 2);
  draft.settings().interference.compute.fill(compute_slowdown);
  draft.settings().interference.exchange = exchange_slowdown;
  return draft.finish(step);
}

// Once all times repeat; -1 if they do not.
double period(const Program& program) {
  const EventPeriod found = event_period(program);
  return found.cyclicity > 0 ? found.period.value : -1;
}

// Messages of one stream, each ready at its own time: message i waits for a delay of ready_s[i].
struct Message {
  double ready_s;
  double startup_s;
  double data_s;
  std::int64_t bytes;
  std::int64_t priority;
};

// Ends of the messages.
std::vector<double> send(const Stream& stream, const std::vector<Message>& messages) {
  ProgramDraft draft;
  const auto channel = draft.stream(stream);
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const std::string number = std::to_string(i);
    const auto x = draft.exchange("X" + number, channel, Kind::allreduce,
                                  Seconds{messages[i].startup_s}, Seconds{messages[i].data_s});
    draft.last().bytes = messages[i].bytes;
    draft.last().priority = messages[i].priority;
    const auto ready = draft.compute("R" + number, draft.stream("host" + number), Kind::other,
                                     Seconds{messages[i].ready_s});
    draft.wait(x, ready, 0);
  }
  const Program program = draft.finish(0);
  check(program, "test");
  const OperationTimes times = event_pass(program, 1, {}, Record::all);
  std::vector<double> ends;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    ends.push_back(times.end[2 * i]);
  }
  return ends;
}

} // namespace

TEST_CASE("events: equal the vectors over ranks on random fifo programs, factors and groups") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    RandomStream random({.seed = 47, .point = seed});
    const auto ranks = static_cast<std::uint32_t>(random.integer(1, 4));
    const Program program = with_ending_waits(random_program(random, ranks), random);
    const Factors factors = random_factors(random, ranks, 6);
    const OperationTimes events = event_pass(program, 6, factors, Record::all);
    const OperationTimes vectors = rank_vectors(program, 6, factors, {}, Record::all);
    CHECK(events.start == vectors.start);
    CHECK(events.end == vectors.end);
    CHECK(events.marker_end == vectors.marker_end);
    CHECK(events.makespan_s == vectors.makespan_s);
  }
}

TEST_CASE("events: the tail runs once, after the last iteration") {
  ProgramDraft draft;
  const auto compute = draft.stream("compute");
  const auto host = draft.stream("host"); // has a tail alone
  const auto step = draft.compute("S", compute, Kind::step, Seconds{1});
  const auto exchange =
      draft.exchange("X", draft.stream("reduce"), Kind::allreduce, Seconds{0}, Seconds{4});
  draft.wait(exchange, step, 0);
  draft.start_tail();
  const auto update = draft.compute("U", compute, Kind::update, Seconds{0.5});
  draft.wait(update, exchange, 1);
  const auto last = draft.compute("V", host, Kind::update, Seconds{0.25});
  draft.wait(last, update, 0, Scope::all);
  draft.settings().ranks = 2;
  const Program program = draft.finish(step);
  check(program, "test");
  CHECK(event_pass(program, 3).makespan_s == 1 + 3 * 4 + 0.5 + 0.25);
  CHECK(rank_vectors(program, 3).makespan_s == 1 + 3 * 4 + 0.5 + 0.25);
  CHECK(event_pass(program, 3).marker_end == std::vector<double>{1, 1, 2, 2, 3, 3});
}

TEST_CASE("events: the period of a pipelined step under interference (rows I1 to I4)") {
  CHECK(period(pipelined(100, 60, 1.5, 1)) == within(120, 1e-9));
  CHECK(period(pipelined(60, 100, 2, 1)) == within(110, 1e-9));
  // All of the exchange is stretched: 60 x 1.25 s next to computing, and 120 / 1.5 of 100 s next to
  // computing. That gives 125 and 140.
  CHECK(period(pipelined(100, 60, 1.5, 1.25)) == within(100 + 75 * (1 - 1 / 1.5), 1e-9));
  CHECK(period(pipelined(60, 100, 2, 1.5)) == within(120 + (100 - 120 / 1.5), 1e-9));
  // A start-up of 6 s is not stretched: 6 + 54 x 1.25 s next to computing.
  CHECK(period(pipelined(100, 60, 1.5, 1.25, 6)) ==
        within(100 + (6 + 54 * 1.25) * (1 - 1 / 1.5), 1e-9));
}

TEST_CASE("events: with two streams the slowed period is max(m, c + m (1 - 1 / s))") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    CAPTURE(seed);
    RandomStream random({.seed = 48, .point = seed});
    const double c = random.uniform(1, 10);
    const double m = random.uniform(1, 10);
    const double s = random.uniform(1, 4);
    CHECK(period(pipelined(c, m, s, 1)) == within(std::max(m, c + m * (1 - 1 / s)), 1e-9));
  }
}

TEST_CASE("events: start-up slows computing but is not slowed itself") {
  // Exchange 1 s start-up, 3 s data; computing 10 s, slowed to 1 / 2, from the same instant on.
  ProgramDraft draft;
  const auto compute = draft.compute("C", draft.stream("compute"), Kind::forward, Seconds{10});
  draft.exchange("X", draft.stream("reduce"), Kind::allreduce, Seconds{1}, Seconds{3});
  draft.settings().interference.compute.fill(2);
  draft.settings().interference.exchange = 1.5;
  const OperationTimes times = event_pass(draft.finish(compute), 1, {}, Record::all);
  const double exchange_end = 1 + 1.5 * 3;
  CHECK(times.end[1] == exchange_end);
  CHECK(times.end[0] == within(exchange_end + (10 - exchange_end / 2), 1e-12));
}

TEST_CASE("events: an exchange is slowed while any rank of its part computes") {
  // Rank 1 computes for 4 s next to an exchange of 6 s, rank 0 for 1 s.
  ProgramDraft draft;
  const auto compute = draft.compute("C", draft.stream("compute"), Kind::forward, Seconds{1});
  draft.exchange("X", draft.stream("reduce"), Kind::allreduce, Seconds{0}, Seconds{6});
  draft.settings().interference.exchange = 2;
  draft.settings().ranks = 2;
  const Program program = draft.finish(compute);
  const OperationTimes times =
      event_pass(program, 1, {.compute = {1, 4}, .exchange = {}}, Record::all);
  CHECK(times.end == std::vector<double>{1, 4, 4 + (6 - 4.0 / 2), 4 + (6 - 4.0 / 2)});
}

TEST_CASE("events: priority sends the most urgent message of those that wait") {
  const Stream one{.name = "reduce", .discipline = Discipline::priority, .credit_bytes = 1};
  // The second waits for the first, which is under way; the third overtakes it.
  CHECK(send(one, {{0, 1, 2, 5, 9}, {1, 1, 2, 5, 8}, {2, 1, 2, 5, 0}}) ==
        std::vector<double>{3, 3 + 3 + 3, 3 + 3});
  // Equal instants: what becomes ready when a message ends is there before the next is dispatched.
  CHECK(send(one, {{0, 1, 2, 5, 9}, {1, 1, 2, 5, 8}, {3, 1, 2, 5, 0}}) ==
        std::vector<double>{3, 3 + 3 + 3, 3 + 3});
}

TEST_CASE("events: credit lets start-ups overlap, data never") {
  Stream stream{.name = "reduce", .discipline = Discipline::priority, .credit_bytes = 6};
  const std::vector<Message> messages{{0, 1, 2, 5, 0}, {0, 1, 2, 5, 1}, {0, 1, 2, 5, 2}};
  // 6 - 5 > 0, so the second goes at once, the third when the first has ended.
  CHECK(send(stream, messages) == std::vector<double>{3, 3 + 2, 3 + 2 + 2});
  stream.credit_bytes = 5;
  CHECK(send(stream, messages) == std::vector<double>{3, 3 + 3, 3 + 3 + 3});
}

TEST_CASE("events: two messages at once end at a + 1.5 b m1 and a + b m2 + 0.5 b m1") {
  const Stream two{.name = "reduce", .discipline = Discipline::at_once};
  CHECK(send(two, {{0, 1, 2, 0, 0}, {0, 1, 6, 0, 0}}) ==
        std::vector<double>{1 + 1.5 * 2, 1 + 6 + 0.5 * 2});
  // The third starts when a slot is free; its start-up slows nobody.
  CHECK(send(two, {{0, 1, 2, 0, 0}, {0, 1, 6, 0, 0}, {0, 1, 4, 0, 0}}) ==
        std::vector<double>{4, 5 + 1.5 * 3, 5 + 1.5 * 3 + 1});
  // Issue order: the second is ready but waits for the first.
  CHECK(send(two, {{5, 1, 2, 0, 0}, {0, 1, 1, 0, 0}}) ==
        std::vector<double>{5 + 1 + 1.5 + 1, 5 + 1 + 1.5});
}

TEST_CASE("events: one slot, or one message in flight that is always the next, is a fifo stream") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    CAPTURE(seed);
    RandomStream random({.seed = 50, .point = seed});
    Program program = random_program(random, 1);
    // A stream of its own for the exchanges, behind which nothing else queues up.
    program.streams.push_back({.name = "messages"});
    for (Operation& operation : program.operations) {
      if (operation.type == OperationType::exchange) {
        operation.stream = static_cast<std::uint32_t>(program.streams.size() - 1);
      }
    }
    if (!problems_of(program, "random").empty()) {
      continue; // moving them may have made a cycle
    }
    const OperationTimes fifo = event_pass(program, 6, {}, Record::all);
    program.streams.back().discipline = Discipline::at_once;
    program.streams.back().concurrency = 1;
    CHECK(event_pass(program, 6, {}, Record::all).end == fifo.end);
  }
}

TEST_CASE("events: without slowdown, interference changes no bit") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    CAPTURE(seed);
    RandomStream random({.seed = 51, .point = seed});
    Program program = random_program(random, 1);
    const OperationTimes alone = event_pass(program, 20, {}, Record::all);
    program.interference.compute.fill(1);
    program.interference.exchange = 1;
    CHECK(event_pass(program, 20, {}, Record::all).end == alone.end);
    // A slowdown of a kind that does not occur runs the other code.
    program.interference.compute[static_cast<std::size_t>(Kind::pull)] = 2;
    const OperationTimes slow = event_pass(program, 20, {}, Record::all);
    for (std::size_t i = 0; i < slow.end.size(); ++i) {
      CHECK(slow.end[i] == within(alone.end[i], 1e-12));
    }
  }
}
