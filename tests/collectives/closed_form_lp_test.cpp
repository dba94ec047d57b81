#include <doctest/doctest.h>

#include <cmath>

#include "collectives/formula/blocks.hpp"
#include "collectives/formula/closed_form.hpp"
#include "collectives/method.hpp"
#include "collectives/point.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim::collectives;
using stepsim::collectives::test::point;
using stepsim::testing::within;
using Id = AlgorithmId;

namespace {

auto near(double value, double tolerance = 1e-9) { return within(value, tolerance); }

// m blocks of one byte, tau = 1 s per hop (all of it bandwidth), g = gamma s per addition.
Collective unit_steps(Op op, std::uint32_t ranks, double blocks, double gamma = 0) {
  Collective c = point(op, Id::lp, ranks, blocks, {0, 1, gamma});
  c.options.block = stepsim::Bytes{1};
  return c;
}

double seconds(Collective c, ReductionMode mode = ReductionMode::overlapped) {
  c.options.reduction_mode = mode;
  return closed_form(c).value().seconds;
}

constexpr double kPreset = 67108864;

Collective preset(Op op, std::uint32_t ranks, double gamma) {
  Collective c = point(op, Id::lp, ranks, kPreset, {1e-6, 1e-10, gamma});
  c.options.block = stepsim::Bytes{65536};
  return c;
}

} // namespace

TEST_CASE("lp: broadcast, all-reduce, all-reduce without last hop in unit steps") {
  struct Row {
    std::uint32_t ranks;
    double blocks;
    double broadcast;
    double allreduce;
    double no_last_hop;
  };
  for (const Row& row : {Row{3, 4, 5, 9, 8}, Row{2, 1, 1, 3, 2}, Row{4, 1, 3, 7, 6},
                         Row{4, 4, 6, 10, 9}, Row{8, 8, 14, 22, 21}}) {
    CAPTURE(row.ranks);
    CAPTURE(row.blocks);
    CHECK(seconds(unit_steps(Op::broadcast, row.ranks, row.blocks)) == row.broadcast);
    Collective allreduce = unit_steps(Op::allreduce, row.ranks, row.blocks);
    CHECK(seconds(allreduce) == row.allreduce);
    allreduce.options.lp_last_hop = false;
    CHECK(seconds(allreduce) == row.no_last_hop);
  }
}

TEST_CASE("lp: a reduce whose additions are slower than its hops") {
  CHECK(seconds(unit_steps(Op::reduce, 4, 16, 3)) == 3 * 1 + (16 + 4 - 2) * 3);
  CHECK(seconds(unit_steps(Op::reduce, 3, 4, 2)) == 2 * 1 + (4 + 3 - 2) * 2);
  CHECK(seconds(unit_steps(Op::reduce, 4, 16, 3), ReductionMode::serial) == 18 * (1 + 3));
  CHECK(seconds(unit_steps(Op::reduce, 3, 4, 2), ReductionMode::serial) == 5 * (1 + 2));
}

TEST_CASE("lp: makespans of 64 MiB in 64 KiB blocks, ms") {
  constexpr auto kSerial = ReductionMode::serial;
  const double g = 1e-11;
  CHECK(1e3 * seconds(preset(Op::broadcast, 2, 0)) == near(7.734886, 1e-7));
  CHECK(1e3 * seconds(preset(Op::broadcast, 4, 0)) == near(7.749994, 1e-7));
  CHECK(1e3 * seconds(preset(Op::reduce, 2, g)) == near(7.735542, 1e-7));
  CHECK(1e3 * seconds(preset(Op::reduce, 4, g)) == near(7.751960, 1e-7));
  CHECK(1e3 * seconds(preset(Op::reduce, 2, g), kSerial) == near(8.405975, 1e-7));
  CHECK(1e3 * seconds(preset(Op::reduce, 4, g), kSerial) == near(8.422393, 1e-7));
  CHECK(1e3 * seconds(preset(Op::allreduce, 2, 0)) == near(15.469773, 1e-7));
  CHECK(1e3 * seconds(preset(Op::allreduce, 4, 0)) == near(15.484880, 1e-7));
  CHECK(1e3 * seconds(preset(Op::allreduce, 2, g)) == near(15.469773, 1e-7));
  CHECK(1e3 * seconds(preset(Op::allreduce, 4, g)) == near(15.486191, 1e-7));
  CHECK(1e3 * seconds(preset(Op::allreduce, 2, g), kSerial) == near(16.140861, 1e-7));
  CHECK(1e3 * seconds(preset(Op::allreduce, 4, g), kSerial) == near(16.157279, 1e-7));
  Collective c = preset(Op::allreduce, 2, 0);
  c.options.lp_last_hop = false;
  CHECK(1e3 * seconds(c) == near(7.742440, 1e-7));
  c.ranks = 4;
  CHECK(1e3 * seconds(c) == near(15.477326, 1e-7));
}

