#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "base/random.hpp"
#include "collectives/algorithms.hpp"
#include "collectives/evaluate/evaluation.hpp"
#include "collectives/formula/closed_form.hpp"
#include "collectives/nodes.hpp"
#include "collectives/point.hpp"
#include "collectives/validate.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim::collectives;
using stepsim::collectives::test::kRates;
using stepsim::collectives::test::point;
using stepsim::collectives::test::Rates;
using stepsim::testing::within;
using Id = AlgorithmId;

namespace {

ClosedForm form(Op op, Id id, std::uint32_t ranks, double bytes, const Rates& rates,
                CostForm cost_form = CostForm::exact) {
  Collective collective = point(op, id, ranks, bytes, rates);
  collective.options.cost_form = cost_form;
  return closed_form(collective).value();
}

double allreduce(Id id, std::uint32_t ranks, double bytes) {
  return form(Op::allreduce, id, ranks, bytes, kRates).seconds;
}

auto near(double value, double tolerance = 1e-9) { return within(value, tolerance); }

void check_row(Id id, std::uint32_t ranks, CostForm cost_form, double startup, double per_byte) {
  CAPTURE(name(id));
  CAPTURE(ranks);
  const ClosedForm row = form(Op::allreduce, id, ranks, 1e8, kRates, cost_form);
  CHECK(row.startup_s.value() == near(startup));
  CHECK(row.per_byte_s.value() == near(per_byte));
  CHECK(row.seconds == near(startup + per_byte * 1e8));
}

} // namespace

TEST_CASE("closed form: start-up and slope of the all-reduce table") {
  const auto [a, b, g] = kRates;
  check_row(Id::mst, 8, CostForm::exact, 6 * a, 3 * (2 * b + g));
  check_row(Id::recursive_doubling, 8, CostForm::exact, 3 * a, 3 * (b + g));
  check_row(Id::be, 8, CostForm::exact, 6 * a, 7.0 / 8 * (2 * b + g));
  check_row(Id::double_binary_tree, 8, CostForm::paper, 6 * a, b + g);
  check_row(Id::double_binary_tree, 8, CostForm::ideal, 6 * a, 2 * b + g);
  check_row(Id::ring, 8, CostForm::exact, 14 * a, 7.0 / 8 * (2 * b + g));
  check_row(Id::ring, 64, CostForm::exact, 126 * a, 63.0 / 64 * (2 * b + g));
  check_row(Id::be, 64, CostForm::exact, 12 * a, 63.0 / 64 * (2 * b + g));
  CHECK(allreduce(Id::mst, 8, 1e8) == near(0.51006));
  CHECK(allreduce(Id::recursive_doubling, 8, 1e8) == near(0.27003));
  CHECK(allreduce(Id::be, 8, 1e8) == near(0.14881));
  CHECK(allreduce(Id::ring, 8, 1e8) == near(0.14889));
  CHECK(allreduce(Id::ring, 64, 1e8) == near(0.16860375));
  CHECK(allreduce(Id::be, 64, 1e8) == near(0.16746375));
}

