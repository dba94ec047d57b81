#include "programs/program_draft.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

using namespace stepsim::programs;
using stepsim::Seconds;

namespace {

// compute F B, reduce X; F waits X(1), X waits B(0).
Program small_program() {
  ProgramDraft draft;
  const auto compute = draft.stream("compute");
  const auto reduce = draft.stream("reduce");
  const auto forward = draft.compute("F", compute, Kind::forward, Seconds{1});
  const auto backward = draft.compute("B", compute, Kind::backward, Seconds{2});
  const auto exchange = draft.exchange("X", reduce, Kind::allreduce, Seconds{0}, Seconds{1});
  draft.wait(exchange, backward, 0);
  draft.wait(forward, exchange, 1);
  return draft.finish(backward);
}

// The first problem after a change of the valid program, "" if there is none.
std::string problem_after(const std::function<void(Program&)>& change) {
  Program program = small_program();
  change(program);
  const auto problems = problems_of(program, "p.json");
  return problems.empty() ? "" : problems.front().text();
}

} // namespace

TEST_CASE("program check: a valid program has no problem") {
  CHECK(problem_after([](Program&) {}) == "");
  CHECK_NOTHROW(check(small_program(), "p.json"));
}

TEST_CASE("program check: the distances of waits are not negative") {
  CHECK(problem_after([](Program& p) { p.waits[0].distance = -1; }) ==
        "p.json: /operations/0/waits/0/1: must be >= 0, got -1");
}

TEST_CASE("program check: a cycle within one iteration is named") {
  CHECK(problem_after([](Program& p) { p.waits[0].distance = 0; }) ==
        "p.json: /operations: F, X, B, F wait for each other in the same iteration");
  CHECK(problem_after([](Program& p) {
          p.waits[1].operation = 2;
          p.operations[2].id = "self";
        }) == "p.json: /operations: self, self wait for each other in the same iteration");
}

TEST_CASE("program check: on a priority stream the issue order is no wait, on others it is") {
  const auto with = [](Discipline discipline) {
    ProgramDraft draft;
    const auto reduce = draft.stream("reduce", discipline);
    const auto x = draft.exchange("X", reduce, Kind::allreduce, Seconds{0}, Seconds{1});
    const auto y = draft.exchange("Y", reduce, Kind::allreduce, Seconds{0}, Seconds{1});
    draft.wait(x, y, 0);
    return problems_of(draft.finish(x), "p.json").size();
  };
  CHECK(with(Discipline::fifo) == 1);
  CHECK(with(Discipline::at_once) == 1);
  CHECK(with(Discipline::priority) == 0);
}

TEST_CASE("program check: ids, steps and the marker") {
  CHECK(problem_after([](Program& p) { p.operations[1].id = "F"; }) ==
        "p.json: /operations/1/id: \"F\" appears twice");
  CHECK(problem_after([](Program& p) { p.operations[1].step = 1; }) ==
        "p.json: /operations/1/step: must be in [0, 0], got 1");
  CHECK(problem_after([](Program& p) { p.marker = 3; }) == "p.json: /marker: unknown operation 3");
}

TEST_CASE("program check: what streams that are not fifo cannot do") {
  CHECK(problem_after([](Program& p) {
          p.streams[1].discipline = Discipline::priority;
          p.operations[2].entry = Entry::each;
        }) == "p.json: /operations/2/entry: entry each needs a fifo stream");
  CHECK(problem_after([](Program& p) {
          p.streams[1].discipline = Discipline::at_once;
          p.groups.push_back({.name = "node", .parts = {{0}}});
          p.operations[2].group = 0;
        }) == "p.json: /operations/2/group: group node needs a fifo stream");
  CHECK(problem_after([](Program& p) { p.streams[0].discipline = Discipline::at_once; }) ==
        "p.json: /operations/0/stream: only exchanges go on a stream that is not fifo");
  CHECK(problem_after([](Program& p) {
          p.streams[1].discipline = Discipline::at_once;
          p.interference.exchange = 2;
        }) == "p.json: /overlap/exchange: is defined for fifo streams only");
  CHECK(problem_after([](Program& p) { // one problem, however many of them there are
          p.streams[1].discipline = Discipline::at_once;
          p.streams.push_back(p.streams[1]);
          p.streams[2].name = "other";
          p.interference.exchange = 2;
        }) == "p.json: /overlap/exchange: is defined for fifo streams only");
}

