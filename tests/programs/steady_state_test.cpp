#include "programs/steady_state.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/random.hpp"
#include "programs/exposed.hpp"
#include "programs/operation_times.hpp"
#include "programs/program_draft.hpp"
#include "programs/random_programs.hpp"
#include "programs/recurrence.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim::programs;
using stepsim::Seconds;
using stepsim::base::RandomStream;
using stepsim::testing::plus_minus;
using stepsim::testing::within;

namespace {

// Slopes: one second more on every operation that `counts`.
template <class Counts> std::vector<double> slopes(const Program& program, Counts counts) {
  std::vector<double> result;
  for (const Operation& operation : program.operations) {
    result.push_back(counts(operation) ? 1 : 0);
  }
  return result;
}

// Pipe-SGD with one piece: the step waits for the exchange of K iterations ago.
Program pipelined(double compute_s, double exchange_s, std::int32_t width) {
  ProgramDraft draft;
  const auto step = draft.compute("S", draft.stream("compute"), Kind::step, Seconds{compute_s});
  const auto exchange =
      draft.exchange("X", draft.stream("reduce"), Kind::allreduce, Seconds{0}, Seconds{exchange_s});
  draft.wait(exchange, step, 0);
  draft.wait(step, exchange, width);
  return draft.finish(step);
}

// Mean slope of the marker over iterations late enough to be steady, whose number is a multiple of
// what the times repeat after. With more streams than one the marker may run at its own pace: the
// slope is that of the slowest operation.
double long_run_slope(const Program& program) {
  const std::int64_t warm_up = 400;
  const std::int64_t count = 2520;
  const OperationTimes times = recurrence(program, warm_up + count, Record::all);
  double slope = 0;
  for (std::size_t o = 0; o < program.operations.size(); ++o) {
    const double rise =
        times.end[times.at(warm_up + count - 1, o, 0)] - times.end[times.at(warm_up - 1, o, 0)];
    slope = std::max(slope, rise / static_cast<double>(count));
  }
  return slope;
}

} // namespace

TEST_CASE("steady state: iterations that alternate have the period of the cycle (row P1)") {
  const Program program = alternating();
  CHECK(recurrence(program, 6).marker_end == std::vector<double>{3, 8, 15, 20, 27, 32});
  const SteadyState state = steady_state(program);
  CHECK(state.period.value == (3.0 + 4 + 5) / 2);
  CHECK(state.cycle == std::vector<std::uint32_t>{0, 1, 2});
  CHECK(state.cycle_iterations == 2);
  CHECK(!state.other_cycles);
  const Derivative d =
      derivative(state, slopes(program, [](const Operation& o) { return o.id == "b"; }));
  CHECK(d.left == 0.5);
  CHECK(d.right == 0.5);
}

TEST_CASE("steady state: an operation that takes no time makes no further chain") {
  ProgramDraft draft;
  const auto step = draft.compute("S", draft.stream("compute"), Kind::step, Seconds{100});
  const auto update = draft.compute("U", draft.stream("update"), Kind::update, Seconds{0});
  draft.wait(update, step, 0);
  draft.wait(step, update, 1);
  CHECK(!steady_state(draft.finish(step)).other_cycles);
}

TEST_CASE("steady state: the period of a pipelined step is max(c, m, (c + m) / K) (rows P5, P6)") {
  const auto compute = [](const Operation& o) { return o.type == OperationType::compute; };
  const auto expect = [&](double c, double m, std::int32_t width, double period, double left,
                          double right) {
    const Program program = pipelined(c, m, width);
    const SteadyState state = steady_state(program);
    CHECK(state.period.value == period);
    const Derivative d = derivative(state, slopes(program, compute));
    CHECK(d.left == left);
    CHECK(d.right == right);
  };
  expect(100, 60, 1, 160, 1, 1);
  expect(100, 60, 2, 100, 1, 1);
  expect(60, 100, 2, 100, 0, 0);
  expect(60, 100, 3, 100, 0, 0);
  expect(100, 100, 2, 100, 0, 1);
  const SteadyState tie = steady_state(pipelined(100, 100, 2));
  CHECK(tie.other_cycles);
  CHECK(tie.cycle == std::vector<std::uint32_t>{0}); // fewest operations, first in the list
  const Program program = pipelined(100, 100, 2);
  const Derivative exchange =
      derivative(tie, slopes(program, [&](const Operation& o) { return !compute(o); }));
  CHECK(exchange.left == 0);
  CHECK(exchange.right == 1);
  CHECK(exposed_communication(pipelined(100, 60, 1)).value == 60);
  CHECK(exposed_communication(pipelined(100, 60, 2)).value == 0);
  CHECK(exposed_communication(pipelined(60, 100, 2)).value == 40);
}

TEST_CASE("exposed communication: a delay before one that computing waits for takes its time") {
  ProgramDraft draft;
  const auto line = draft.stream("input");
  const auto fetch = draft.compute("fetch", line, Kind::step, Seconds{4});
  draft.last().type = OperationType::delay;
  const auto decode = draft.compute("decode", line, Kind::step, Seconds{1});
  draft.last().type = OperationType::delay;
  const auto step = draft.compute("step", draft.stream("compute"), Kind::step, Seconds{2});
  draft.wait(step, decode, 0);
  (void)fetch;
  const Program program = draft.finish(step);
  CHECK(steady_state(program).period.value == 5);
  CHECK(exposed_communication(program).value == 0); // there is no exchange
}

