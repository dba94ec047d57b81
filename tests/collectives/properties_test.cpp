// Properties that hold for every collective (COL 16), on random instances.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/random.hpp"
#include "collectives/algorithms.hpp"
#include "collectives/evaluate/evaluation.hpp"
#include "collectives/formula/closed_form.hpp"
#include "collectives/point.hpp"
#include "testing/tolerance.hpp"

namespace stepsim::collectives {
namespace {

using stepsim::testing::within;
using test::fitting;
using test::point;
using Id = AlgorithmId;

constexpr double kSlack = 1e-9;

// A flat collective with everything drawn at random; blocks are given.
Collective random_collective(base::RandomStream& random, bool alike) {
  Collective collective;
  for (;;) {
    collective.op = static_cast<Op>(random.integer(0, 4));
    const std::vector<Id> algorithms = valid_algorithms(collective.op);
    collective.algorithm = algorithms[static_cast<std::size_t>(
        random.integer(0, static_cast<std::int64_t>(algorithms.size()) - 1))];
    if (!is_two_level(collective.algorithm) && collective.algorithm != Id::parameter_server) {
      break;
    }
  }
  collective.ranks =
      fitting(collective.algorithm, static_cast<std::uint32_t>(random.integer(1, 33)));
  collective.bytes = static_cast<double>(random.integer(0, 5000));
  const double latency = random.uniform(0, 1e-3);
  collective.links.all = {latency, latency * random.uniform(), random.uniform(1e-9, 1e-6)};
  collective.reduction_s_per_byte = random.integer(0, 1) == 0 ? 0 : random.uniform(0, 1e-6);
  collective.options.block = Bytes{random.integer(50, 1000)};
  collective.options.reduction_mode =
      random.integer(0, 1) == 0 ? ReductionMode::serial : ReductionMode::overlapped;
  collective.options.chunking = random.integer(0, 1) == 0 ? Chunking::real : Chunking::integer;
  if (!alike) {
    for (std::uint32_t rank = 0; rank < collective.ranks; ++rank) {
      collective.enter_s.push_back(random.uniform(0, 1e-3));
      collective.reduction_s_per_byte_rank.push_back(random.uniform(0, 1e-6));
    }
  }
  return collective;
}

template <class Check> void for_random_collectives(bool alike, std::uint64_t seed, Check check) {
  base::RandomStream random({.seed = seed});
  for (int round = 0; round < 600; ++round) {
    Collective collective = random_collective(random, alike);
    CAPTURE(seed);
    CAPTURE(round);
    CAPTURE(name(collective.op));
    CAPTURE(name(collective.algorithm));
    CAPTURE(collective.ranks);
    CAPTURE(collective.bytes);
    check(collective, random);
  }
}

double time_of(const Collective& collective) { return max_plus(collective).seconds; }

TEST_CASE("property: more bytes, latency, seconds per byte or later entry never end earlier") {
  for_random_collectives(false, 2, [](const Collective& collective, base::RandomStream& random) {
    const double before = time_of(collective) * (1 - kSlack);
    Collective more = collective;
    more.bytes += static_cast<double>(random.integer(1, 500));
    CHECK(time_of(more) >= before);
    more = collective;
    more.links.all.latency_s += 1e-4;
    CHECK(time_of(more) >= before);
    more = collective;
    more.links.all.per_byte_s *= 1.5;
    CHECK(time_of(more) >= before);
    more = collective;
    more.reduction_s_per_byte_rank.front() *= 1.5;
    CHECK(time_of(more) >= before);
    more = collective;
    const auto late = static_cast<std::size_t>(random.integer(0, collective.ranks - 1));
    constexpr double kDelay = 3e-4;
    more.enter_s[late] += kDelay;
    CHECK(time_of(more) >= before);
    CHECK(time_of(more) <= (time_of(collective) + kDelay) * (1 + kSlack));
  });
}

TEST_CASE("property: among powers of two, more ranks never end earlier") {
  for_random_collectives(true, 3, [](Collective collective, base::RandomStream&) {
    collective.options.chunking = Chunking::real;
    double before = 0;
    for (const std::uint32_t ranks : {1U, 2U, 4U, 8U, 16U, 32U}) {
      collective.ranks = ranks;
      const double now = time_of(collective);
      CHECK(now >= before * (1 - kSlack));
      before = now;
    }
  });
}

TEST_CASE("property: scaling all times scales the result, scaling bytes against rates leaves it") {
  for_random_collectives(false, 4, [](Collective collective, base::RandomStream&) {
    collective.options.chunking = Chunking::real;
    const double before = time_of(collective);
    constexpr double kFactor = 8;
    Collective slower = collective;
    slower.links.all.latency_s *= kFactor;
    slower.links.all.block_latency_s *= kFactor;
    slower.links.all.per_byte_s *= kFactor;
    for (double& gamma : slower.reduction_s_per_byte_rank) {
      gamma *= kFactor;
    }
    for (double& enter : slower.enter_s) {
      enter *= kFactor;
    }
    CHECK(time_of(slower) == within(kFactor * before, kSlack));
    Collective larger = collective;
    larger.bytes *= kFactor;
    larger.options.block = Bytes{collective.options.block->value * 8};
    larger.links.all.per_byte_s /= kFactor;
    for (double& gamma : larger.reduction_s_per_byte_rank) {
      gamma /= kFactor;
    }
    CHECK(time_of(larger) == within(before, kSlack));
  });
}

TEST_CASE("property: whole bytes lie between the real times of the multiples of d around n") {
  for_random_collectives(false, 5, [](Collective collective, base::RandomStream&) {
    const bool folds = collective.algorithm == Id::be &&
                       (collective.op == Op::allreduce || collective.op == Op::reduce);
    double parts = collective.ranks;
    if (folds) {
      parts = std::exp2(std::floor(std::log2(parts)));
    }
    if (collective.algorithm == Id::double_binary_tree) {
      parts = 2;
    }
    if (collective.bytes < parts) {
      return; // nothing at all on the lower side
    }
    collective.options.chunking = Chunking::integer;
    const double whole = time_of(collective);
    Collective real = collective;
    real.options.chunking = Chunking::real;
    real.bytes = parts * std::floor(collective.bytes / parts);
    CHECK(whole >= time_of(real) * (1 - kSlack));
    real.bytes = parts * std::ceil(collective.bytes / parts);
    CHECK(whole <= time_of(real) * (1 + kSlack));
    if (collective.algorithm == Id::ring) { // alike ranks: exactly the upper end
      collective.enter_s.clear();
      collective.reduction_s_per_byte_rank.clear();
      real.enter_s.clear();
      real.reduction_s_per_byte_rank.clear();
      CHECK(time_of(collective) == within(time_of(real), kSlack));
    }
  });
}

TEST_CASE("property: the double tree lies between its ideal and its bound, and reaches the ideal") {
  constexpr std::uint64_t kSeed = 6;
  CAPTURE(kSeed);
  base::RandomStream random({.seed = kSeed});
  for (std::uint32_t ranks = 2; ranks <= 33; ++ranks) {
    CAPTURE(ranks);
    Collective collective = point(Op::allreduce, Id::double_binary_tree, ranks, 1e6,
                                  {random.uniform(0, 1e-4), 1e-9, random.uniform(0, 1e-9)});
    collective.options.block = Bytes{random.integer(2000, 500'000)};
    collective.options.reduction_mode = ReductionMode::serial;
    const double time = time_of(collective);
    const auto ideal_of = [](Collective of) {
      of.options.cost_form = CostForm::ideal;
      return closed_form(of)->seconds;
    };
    CHECK(time <= closed_form(collective)->seconds * (1 + kSlack));
    if (ranks >= 3) {
      CHECK(time >= ideal_of(collective) * (1 - kSlack));
    }
    for (const TransferRecord& transfer : list_transfers(collective, 1000)) {
      CHECK(transfer.bytes <= std::ceil(collective.bytes / 2));
    }
    collective.links.all = {1e-7, 0, 1e-9};
    collective.options.block = Bytes{100}; // m = 5000
    if (ranks >= 3) {
      CHECK(time_of(collective) == within(ideal_of(collective), 0.01));
    }
  }
}

} // namespace
} // namespace stepsim::collectives