TEST_CASE("program check: a group is a partition of the ranks") {
  CHECK(problem_after([](Program& p) { p.groups.push_back({.name = "node", .parts = {{1}}}); }) ==
        "p.json: /groups/node/0/0: must be in [0, 0], got 1");
  CHECK(problem_after([](Program& p) {
          p.groups.push_back({.name = "node", .parts = {{0}, {0}}});
        }) == "p.json: /groups/node/1/0: rank 0 appears twice");
  CHECK(problem_after([](Program& p) {
          p.ranks = 3;
          p.groups.push_back({.name = "node", .parts = {{0, 2}}});
        }) == "p.json: /groups/node: holds 2 of 3 ranks; every rank has one part");
}

TEST_CASE("program check: limits are on operations, instances and history") {
  CHECK(problem_after([](Program& p) { p.ranks = 1U << 31; }) ==
        "p.json: the program has 3 operations on 2147483648 ranks; at most 2147483648 instances "
        "per iteration");
  CHECK(problem_after([](Program& p) {
          p.ranks = 1U << 20;
          p.waits[0].distance = 1 << 20;
        }).starts_with("p.json: /operations: waits look back on "));
  Program large;
  large.streams.push_back({.name = "compute"});
  large.operations.resize(1'000'001);
  large.first_wait.resize(large.operations.size() + 1);
  for (std::size_t o = 0; o < large.operations.size(); ++o) {
    large.operations[o].id = std::to_string(o);
  }
  CHECK(problems_of(large, "p.json").front().text() ==
        "p.json: the program has 1000001 operations per iteration; at most 1000000");
}

TEST_CASE("program check: the tail waits for the last iterations and for itself") {
  const auto problem = [](std::uint32_t awaited, std::int32_t distance) {
    ProgramDraft draft;
    const auto compute = draft.stream("compute");
    const auto step = draft.compute("S", compute, Kind::step, Seconds{1});
    draft.start_tail();
    draft.compute("U", compute, Kind::update, Seconds{1});
    const auto last = draft.compute("V", compute, Kind::update, Seconds{1});
    draft.wait(last, awaited, distance);
    const auto problems = problems_of(draft.finish(step), "p.json");
    return problems.empty() ? "" : problems.front().text();
  };
  CHECK(problem(0, 1) == "");
  CHECK(problem(1, 0) == "");
  CHECK(problem(0, 0) == "p.json: /operations/2/waits/0/1: must be >= 1 in the tail, got 0");
  CHECK(problem(1, 1).ends_with("at distance 0"));
  CHECK(problem(2, 0).ends_with("at distance 0"));
}

TEST_CASE("program check: operations that nothing waits for are found, the marker aside") {
  Program program = small_program();
  CHECK(unawaited(program) == std::vector<std::uint32_t>{0}); // its stream waits, no operation does
  program.marker = 0;
  program.waits[1].operation = 0;
  CHECK(unawaited(program) == std::vector<std::uint32_t>{1});
}

TEST_CASE("program draft: waits keep the order of adding, whatever they name") {
  ProgramDraft draft;
  const auto compute = draft.stream("compute");
  draft.wait(1, 0, 0);
  draft.wait(0, 1, 1);
  draft.wait(1, 0, 2);
  draft.compute("a", compute, Kind::forward, Seconds{1});
  draft.compute("b", compute, Kind::forward, Seconds{1});
  const Program program = draft.finish(1);
  REQUIRE(program.waits_of(1).size() == 2);
  CHECK(program.waits_of(0)[0].operation == 1);
  CHECK(program.waits_of(1)[0].distance == 0);
  CHECK(program.waits_of(1)[1].distance == 2);
  CHECK(draft.size() == 0);
}