TEST_CASE("exposed communication: a delay that is the marker takes its time without exchanges") {
  ProgramDraft draft;
  const auto compute = draft.stream("compute");
  const auto exchange =
      draft.exchange("X", draft.stream("reduce"), Kind::allreduce, Seconds{0}, Seconds{10});
  const auto pause = draft.compute("pause", compute, Kind::update, Seconds{8});
  draft.last().type = OperationType::delay;
  draft.wait(pause, exchange, 1);
  draft.wait(exchange, pause, 1);
  CHECK(exposed_communication(draft.finish(pause)).value == 2);
}

TEST_CASE("steady state: a tie of two ends is a kink (row E3)") {
  // Forward 1, 1, backward 2, 2, all-reduces of 2 (layer 2) and 1 (layer 1).
  ProgramDraft draft;
  const auto compute = draft.stream("compute");
  const auto reduce = draft.stream("reduce");
  const auto f1 = draft.compute("F1", compute, Kind::forward, Seconds{1});
  const auto f2 = draft.compute("F2", compute, Kind::forward, Seconds{1});
  const auto b2 = draft.compute("B2", compute, Kind::backward, Seconds{2});
  const auto b1 = draft.compute("B1", compute, Kind::backward, Seconds{2});
  const auto x2 = draft.exchange("X2", reduce, Kind::allreduce, Seconds{0}, Seconds{2});
  const auto x1 = draft.exchange("X1", reduce, Kind::allreduce, Seconds{0}, Seconds{1});
  draft.wait(f1, x1, 1);
  draft.wait(f2, x2, 1);
  draft.wait(x2, b2, 0);
  draft.wait(x1, b1, 0);
  const Program program = draft.finish(b1);
  const SteadyState state = steady_state(program);
  CHECK(state.period.value == 7);
  CHECK(state.other_cycles);
  for (const char* id : {"X2", "B1"}) {
    CAPTURE(id);
    const Derivative d =
        derivative(state, slopes(program, [&](const Operation& o) { return o.id == id; }));
    CHECK(d.left == 0);
    CHECK(d.right == 1);
  }
}

TEST_CASE("steady state: the period is the slope of the times of random programs") {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    CAPTURE(seed);
    RandomStream random({.seed = 44, .point = seed});
    const Program program = with_ending_waits(random_program(random, 1, 12), random);
    const SteadyState state = steady_state(program);
    CHECK(state.period.value == steady_state(without_warmup(program)).period.value);
    CHECK(long_run_slope(program) == within(state.period.value, 1e-9));
    double sum = 0; // shares of the critical cycle
    for (const std::uint32_t o : state.cycle) {
      sum += program.operations[o].duration_s();
    }
    CHECK(sum / static_cast<double>(state.cycle_iterations) == within(state.period.value, 1e-12));
  }
}

TEST_CASE("steady state: longer operations never help, fewer or longer waits never hurt") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    RandomStream random({.seed = 45, .point = seed});
    const Program program = random_program(random, 1);
    const double period = steady_state(program).period.value;
    Program longer = program;
    Operation& slow = longer.operations[static_cast<std::size_t>(
        random.integer(0, static_cast<std::int64_t>(program.operations.size()) - 1))];
    slow.seconds += Seconds{0.25};
    slow.data += Seconds{0.25};
    CHECK(steady_state(longer).period.value >= period);
    if (!program.waits.empty()) {
      Program looser = program;
      looser
          .waits[static_cast<std::size_t>(
              random.integer(0, static_cast<std::int64_t>(program.waits.size()) - 1))]
          .distance += 1;
      CHECK(steady_state(looser).period.value <= period);
    }
    Program scaled = program;
    for (Operation& operation : scaled.operations) {
      operation.seconds = operation.seconds * 4;
      operation.startup = operation.startup * 4;
      operation.data = operation.data * 4;
    }
    CHECK(steady_state(scaled).period.value == 4 * period);
  }
}

TEST_CASE("steady state: derivatives are the slopes on either side") {
  int kinks = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    RandomStream random({.seed = 46, .point = seed});
    Program program = random_program(random, 1, 12);
    std::vector<double> slope;
    for (std::size_t o = 0; o < program.operations.size(); ++o) {
      program.operations[o].seconds += Seconds{1}; // room to take away
      program.operations[o].startup += Seconds{1};
      slope.push_back(static_cast<double>(random.integer(0, 3)));
    }
    const SteadyState state = steady_state(program);
    const Derivative d = derivative(state, slope);
    const auto moved = [&](double step) {
      Program other = program;
      for (std::size_t o = 0; o < slope.size(); ++o) {
        other.operations[o].seconds += Seconds{step * slope[o]};
        other.operations[o].startup += Seconds{step * slope[o]};
      }
      return steady_state(other).period.value;
    };
    const double step = 0x1p-20; // exact, and smaller than any gap between cycles
    CHECK((moved(step) - state.period.value) / step == plus_minus(d.right, 1e-6));
    CHECK((state.period.value - moved(-step)) / step == plus_minus(d.left, 1e-6));
    CHECK(0 <= d.left);
    CHECK(d.left <= d.right);
    kinks += d.left < d.right ? 1 : 0;
  }
  CHECK(kinks > 5);
}
