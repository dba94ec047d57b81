#include "programs/recurrence.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/random.hpp"
#include "programs/instances.hpp"
#include "programs/operation_times.hpp"
#include "programs/program_draft.hpp"
#include "programs/random_programs.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim::programs;
using stepsim::Seconds;
using stepsim::base::RandomStream;
using stepsim::testing::within;

namespace {

// Row P2 of TRN 11.1: compute 2 s waits for the all-reduce before it, all-reduce 4 s.
Program four_ranks(Entry entry) {
  ProgramDraft draft;
  const auto compute = draft.stream("compute");
  const auto reduce = draft.stream("reduce");
  const auto c = draft.compute("c", compute, Kind::step, Seconds{2});
  const auto x = draft.exchange("x", reduce, Kind::allreduce, Seconds{0}, Seconds{4});
  draft.last().entry = entry;
  draft.wait(x, c, 0);
  draft.wait(c, x, 1);
  draft.settings().ranks = 4;
  return draft.finish(x);
}
// [iteration * 4 + rank]
const Factors kFourRanks{.compute = {1, 1, 2, 1, 1, 1.5, 1, 1, 1, 1, 1, 1.25}, .exchange = {}};

} // namespace

TEST_CASE("ranks: an exchange starts with the last rank (row P2)") {
  const OperationTimes times = rank_vectors(four_ranks(Entry::together), 3, kFourRanks);
  const double first = 2 * 2 + 4;
  const double second = first + 1.5 * 2 + 4;
  const double third = second + 1.25 * 2 + 4;
  CHECK(times.marker_end == std::vector<double>{first, first, first, first, second, second, second,
                                                second, third, third, third, third});
  CHECK(third == 21.5);
}

TEST_CASE("ranks: the mean period lies between the latest ends of two iterations") {
  Program program = four_ranks(Entry::together);
  program.marker = 0; // c, which the ranks end apart from each other
  const OperationTimes times = rank_vectors(program, 3, kFourRanks);
  const double first = 2 * 2;                     // rank 2
  const double last = 8 + 1.5 * 2 + 4 + 1.25 * 2; // rank 3
  CHECK(mean_period(times, 1).value == (last - first) / 2);
}

TEST_CASE("ranks: a ring over equal links ends as if its ranks had entered together (row P3)") {
  const OperationTimes each =
      rank_vectors(four_ranks(Entry::each), 3, kFourRanks, ring_of_equal_steps);
  const OperationTimes together = rank_vectors(four_ranks(Entry::together), 3, kFourRanks);
  REQUIRE(each.marker_end.size() == together.marker_end.size());
  for (std::size_t i = 0; i < each.marker_end.size(); ++i) {
    CHECK(each.marker_end[i] == within(together.marker_end[i], 1e-9));
  }
}

TEST_CASE("ranks: entry each hands on the factor and the ranks of each part, in their order") {
  ProgramDraft draft;
  const auto compute = draft.stream("compute");
  const auto c = draft.compute("c", compute, Kind::step, Seconds{1});
  const auto x = draft.exchange("x", compute, Kind::allreduce, Seconds{1}, Seconds{2});
  draft.last().entry = Entry::each;
  draft.last().group = draft.group({.name = "pairs", .parts = {{3, 0}, {1, 2}}});
  draft.settings().ranks = 4;
  const Program program = draft.finish(x);
  check(program, "test");
  CHECK(c == 0);
  const Factors factors{.compute = {1, 2, 3, 4}, .exchange = {1.5}};
  // Only the first rank of a part leaves, the second one stays for the whole exchange.
  const EachRule rule = [](const Operation& exchange, double factor, std::span<const double> enter,
                           std::span<double> leave) {
    leave[0] = enter[0];
    leave[1] = enter[1] + factor * exchange.duration_s();
  };
  const OperationTimes times = rank_vectors(program, 1, factors, rule);
  CHECK(times.marker_end == std::vector<double>{1 + 1.5 * 3, 2, 3 + 1.5 * 3, 4});
}

TEST_CASE("ranks: a wait for all ranks at a distance lets ranks run ahead by it (row P4)") {
  ProgramDraft draft;
  const auto compute = draft.stream("compute");
  const auto c = draft.compute("c", compute, Kind::step, Seconds{1});
  draft.wait(c, c, 2, Scope::all);
  draft.settings().ranks = 2;
  const Program program = draft.finish(c);
  const Factors factors{.compute = {1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3}, .exchange = {}};
  const OperationTimes times = rank_vectors(program, 6, factors);
  CHECK(times.marker_end == std::vector<double>{1, 3, 2, 6, 4, 9, 7, 12, 10, 15, 13, 18});
}

TEST_CASE("ranks: stale synchronous servers (rows V1 to V3)") {
  // Compute 1, 1, 1, 2 s, a push of 0.25 s, and the wait for the pushes of all s + 1 ago.
  const auto ends = [](std::int32_t staleness) {
    ProgramDraft draft;
    const auto compute = draft.stream("compute");
    const auto host = draft.stream("host");
    const auto c = draft.compute("c", compute, Kind::step, Seconds{1});
    const auto push = draft.compute("push", host, Kind::push, Seconds{0.25});
    draft.last().type = OperationType::delay;
    draft.wait(push, c, 0);
    draft.wait(c, push, 1);
    draft.wait(c, push, staleness + 1, Scope::all);
    draft.settings().ranks = 4;
    const Program program = draft.finish(push);
    Factors factors;
    for (int n = 0; n < 6; ++n) {
      factors.compute.insert(factors.compute.end(), {1, 1, 1, 2});
    }
    const OperationTimes times = rank_vectors(program, 6, factors);
    return std::vector<double>{times.marker_end[2 * 4], times.marker_end[2 * 4 + 3],
                               times.marker_end[5 * 4], times.marker_end[5 * 4 + 3]};
  };
  CHECK(ends(0) == std::vector<double>{5.75, 6.75, 12.5, 13.5});
  CHECK(ends(1) == std::vector<double>{3.75, 6.75, 10.25, 13.5});
  CHECK(ends(3) == std::vector<double>{3.75, 6.75, 7.5, 13.5});
}

TEST_CASE("ranks: the vectors equal the definition on random programs with groups and factors") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    RandomStream random({.seed = 43, .point = seed});
    const auto ranks = static_cast<std::uint32_t>(random.integer(2, 4));
    const Program program = with_ending_waits(random_program(random, ranks), random);
    REQUIRE(problems_of(program, "random").empty());
    const Factors factors = random_factors(random, ranks, 5);
    const OperationTimes times = rank_vectors(program, 5, factors, {}, Record::all);
    CHECK(times.end == ends_by_definition(program, 5, factors));
    const OperationTimes last =
        rank_vectors(program, layout_of(program), 5, factors, {}, Record::all, 3);
    const auto from = static_cast<std::ptrdiff_t>(times.at(3, 0, 0));
    CHECK(last.end == std::vector<double>(times.end.begin() + from, times.end.end()));
    // Ranks that enter one by one and all leave behind the last one.
    Program apart = program;
    for (Operation& each : apart.operations) {
      each.entry = each.type == OperationType::exchange ? Entry::each : Entry::together;
    }
    const EachRule rule = [](const Operation& exchange, double factor,
                             std::span<const double> enter, std::span<double> leave) {
      std::ranges::fill(leave, std::ranges::max(enter) + factor * exchange.duration_s());
    };
    CHECK(rank_vectors(apart, 5, factors, rule, Record::all).end == times.end);
    CHECK(times.makespan_s == *std::ranges::max_element(times.end));
  }
}
