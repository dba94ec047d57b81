#include "collectives/evaluate/evaluation.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "base/error.hpp"
#include "collectives/point.hpp"
#include "collectives/record.hpp"
#include "collectives/validate.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim::collectives;
using stepsim::collectives::test::kRates;
using stepsim::collectives::test::point;
using stepsim::testing::within;
using Id = AlgorithmId;

namespace {

auto near(double value, double tolerance = 1e-9) { return within(value, tolerance); }

bool warns(const CollectiveRecord& record, const std::string& part) {
  return std::any_of(record.warnings.begin(), record.warnings.end(),
                     [&](const std::string& text) { return text.find(part) != text.npos; });
}

} // namespace

TEST_CASE("record: bus bandwidth of the published log rows, 8 ranks") {
  CHECK(33554432 / 182.87e-6 == near(183.49e9, 1e-4));
  CHECK(33554432 / 182.87e-6 * bus_factor(Op::allreduce, 8) == near(321.10e9, 1e-4));
  CHECK(67108864 / 205.21e-6 == near(327.02e9, 1e-4));
  CHECK(67108864 / 205.21e-6 * bus_factor(Op::allgather, 8) == near(286.15e9, 1e-4));
  CHECK(bus_factor(Op::reduce_scatter, 4) == 0.75);
  CHECK(bus_factor(Op::broadcast, 4) == 1);
  CHECK(bus_factor(Op::reduce, 4) == 1);
}

TEST_CASE("record: a flat ring over nodes with several interfaces says that it uses one") {
  Collective ring = point(Op::allreduce, Id::ring, 80, 1e6, kRates);
  ring.links.two_level = TwoLevel{8, 8, {1e-6, 1e-6, 1e-11}};
  const std::string words = "flat_on_two_levels: ring is flat and uses one network card of a node "
                            "of 8; hierarchical, two_level and ring_rails know both levels";
  CHECK(warns(make_record(ring, AskedMethod::automatic), words));
  Collective one = ring;
  one.links.two_level->nics_per_node = 1;
  CHECK(
      warns(make_record(one, AskedMethod::automatic),
            "flat_on_two_levels: ring is flat and uses one network card of a node; hierarchical"));
  // The warning is true: the time is that of one interface.
  CHECK(make_record(ring, AskedMethod::automatic).seconds ==
        make_record(one, AskedMethod::automatic).seconds);
  Collective all = ring;
  all.algorithm = Id::hierarchical;
  CHECK_FALSE(warns(make_record(all, AskedMethod::automatic), "flat_on_two_levels"));
  Collective gather = ring;
  gather.op = Op::allgather;
  CHECK(warns(make_record(gather, AskedMethod::automatic),
              "ring is flat and uses one network card of a node of 8; two_level"));
  Collective pairs = point(Op::alltoall, *parse_algorithm("pairwise_pxn"), 16, 1e6, kRates);
  pairs.links.two_level = one.links.two_level;
  CHECK_FALSE(warns(make_record(pairs, AskedMethod::automatic), "flat_on_two_levels"));
  Collective inside = ring;
  inside.ranks = 8; // one node
  CHECK_FALSE(warns(make_record(inside, AskedMethod::automatic), "flat_on_two_levels"));
}

TEST_CASE("record: collnet without nodes of several ranks says which latency it assumes") {
  Collective c = point(Op::allreduce, *parse_algorithm("collnet"), 8, 1e6, kRates);
  const std::string words = "switch_latency_s is not given: 1e-06 s are assumed";
  CHECK(warns(make_record(c, AskedMethod::automatic), words));
  const double assumed = make_record(c, AskedMethod::automatic).seconds;
  c.links.two_level.emplace().switch_latency_s = 1e-3;
  CHECK(validate(c).empty());
  CHECK_FALSE(warns(make_record(c, AskedMethod::automatic), words));
  CHECK(make_record(c, AskedMethod::automatic).seconds > assumed);
}

TEST_CASE("record: algorithms that are said to use one interface are no faster with more") {
  for (const Id algorithm : {Id::ring, Id::lp, Id::hierarchical_leader}) {
    Collective several = point(Op::allreduce, algorithm, 12, 1e6, kRates);
    several.links.two_level = TwoLevel{4, 4, {1e-6, 1e-6, 1e-11}};
    CHECK(warns(make_record(several, AskedMethod::automatic),
                algorithm == Id::hierarchical_leader ? "one of the 4 interfaces"
                                                     : "one network card of a node of 4"));
    Collective one = several;
    one.links.two_level->nics_per_node = 1;
    CHECK(events(several).seconds == near(events(one).seconds));
  }
}