TEST_CASE("lp: only the first block of a stream pays the message latency") {
  Collective c = preset(Op::broadcast, 4, 0);
  c.links.all.latency_s = 10e-6;
  CHECK(1e3 * seconds(c) == near(7.776994, 1e-7));
  c.op = Op::allreduce;
  CHECK(1e3 * seconds(c) == near(15.511880, 1e-7));
  c.links.all.block_latency_s = 10e-6;
  c.op = Op::broadcast;
  c.options.cost_form = CostForm::paper;
  CHECK(1e3 * seconds(c) == near(17.000547, 1e-7));
}

TEST_CASE("lp: the printed forms count one hop (broadcast) or P hops (all-reduce) too many") {
  const double tau = 1e-6 + 65536 * 1e-10;
  for (const std::uint32_t ranks : {2U, 4U, 9U, 33U}) {
    for (const auto& [op, hops] :
         {std::pair{Op::broadcast, 1.0}, std::pair{Op::allreduce, static_cast<double>(ranks)}}) {
      Collective c = preset(op, ranks, 0);
      const double exact = seconds(c);
      c.options.cost_form = CostForm::paper;
      CHECK(seconds(c) - exact == near(hops * tau, 1e-8));
    }
  }
}

TEST_CASE("lp: each added rank costs one hop") {
  const double tau = 1e-6 + 65536 * 1e-10;
  for (const Op op : {Op::broadcast, Op::allreduce}) {
    for (std::uint32_t ranks = 2; ranks < 20; ++ranks) {
      CHECK(seconds(preset(op, ranks + 1, 0)) - seconds(preset(op, ranks, 0)) == near(tau, 1e-8));
    }
  }
}

TEST_CASE("lp: small messages against the tree, us") {
  struct Row {
    double bytes;
    double lp;
    double mst;
  };
  for (const Row& row : {Row{65536, 22.661, 15.107}, Row{131072, 30.214, 28.214},
                         Row{262144, 45.322, 54.429}, Row{1048576, 135.965, 211.715}}) {
    Collective c = preset(Op::broadcast, 4, 0);
    c.bytes = row.bytes;
    CHECK(1e6 * seconds(c) == near(row.lp, 3e-5));
    c.algorithm = Id::mst;
    CHECK(1e6 * seconds(c) == near(row.mst, 4e-5));
  }
}

TEST_CASE("lp: a message smaller than the block is one block") {
  Collective c = preset(Op::broadcast, 4, 0);
  c.bytes = 1000;
  CHECK(resolve_blocks(c)->clamped);
  CHECK(resolve_blocks(c)->blocks == 1);
  CHECK(seconds(c) == near(3 * (1e-6 + 1000 * 1e-10)));
}

TEST_CASE("lp: as printed, twenty ranks cost hardly more than two, ms") {
  const auto milliseconds = [](std::uint32_t ranks, double alpha) {
    Collective c = point(Op::broadcast, Id::lp, ranks, 200e6, {alpha, 1e-10, 0});
    c.options.block = stepsim::Bytes{65536};
    c.options.cost_form = CostForm::paper;
    return 1e3 * seconds(c);
  };
  CHECK(milliseconds(2, 1e-6) == near(23.059311, 1e-7));
  CHECK(milliseconds(20, 1e-6) == near(23.195276, 1e-7));
  CHECK(milliseconds(2, 10e-6) == near(50.534132, 1e-7));
  CHECK(milliseconds(20, 10e-6) == near(50.832097, 1e-7));
}

TEST_CASE("lp: with cheap blocks the others cost log2 P and 2 (P-1)/P times as much") {
  for (const std::uint32_t ranks : {4U, 8U, 20U}) {
    CAPTURE(ranks);
    const double f = (ranks - 1.0) / ranks;
    const auto paper = [&](Op op, Id id) {
      Collective c = point(op, id, ranks, 1e9, {1e-8, 1e-10, 0});
      c.options.block = stepsim::Bytes{65536};
      c.options.cost_form = CostForm::paper;
      return seconds(c);
    };
    const double rounds = std::ceil(std::log2(ranks));
    for (const Op op : {Op::broadcast, Op::reduce, Op::allreduce}) {
      CHECK(paper(op, Id::mst) / paper(op, Id::lp) == near(rounds, 0.01));
    }
    CHECK(paper(Op::broadcast, Id::be) / paper(Op::broadcast, Id::lp) == near(2 * f, 0.01));
    CHECK(paper(Op::allreduce, Id::be) / paper(Op::allreduce, Id::lp) == near(f, 0.01));
  }
}

TEST_CASE("lp: no closed form for an all-reduce whose additions are slower than its hops") {
  Collective c = unit_steps(Op::allreduce, 4, 8, 1.5);
  CHECK_FALSE(closed_form(c).has_value());
  c.options.reduction_mode = ReductionMode::serial;
  CHECK(closed_form(c).has_value());
  c.links.all.latency_s = 1; // first block dearer than the others
  CHECK_FALSE(closed_form(c).has_value());
}

TEST_CASE("lp: a short last block makes the all-reduce form an upper bound") {
  Collective c = unit_steps(Op::allreduce, 4, 9);
  CHECK_FALSE(closed_form(c)->upper_bound);
  c.options.block = stepsim::Bytes{2};
  CHECK(closed_form(c)->upper_bound);
}
