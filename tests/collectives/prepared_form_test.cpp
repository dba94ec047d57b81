// The prepared form against the closed form of every size, bit for bit, and its bounds against it.
#include "collectives/formula/prepared_form.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "collectives/algorithms.hpp"
#include "collectives/method.hpp"
#include "collectives/point.hpp"

using namespace stepsim::collectives;
using stepsim::Bytes;
using Id = AlgorithmId;

namespace {

using Random = std::mt19937_64;

double real(Random& random, double low, double high) {
  return std::uniform_real_distribution(low, high)(random);
}
std::int64_t whole(Random& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution(low, high)(random);
}

Collective random_collective(Random& random, Op op, Id id) {
  const auto ranks = static_cast<std::uint32_t>(
      whole(random, 0, 1) == 0 ? whole(random, 2, 40) : std::int64_t{1} << whole(random, 1, 10));
  Collective c = test::point(op, id, test::fitting(id, ranks), 1,
                             {.alpha = std::pow(10, real(random, -7, -3)),
                              .beta = std::pow(10, real(random, -11, -8)),
                              .gamma = 0});
  c.reduction_s_per_byte =
      whole(random, 0, 2) == 0 ? 0 : c.links.all.per_byte_s * real(random, 0, 1.3);
  c.links.all.block_latency_s *= whole(random, 0, 2) == 0 ? real(random, 0, 1) : 1;
  c.options.reduction_mode =
      whole(random, 0, 3) == 0 ? ReductionMode::serial : ReductionMode::overlapped;
  c.options.chunking = whole(random, 0, 3) == 0 ? Chunking::integer : Chunking::real;
  c.options.lp_last_hop = whole(random, 0, 3) > 0;
  if (whole(random, 0, 4) == 0) {
    c.options.block = Bytes{whole(random, 1, 1 << 20)};
  }
  return c;
}

double random_bytes(Random& random) { return std::round(std::pow(10, real(random, 0, 9.5))); }

} // namespace

TEST_CASE("prepared form: every size has the closed form of the chosen algorithm, bit for bit") {
  const unsigned seed = 1;
  CAPTURE(seed);
  Random random(seed);
  std::int64_t prepared_ones = 0;
  for (int trial = 0; trial < 400; ++trial) {
    CAPTURE(trial);
    const auto rows = algorithm_table();
    const AlgorithmRow& row = rows[static_cast<std::size_t>(
        whole(random, 0, static_cast<std::int64_t>(rows.size()) - 1))];
    if (test::in_switch(row.algorithm)) {
      continue;
    }
    const bool chooses = whole(random, 0, 1) == 0;
    const Op op = chooses ? Op::allreduce : row.op;
    Collective c = random_collective(random, op, chooses ? Id::automatic : row.algorithm);
    const auto prepared = prepare(c);
    if (!prepared) {
      continue;
    }
    ++prepared_ones;
    for (int size = 0; size < 20; ++size) {
      c.bytes = random_bytes(random);
      CAPTURE(c.bytes);
      const Collective chosen = with_chosen_algorithm(c);
      const auto form = closed_form(chosen);
      const PreparedForm::Answer answer = prepared->at(c.bytes);
      REQUIRE(form);
      CHECK(answer.algorithm == chosen.algorithm);
      CHECK(answer.seconds == form->seconds);
      CHECK(answer.upper_bound == form->upper_bound);
      if (const auto line = prepared->line()) {
        CHECK(form->startup_s == line->startup_s);
        CHECK(form->per_byte_s == line->per_byte_s);
      }
      const double low = c.bytes * real(random, 0.3, 1);
      const double high = c.bytes * real(random, 1, 3);
      CHECK(prepared->least_line(low, high).at(c.bytes) <= form->seconds * (1 + 1e-12));
    }
  }
  CHECK(prepared_ones > 50);
}

TEST_CASE("prepared form: blocks are those of the search, and no form is below its least time") {
  const unsigned seed = 2;
  CAPTURE(seed);
  Random random(seed);
  double nearest = 1e300; // of times to their bound: one that is 0 tells nothing
  for (int trial = 0; trial < 400; ++trial) {
    CAPTURE(trial);
    const bool tree = whole(random, 0, 1) == 0;
    const Op op = tree || whole(random, 0, 2) > 0 ? Op::allreduce
                  : whole(random, 0, 1) == 0      ? Op::reduce
                                                  : Op::broadcast;
    Collective c = random_collective(random, op, tree ? Id::double_binary_tree : Id::lp);
    const auto rule = block_rule(c);
    if (!rule) {
      continue;
    }
    for (int size = 0; size < 20; ++size) {
      c.bytes = random_bytes(random);
      CAPTURE(c.bytes);
      const Blocks blocks = rule->blocks(c.bytes);
      const Blocks expected = *resolve_blocks(c);
      CHECK(blocks.block_bytes == expected.block_bytes);
      CHECK(blocks.blocks == expected.blocks);
      CHECK(blocks.clamped == expected.clamped);
      const double seconds = rule->form(c.bytes).seconds;
      CHECK(seconds == closed_form(c)->seconds);
      const double least = rule->least_line(c.bytes, c.bytes).at(c.bytes);
      CHECK(least <= seconds * (1 + 1e-12));
      CHECK(rule->least_line(c.bytes, c.bytes * 1.25).at(c.bytes) <= least * (1 + 1e-12));
      nearest = least > 0 ? std::min(nearest, seconds / least) : nearest;
    }
  }
  CHECK(nearest < 1.01);
}

TEST_CASE("prepared form: none where ranks are unlike, and none that a paper prints") {
  const test::Rates rates{.alpha = 1e-5, .beta = 1e-9, .gamma = 1e-10};
  const auto prepared = [](Collective c) { return prepare(c).has_value(); };
  const Collective ring = test::point(Op::allreduce, Id::ring, 8, 1, rates);
  CHECK(prepared(ring));
  CHECK(prepared(test::point(Op::allreduce, Id::automatic, 8, 1, rates)));
  CHECK_FALSE(prepared(test::point(Op::allreduce, Id::ring, 1, 1, rates)));
  Collective other = ring;
  other.enter_s = {0, 0, 0, 0, 0, 0, 0, 1};
  CHECK_FALSE(prepared(other));
  other = ring;
  other.options.cost_form = CostForm::paper;
  CHECK_FALSE(prepared(other));
  other = ring;
  other.reduction_s_per_byte_rank = {1, 1, 1, 1, 1, 1, 1, 2};
  CHECK_FALSE(prepared(other));
  CHECK_FALSE(prepared(test::point(Op::allgatherv, Id::ring, 8, 1, rates)));
}
