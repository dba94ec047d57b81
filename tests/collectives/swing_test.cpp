// Swing: pairs, parts and times, against its definition computed with sets.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <vector>

#include "collectives/evaluate/evaluation.hpp"
#include "collectives/formula/closed_form.hpp"
#include "collectives/point.hpp"
#include "collectives/schedule/schedule.hpp"
#include "collectives/schedule/swing.hpp"
#include "collectives/validate.hpp"
#include "testing/tolerance.hpp"

namespace stepsim::collectives {
namespace {

using stepsim::testing::within;
using test::point;

Collective swing(std::uint32_t ranks, double bytes) {
  return point(Op::allreduce, kSwing, ranks, bytes, {1e-5, 1e-9, 2e-10});
}

// The definition: d(t) = sum of (-2)^i for i = 0 .. t; even ranks add it, odd ranks subtract it.
Index peer(Index ranks, Index t, Index rank) {
  Index distance = 0;
  for (Index i = 0, power = 1; i <= t; ++i, power *= -2) {
    distance += power;
  }
  return ((rank + (rank % 2 == 0 ? distance : -distance)) % ranks + ranks) % ranks;
}

} // namespace

TEST_CASE("swing: peers are at distances 1, -1, 3, -5, 11, and pairs agree") {
  for (const Index ranks : {2, 4, 6, 8, 10, 14, 16, 18, 30, 64, 100}) {
    for (Index t = 0; (Index{1} << t) < ranks; ++t) {
      for (Index rank = 0; rank < ranks; ++rank) {
        CHECK(swing_peer(ranks, t, rank) == peer(ranks, t, rank));
        CHECK(swing_peer(ranks, t, swing_peer(ranks, t, rank)) == rank);
      }
    }
  }
  CHECK(swing_peer(64, 4, 0) == 11);
  CHECK(swing_peer(64, 3, 0) == 59);
}

TEST_CASE("swing: parts of a power of two are in a row for the ranks that still reach each other") {
  for (const Index ranks : {2, 4, 8, 16, 32, 128}) {
    const Index steps = log2_up(ranks);
    std::set<Index> all;
    for (Index rank = 0; rank < ranks; ++rank) {
      all.insert(swing_part(ranks, rank));
      for (Index t = 0; t < steps; ++t) {
        std::set<Index> reached{rank}; // by exchanges t, t + 1, ..
        for (Index later = steps - 1; later >= t; --later) {
          std::set<Index> more = reached;
          for (const Index each : reached) {
            more.insert(peer(ranks, later, each));
          }
          reached = more;
        }
        const Index count = ranks >> t;
        CHECK(reached.size() == static_cast<std::size_t>(count));
        const Index first = swing_part(ranks, rank) / count * count;
        CHECK(std::ranges::all_of(reached, [&](Index each) {
          const Index part = swing_part(ranks, each);
          return part >= first && part < first + count;
        }));
      }
    }
    CHECK(all.size() == static_cast<std::size_t>(ranks));
  }
}

TEST_CASE("swing: 2 ceil(log2 P) start-ups, 2 (P-1)/P n sent, (P-1)/P n added") {
  for (const std::uint32_t ranks : {2U, 4U, 6U, 8U, 10U, 12U, 14U, 16U, 22U, 64U, 100U, 1000U}) {
    const double n = 1000.0 * ranks;
    const double expected =
        2 * std::ceil(std::log2(ranks)) * 1e-5 + (ranks - 1.0) / ranks * n * (2 * 1e-9 + 2e-10);
    CHECK(closed_form(swing(ranks, n))->seconds == within(expected, 1e-12));
    CHECK(max_plus(swing(ranks, n)).seconds == within(expected, 1e-12));
    CHECK(events(swing(ranks, n)).seconds == within(expected, 1e-12));
  }
}

TEST_CASE("swing: the largest messages of a power of two go to neighbours") {
  const Schedule schedule = make_schedule(swing(16, 1.6e6));
  const Phase& first = schedule.phases.front();
  const Send send = std::get<FunctionRule>(first.rule).send(0, 4);
  CHECK(send.peer == 5);
  CHECK(first.partition.bytes(send.first, send.count) == 0.8e6);
  CHECK(name(first.rule) == "swing reduce-scatter");
}

TEST_CASE("swing: an odd number of ranks is refused in words, one rank is not") {
  CHECK(validate(swing(1, 10)).empty());
  const auto findings = validate(swing(9, 10));
  REQUIRE(findings.size() == 1);
  CHECK(findings.front().message == "swing needs an even number of ranks, got 9");
  CHECK(!closed_form(swing(9, 10)));
}

} // namespace stepsim::collectives