TEST_CASE("record: a ring by all three methods") {
  const double n = 8e6;
  const double seconds = 14 * kRates.alpha + 7.0 / 8 * n * (2 * kRates.beta + kRates.gamma);
  const CollectiveRecord record =
      make_record(point(Op::allreduce, Id::ring, 8, n, kRates), AskedMethod::all);
  CHECK(record.closed_form_s.value() == near(seconds));
  CHECK(record.max_plus_s.value() == near(seconds));
  CHECK(record.events_s.value() == near(seconds));
  CHECK(record.method == Method::events);
  CHECK(record.seconds == record.events_s.value());
  CHECK(record.relative_difference.value() <= 1e-9);
  CHECK(record.algbw_Bps.value() == near(n / seconds));
  CHECK(record.busbw_Bps.value() == near(n / seconds * 2 * 7 / 8));
  CHECK(record.traffic.steps == 14);
  CHECK(record.traffic.messages == 14 * 8);
  CHECK(record.traffic.max_per_rank == near(2 * n * 7 / 8));
  CHECK(record.traffic.total == near(2 * 7 * n));
  CHECK(record.lower_bounds.bandwidth_s == near(2 * n * 7 / 8 * kRates.beta));
  CHECK(record.gap_ratio.value() == near(seconds / record.lower_bounds.bandwidth_s));
  CHECK(record.startup_s.value() == near(14 * kRates.alpha));
  CHECK(record.per_byte_s.value() == near(7.0 / 8 * (2 * kRates.beta + kRates.gamma)));
  CHECK(record.bandwidth_Bps.value() == near(1 / kRates.beta));
  CHECK(record.reduction_Bps == near(1 / kRates.gamma));
  CHECK_FALSE(record.paper_form_s.has_value()); // the same as the exact form
  CHECK_FALSE(record.choice.has_value());
  CHECK_FALSE(record.blocks.has_value());
  CHECK(record.warnings.empty());
}

TEST_CASE("record: all methods are those that are defined") {
  Collective servers = point(Op::allreduce, Id::parameter_server, 4, 8e6, kRates);
  servers.options.servers = 2;
  CHECK(validate(servers, AskedMethod::all).empty());
  const CollectiveRecord record = make_record(servers, AskedMethod::all);
  CHECK_FALSE(record.max_plus_s.has_value());
  CHECK(record.closed_form_s.has_value());
  CHECK(record.method == Method::events);
}

TEST_CASE("record: by default only the cheapest exact method runs beside the closed form") {
  Collective c = point(Op::allreduce, Id::ring, 8, 8e6, kRates);
  const CollectiveRecord equal = make_record(c, AskedMethod::automatic);
  CHECK(equal.method == Method::closed_form);
  CHECK_FALSE(equal.max_plus_s.has_value());
  CHECK_FALSE(equal.relative_difference.has_value());
  c.enter_s = {0, 0, 0, 1, 0, 0, 0, 0};
  const CollectiveRecord late = make_record(c, AskedMethod::automatic);
  CHECK(late.method == Method::max_plus);
  CHECK_FALSE(late.closed_form_s.has_value());
  CHECK_FALSE(late.startup_s.has_value());
  CHECK(late.seconds > 1);
  CHECK_THROWS_AS((void)make_record(c, AskedMethod::closed_form), stepsim::SimulationError);
}

TEST_CASE("record: without times of ranks a ring of unequal parts is that of its longest part") {
  Collective c = point(Op::allreduce, Id::ring, 999, 1e6, kRates);
  c.options.chunking = Chunking::integer;
  c.options.element_bytes = 4;
  const CollectiveRecord quick = make_record(c, AskedMethod::automatic);
  const CollectiveRecord swept = make_record(c, AskedMethod::max_plus);
  CHECK(quick.method == Method::max_plus);
  CHECK(quick.seconds == near(swept.seconds, 1e-12));
  CHECK(quick.max_plus_s == quick.seconds);
  CHECK(make_record(c, AskedMethod::automatic, true).seconds == swept.seconds);
  // A sweep has two times 10^12 messages here.
  Collective wide = c;
  wide.ranks = 1'000'000;
  wide.bytes = 1e9 + 4;
  CHECK(make_record(wide, AskedMethod::automatic).seconds ==
        near(2 * 999'999 * (1e-5 + 1004 * 8e-10) + 999'999 * 1004 * 1e-10, 1e-10)); // many sums
}

TEST_CASE("record: the printed double tree lies below the bound and says so") {
  const double n = 1e8;
  Collective c = point(Op::allreduce, Id::double_binary_tree, 8, n, kRates);
  const CollectiveRecord record = make_record(c, AskedMethod::automatic);
  CHECK(record.method == Method::max_plus);
  CHECK(record.paper_form_s.value() == near(6e-5 + 9e-10 * n));
  CHECK(record.ideal_form_s.value() == near(6e-5 + 1.7e-9 * n));
  CHECK(record.below_bound);
  CHECK(record.closed_form_s.value() >= record.max_plus_s.value());
  CHECK(record.relative_difference.value() ==
        near(1 - record.max_plus_s.value() / record.closed_form_s.value()));
  CHECK(record.blocks.value().blocks > 1);
  CHECK(record.warnings.empty());
  c.options.cost_form = CostForm::paper;
  const CollectiveRecord printed = make_record(c, AskedMethod::automatic);
  CHECK(printed.method == Method::closed_form);
  CHECK(printed.seconds == near(6e-5 + 9e-10 * n));
  CHECK(printed.startup_s.value() == near(6e-5));
  CHECK(warns(printed, "below the lower bound"));
}