TEST_CASE("closed form: a message on the line of the form has its digits, for every algorithm") {
  stepsim::base::RandomStream random({.seed = 1});
  int lines = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const test::Shape shape{static_cast<std::uint32_t>(random.integer(1, 8)),
                            static_cast<std::uint32_t>(random.integer(1, 8)),
                            static_cast<std::uint32_t>(random.integer(1, 4))};
    for (const Id id : valid_algorithms(Op::allreduce)) {
      Collective collective = test::on_nodes(Op::allreduce, id, shape, 1);
      collective.links.all.latency_s *= random.uniform(0.5, 2);
      collective.links.all.per_byte_s *= random.uniform(0.5, 2);
      if (!is_two_level(id)) {
        collective.links.two_level.reset();
      }
      if (collective.ranks < 2 || !validate(collective).empty() || !collective.homogeneous()) {
        continue;
      }
      const auto line = closed_form(collective);
      if (!line || !line->startup_s) {
        continue;
      }
      const double bytes = static_cast<double>(random.integer(1, 1'000'000'000));
      collective.bytes = bytes;
      const auto form = closed_form(collective);
      CHECK(form->seconds == *line->startup_s + *line->per_byte_s * bytes);
      ++lines;
    }
  }
  CHECK(lines > 1000);
}

TEST_CASE("closed form: folding six ranks costs be twice as much as bruck") {
  CHECK(allreduce(Id::be, 6, 1e8) == near(0.29756));
  CHECK(allreduce(Id::bruck, 6, 1e8) == near(0.1417266666666667));
  CHECK(allreduce(Id::ring, 6, 1e8) == near(0.1417666666666667));
  // As printed, be has no fold.
  CHECK(form(Op::allreduce, Id::be, 6, 1e8, kRates, CostForm::paper).seconds ==
        near(allreduce(Id::bruck, 6, 1e8)));
}

TEST_CASE("closed form: one rank or no byte takes no time, and entering late shifts the end") {
  for (const AlgorithmRow& row : algorithm_table()) {
    if (stepsim::collectives::test::in_switch(row.algorithm)) {
      continue;
    }
    CAPTURE(name(row.op));
    CAPTURE(name(row.algorithm));
    Collective alone = point(row.op, row.algorithm, 1, 1e8, kRates);
    alone.options.placement = Placement::colocated;
    CHECK(closed_form(alone)->seconds == 0);
    Collective nothing = point(row.op, row.algorithm, 4, 0, kRates);
    CHECK(closed_form(nothing)->seconds == 0);
    Collective some = point(row.op, row.algorithm, 4, 1e6, kRates);
    if (!closed_form(some)) {
      continue; // chains of ring_rails that add
    }
    const double seconds = closed_form(some)->seconds;
    some.enter_s = {3, 3, 3, 3};
    CHECK(closed_form(some)->seconds == near(seconds + 3));
  }
}

TEST_CASE("closed form: an upper bound exactly where additions overlap with an uneven tree") {
  const auto bound = [](Op op, Id id, std::uint32_t ranks, ReductionMode mode, double gamma) {
    Collective c = point(op, id, ranks, 1e6, {1e-5, 1e-9, gamma});
    c.options.reduction_mode = mode;
    return closed_form(c)->upper_bound;
  };
  for (const auto& [op, id] :
       {std::pair{Op::reduce, Id::mst}, std::pair{Op::allreduce, Id::mst},
        std::pair{Op::reduce_scatter, Id::mst}, std::pair{Op::allreduce, Id::recursive_doubling}}) {
    CHECK(bound(op, id, 6, ReductionMode::overlapped, 1e-10));
    CHECK_FALSE(bound(op, id, 6, ReductionMode::serial, 1e-10));
    CHECK_FALSE(bound(op, id, 8, ReductionMode::overlapped, 1e-10));
    CHECK_FALSE(bound(op, id, 6, ReductionMode::overlapped, 0));
  }
  CHECK(bound(Op::allreduce, Id::double_binary_tree, 8, ReductionMode::serial, 0));
  CHECK_FALSE(bound(Op::allreduce, Id::be, 6, ReductionMode::overlapped, 1e-10));
}

TEST_CASE("closed form: mst, be and lp as printed, 64 MiB at 10 GB/s and 1 us") {
  struct Row {
    std::uint32_t ranks;
    double gamma;
    double mst[3]; // broadcast, reduce, allreduce; ms
    double be[3];
    double lp[3];
  };
  const Row rows[] = {
      {2,
       0,
       {6.711886, 6.711886, 13.423773},
       {6.712886, 6.712886, 6.712886},
       {7.742440, 7.742440, 15.484880}},
      {4,
       0,
       {13.423773, 13.423773, 26.847546},
       {10.071330, 10.070330, 10.070330},
       {7.757547, 7.757547, 15.515094}},
      {2,
       1e-11,
       {6.711886, 7.382975, 14.094861},
       {6.712886, 7.048431, 7.048431},
       {7.742440, 8.414184, 16.156624}},
      {4,
       1e-11,
       {13.423773, 14.765950, 28.189723},
       {10.071330, 10.573646, 10.573646},
       {7.757547, 8.430602, 16.188149}},
  };
  const Op ops[] = {Op::broadcast, Op::reduce, Op::allreduce};
  for (const Row& row : rows) {
    for (int i = 0; i < 3; ++i) {
      const auto milliseconds = [&](Id id) {
        Collective c = point(ops[i], id, row.ranks, 67108864, {1e-6, 1e-10, row.gamma});
        c.options.cost_form = CostForm::paper;
        c.options.block = stepsim::Bytes{65536};
        return closed_form(c)->seconds * 1e3;
      };
      CAPTURE(row.ranks);
      CAPTURE(row.gamma);
      CAPTURE(i);
      CHECK(milliseconds(Id::mst) == near(row.mst[i], 1e-6));
      CHECK(milliseconds(Id::be) == near(row.be[i], 1e-6));
      CHECK(milliseconds(Id::lp) == near(row.lp[i], 1e-6));
    }
  }
}

TEST_CASE("closed form: two levels with shared interfaces, ms") {
  const auto milliseconds = [](Id id, std::uint32_t nodes, std::uint32_t per_node,
                               std::uint32_t nics) {
    Collective c = point(Op::allreduce, id, nodes * per_node, 1e8, {20e-6, 8e-11, 1e-12});
    c.links.two_level = TwoLevel{per_node, nics, {5e-6, 5e-6, 1e-11}};
    return closed_form(c)->seconds * 1e3;
  };
  CHECK(milliseconds(Id::hierarchical, 2, 4, 1) == near(9.6575));
  CHECK(milliseconds(Id::hierarchical, 4, 8, 1) == near(14.036875));
  CHECK(milliseconds(Id::hierarchical, 4, 8, 8) == near(3.536875));
  CHECK(milliseconds(Id::hierarchical, 3, 4, 2) == near(7.035));
  CHECK(milliseconds(Id::hierarchical_leader, 2, 4, 1) == near(12.31));
  CHECK(milliseconds(Id::hierarchical_leader, 4, 8, 1) == near(18.525));
}

TEST_CASE("closed form: a single level of hierarchical is the flat algorithm") {
  for (const Id inter : {Id::ring, Id::be, Id::double_binary_tree, Id::lp}) {
    CAPTURE(name(inter));
    Collective c = point(Op::allreduce, Id::hierarchical, 6, 1e6, {20e-6, 8e-11, 1e-12});
    c.options.inter_algorithm = inter;
    c.links.two_level = TwoLevel{1, 1, {5e-6, 5e-6, 1e-11}};
    const double flat = form(Op::allreduce, inter, 6, 1e6, {20e-6, 8e-11, 1e-12}).seconds;
    CHECK(closed_form(c)->seconds == near(flat));
    c.algorithm = Id::hierarchical_leader;
    CHECK(closed_form(c)->seconds == near(flat));
    c.algorithm = Id::hierarchical;
    c.links.two_level->gpus_per_node = 6;
    CHECK(closed_form(c)->seconds ==
          near(form(Op::allreduce, Id::ring, 6, 1e6, {5e-6, 1e-11, 1e-12}).seconds));
  }
}

TEST_CASE("closed form: parameter server by placement, ms") {
  const auto milliseconds = [](std::uint32_t ranks, Placement placement, std::uint32_t servers) {
    Collective c =
        point(Op::allreduce, Id::parameter_server, ranks, 243860896, {50e-6, 8e-10, 1e-10});
    c.options.placement = placement;
    c.options.servers = servers;
    return closed_form(c)->seconds * 1e3;
  };
  CHECK(milliseconds(2, Placement::dedicated, 1) == near(829.227046, 1e-8));
  CHECK(milliseconds(2, Placement::colocated, 1) == near(414.663523, 1e-8));
  CHECK(milliseconds(2, Placement::sharded, 1) == near(207.381762, 1e-8));
  CHECK(milliseconds(4, Placement::dedicated, 1) == near(1658.354093, 1e-8));
  CHECK(milliseconds(4, Placement::colocated, 1) == near(1243.790570, 1e-8));
  CHECK(milliseconds(4, Placement::sharded, 1) == near(311.022642, 1e-8));
  CHECK(milliseconds(4, Placement::dedicated, 2) == near(829.227046, 1e-8));
  CHECK(milliseconds(4, Placement::dedicated, 4) == near(414.663523, 1e-8));
  CHECK(milliseconds(4, Placement::dedicated, 8) == near(402.470478, 1e-8));
  // One worker still crosses to a dedicated server.
  CHECK(milliseconds(1, Placement::dedicated, 1) ==
        near(1e3 * (2 * 50e-6 + 243860896 * (2 * 8e-10 + 1e-10))));
  // The published gain of 5.4 lies below that of 0.3 s of computing on free servers (PIP 18 J).
  const Rates free{.alpha = 0, .beta = 8e-10, .gamma = 0};
  CHECK(form(Op::allreduce, Id::parameter_server, 4, 243860896, free).seconds + 0.3 ==
        near(0.3 * 6.202, 1e-3));
}

TEST_CASE("closed form: all-gatherv of unequal parts waits for the largest on P-1 hops") {
  Collective c = point(Op::allgatherv, Id::ring, 3, 7, {3, 1, 0});
  c.sizes = {5, 0, 2};
  CHECK(closed_form(c)->seconds == near(2 * (3 + 5)));
  c.options.exchange_sizes = true;
  CHECK(closed_form(c)->seconds == near(2 * (3 + 8) + 2 * (3 + 5)));
  c.algorithm = Id::bruck;
  CHECK_FALSE(closed_form(c).has_value());
  c.sizes = {4, 4, 4};
  CHECK(closed_form(c)->seconds == near((2 * 3 + 2 * 8) + (2 * 3 + 2 * 4)));
}

TEST_CASE("closed form: ring_startup 2P charges two more start-ups") {
  Collective c = point(Op::allreduce, Id::ring, 16, 1e6, kRates);
  const double exact = closed_form(c)->seconds;
  c.options.ring_startup_2p = true;
  CHECK(closed_form(c)->seconds == near(exact + 2 * kRates.alpha));
}

TEST_CASE("closed form: a form that an algorithm does not have is empty") {
  Collective c = point(Op::allreduce, Id::bruck, 6, 1e6, kRates);
  c.options.cost_form = CostForm::paper;
  CHECK_FALSE(closed_form(c).has_value());
  c.algorithm = Id::ring;
  CHECK(closed_form(c).has_value());
  c.options.cost_form = CostForm::ideal;
  CHECK_FALSE(closed_form(c).has_value());
}

TEST_CASE("closed form: trees of any shape equal the schedule, or bound it where adding overlaps") {
  for (const Op op :
       {Op::broadcast, Op::reduce, Op::allreduce, Op::reduce_scatter, Op::allgather}) {
    for (const TreeShape shape : {TreeShape::near_first, TreeShape::flat}) {
      for (std::uint32_t ranks = 2; ranks <= 64; ++ranks) {
        for (const ReductionMode mode : {ReductionMode::serial, ReductionMode::overlapped}) {
          CAPTURE(name(op));
          CAPTURE(static_cast<int>(shape));
          CAPTURE(ranks);
          Collective c = point(op, Id::mst, ranks, 1e6, {1e-5, 8e-10, 5e-10});
          c.options.tree = shape;
          c.options.reduction_mode = mode;
          const ClosedForm formula = closed_form(c).value();
          const double time = max_plus(c).seconds;
          if (formula.upper_bound) {
            CHECK(time <= formula.seconds * (1 + 1e-9));
            CHECK(mode == ReductionMode::overlapped);
          } else {
            CHECK(time == near(formula.seconds));
          }
        }
      }
    }
  }
}

TEST_CASE("closed form: a flat tree of four serves three ranks one after the other") {
  Collective c = point(Op::broadcast, Id::mst, 4, 1000, {2, 0.001, 0});
  c.options.tree = TreeShape::flat;
  CHECK(closed_form(c)->seconds == near(3 * (2 + 1000 * 0.001)));
  c.op = Op::allreduce;
  CHECK(closed_form(c)->seconds == near(6 * (2 + 1000 * 0.001)));
}