TEST_CASE("record: auto names winner and runner-up") {
  const CollectiveRecord record =
      make_record(point(Op::allreduce, Id::automatic, 8, 1e3, kRates), AskedMethod::automatic);
  CHECK(record.algorithm == Id::automatic);
  CHECK(record.choice.value().chosen == Id::recursive_doubling);
  CHECK(record.choice.value().runner_up.value() == Id::be);
  CHECK(record.seconds == near(record.choice.value().chosen_s));
}

TEST_CASE("record: what ranks do, ring of four with one that enters late") {
  Collective c = point(Op::allreduce, Id::ring, 4, 4, {0, 1, 0});
  c.enter_s = {0, 0, 10, 0};
  const CollectiveRecord record = make_record(c, AskedMethod::automatic, true);
  const PerRank& ranks = record.per_rank.value();
  for (std::size_t rank = 0; rank < 4; ++rank) {
    CHECK(ranks.finish_s[rank] == near(16));
    CHECK(ranks.enter_s[rank] == c.enter_s[rank]);
    // Waiting and transferring fill the time between entry and finish.
    CHECK(ranks.enter_s[rank] + ranks.transfer_s[rank] + ranks.wait_s[rank] ==
          near(ranks.finish_s[rank]));
    CHECK(ranks.wait_s[rank] >= -1e-12);
  }
  CHECK(ranks.wait_s[2] == near(0));
  CHECK(ranks.wait_s[0] > 0);
}

TEST_CASE("record: one rank or no byte has neither bandwidth nor gap") {
  const CollectiveRecord record =
      make_record(point(Op::allreduce, Id::ring, 1, 1e6, kRates), AskedMethod::all);
  CHECK(record.seconds == 0);
  CHECK(record.relative_difference.value() == 0);
  CHECK_FALSE(record.algbw_Bps.has_value());
  CHECK_FALSE(record.busbw_Bps.has_value());
  CHECK_FALSE(record.gap_ratio.has_value());
}

TEST_CASE("record: warnings tell what the numbers do not") {
  Collective c = point(Op::broadcast, Id::lp, 4, 1000, kRates);
  c.options.block = stepsim::Bytes{4096};
  CHECK(warns(make_record(c, AskedMethod::automatic), "block_bytes 4096 is more"));
  c = point(Op::allreduce, Id::ring, 4, 1001, kRates);
  c.options.chunking = Chunking::integer;
  CHECK(warns(make_record(c, AskedMethod::closed_form), "do not divide"));
  c = point(Op::reduce, Id::mst, 6, 1000, kRates);
  CHECK(warns(make_record(c, AskedMethod::closed_form), "upper bound"));
  c = point(Op::allreduce, Id::ring, 4, 1000, kRates);
  c.options.ring_startup_2p = true;
  CHECK(warns(make_record(c, AskedMethod::automatic), "ring_startup"));
  c = point(Op::allreduce, Id::mst, 4, 1000, kRates);
  c.links.two_level = TwoLevel{2, 1, {1e-6, 1e-6, 1e-11}};
  CHECK(warns(make_record(c, AskedMethod::max_plus), "sharing of interfaces"));
  CHECK(make_record(c, AskedMethod::automatic).warnings.size() == 1);
  CHECK(warns(make_record(c, AskedMethod::automatic), "flat_on_two_levels"));
  c.algorithm = Id::hierarchical;
  CHECK(make_record(c, AskedMethod::max_plus).warnings.empty());
  c.enter_s = {0, 0, 1, 0};
  CHECK(warns(make_record(c, AskedMethod::automatic), "fixed share"));
}

TEST_CASE("record: times beyond the range of numbers are an error by every method") {
  for (const Id algorithm : {Id::ring, Id::mst, Id::lp, Id::recursive_doubling}) {
    for (const AskedMethod method :
         {AskedMethod::automatic, AskedMethod::closed_form, AskedMethod::events,
          AskedMethod::max_plus, AskedMethod::all}) {
      const Collective late = point(Op::allreduce, algorithm, 4, 1e6, {1e308, 1e-9, 0});
      const Collective slow = point(Op::allreduce, algorithm, 4, 1e6, {1e-6, 1e305, 0});
      CHECK_THROWS_AS((void)make_record(late, method, false), stepsim::SimulationError);
      CHECK_THROWS_AS((void)make_record(slow, method, false), stepsim::SimulationError);
    }
  }
}
