// ring_rails, two_level and the algorithms of switches: the values of CLU 16.3 and 16.4, agreement
// of all evaluators, and what follows from the schedules.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/random.hpp"
#include "collectives/algorithms.hpp"
#include "collectives/evaluate/evaluation.hpp"
#include "collectives/formula/closed_form.hpp"
#include "collectives/formula/lower_bound.hpp"
#include "collectives/formula/uniform.hpp"
#include "collectives/method.hpp"
#include "collectives/node_oracle.hpp"
#include "collectives/nodes.hpp"
#include "collectives/schedule/alltoall.hpp"
#include "collectives/schedule/partition.hpp"
#include "collectives/schedule/ring_rails.hpp"
#include "collectives/schedule/two_level.hpp"
#include "collectives/validate.hpp"
#include "testing/tolerance.hpp"

namespace stepsim::collectives {
namespace {

using test::on_nodes;
using test::Shape;

constexpr double kMicro = 1e-6;
constexpr double kAgreement = 1e-9;   // COL 3
constexpr double kShownDigits = 1e-5; // CLU 16.3

bool near(double found, double expected, double tolerance) {
  return found == testing::within(expected, tolerance);
}

double form_of(const Collective& collective) {
  const auto form = closed_form(collective);
  REQUIRE(form);
  return form->seconds;
}

// Every evaluator and, where it is exact, the closed form give one time.
void agree(const Collective& collective, bool with_events = true) {
  CAPTURE(name(collective.op));
  CAPTURE(name(collective.algorithm));
  CAPTURE(collective.ranks);
  CAPTURE(collective.links.two_level->gpus_per_node);
  CAPTURE(collective.links.two_level->nics_per_node);
  CAPTURE(collective.bytes);
  const double swept = max_plus(collective).seconds;
  CHECK_NOTHROW(check_bound(collective, Method::max_plus, swept)); // CLU 4
  if (with_events) {
    CHECK(near(swept, events(collective).seconds, kAgreement));
  }
  if (!collective.homogeneous()) {
    return;
  }
  const auto form = closed_form(collective);
  if (!form) {
    return;
  }
  if (parts_divide(collective)) {
    CHECK((form->upper_bound ? form->seconds >= swept * (1 - kAgreement)
                             : near(form->seconds, swept, kAgreement)));
    return;
  }
  if ((collective.op == Op::broadcast || collective.op == Op::reduce) &&
      !collective.options.block) {
    return; // another number of blocks may be the best one there
  }
  // Whole bytes (COL 2.5): between the times of the next smaller and larger message that divides.
  const double parts = algorithm(collective.algorithm).node_parts(collective);
  Collective real = collective;
  real.options.chunking = Chunking::real;
  const auto time_of = [&](double bytes) {
    real.bytes = bytes;
    real.sizes.assign(collective.sizes.size(), bytes / collective.ranks);
    return max_plus(real).seconds;
  };
  CHECK(swept >= time_of(parts * std::floor(collective.bytes / parts)) * (1 - kAgreement));
  CHECK(swept <= time_of(parts * std::ceil(collective.bytes / parts)) * (1 + kAgreement));
}

struct Row {
  Shape shape;
  double bytes;
  double rails_half, rails_all, levels_half, levels_all, broadcast; // us
};
constexpr std::array kRows{
    Row{{1, 8, 8}, 64000, 14.1867, 28.3733, 14.1867, 28.3733, 28.3733},
    Row{{1, 8, 8}, 1e8, 305.667, 611.333, 305.667, 611.333, 611.333},
    Row{{2, 8, 8}, 64000, 120.3, 240.6, 22.3467, 44.6933, 36.6933},
    Row{{2, 8, 8}, 1e8, 588.75, 1177.5, 563.667, 1127.33, 1119.33},
    Row{{2, 8, 2}, 64000, 121.2, 242.4, 22.8267, 45.6533, 37.6533},
    Row{{2, 8, 2}, 1e8, 1995, 3990, 1313.67, 2627.33, 2619.33},
    Row{{4, 4, 4}, 64000, 120.6, 241.2, 30.64, 61.28, 29.6},
    Row{{4, 4, 4}, 1e8, 1057.5, 2115, 1030, 2060, 2528},
    Row{{4, 4, 2}, 64000, 121.2, 242.4, 31.12, 62.24, 30.88},
    Row{{4, 4, 2}, 1e8, 1995, 3990, 1780, 3560, 4528},
    Row{{3, 4, 1}, 64000, 90.3467, 180.693, 23.8667, 47.7333, 33.44},
    Row{{3, 4, 1}, 1e8, 3754.67, 7509.33, 2938.67, 5877.33, 8528},
    Row{{8, 1, 1}, 64000, 58.24, 116.48, 58.24, 116.48, 31.68},
    Row{{8, 1, 1}, 1e8, 3556, 7112, 3556, 7112, 12024},
    Row{{10, 8, 8}, 64000, 632.316, 1264.63, 86.4747, 172.949, 61.6533},
    Row{{10, 8, 8}, 1e8, 1125.75, 2251.5, 827.667, 1655.33, 2643.33},
};

TEST_CASE("nodes: the table of CLU 16.3, by formula, max_plus and events") {
  for (const Row& row : kRows) {
    const auto is = [&](Op op, AlgorithmId algorithm, double expected_us) {
      const Collective collective = on_nodes(op, algorithm, row.shape, row.bytes);
      CHECK(near(form_of(collective), expected_us * kMicro, kShownDigits));
      agree(collective);
    };
    is(Op::allgather, kRingRails, row.rails_half);
    is(Op::reduce_scatter, kRingRails, row.rails_half);
    is(Op::allreduce, kRingRails, row.rails_all);
    is(Op::allgather, kTwoLevel, row.levels_half);
    is(Op::reduce_scatter, kTwoLevel, row.levels_half);
    is(Op::allreduce, kTwoLevel, row.levels_all);
    is(Op::broadcast, kTwoLevel, row.broadcast);
    is(Op::reduce, kTwoLevel, row.broadcast);
  }
}

TEST_CASE("nodes: additions of 1e-12 s/byte as in CLU 16.3, by max_plus and events") {
  struct Sums {
    Shape shape;
    double rails_half, rails_all, levels_half, levels_all; // us
  };
  for (const Sums& row : {Sums{{2, 4, 4}, 943.5, 1862, 851.5, 1615.5},
                          Sums{{4, 2, 1}, 3568.5, 7112, 3280.16667, 6472.83333},
                          Sums{{3, 4, 2}, 1929.66667, 3842.66667, 1697, 3302.33333}}) {
    const auto is = [&](Op op, AlgorithmId algorithm, double expected_us) {
      const Collective collective = on_nodes(op, algorithm, row.shape, 1e8, 1e-12);
      CHECK(near(max_plus(collective).seconds, expected_us * kMicro, 1e-8));
      agree(collective);
    };
    is(Op::reduce_scatter, kRingRails, row.rails_half);
    is(Op::allreduce, kRingRails, row.rails_all);
    is(Op::reduce_scatter, kTwoLevel, row.levels_half);
    is(Op::allreduce, kTwoLevel, row.levels_all);
    const Collective rails = on_nodes(Op::allreduce, kRingRails, row.shape, 1e8, 1e-12);
    CHECK(!closed_form(rails));
    CHECK(automatic_method(rails) == Method::max_plus);
  }
}

TEST_CASE("nodes: chunks of CLU 16.3") {
  struct Cut {
    Shape shape;
    std::uint32_t chunks;
    double us;
  };
  for (const Cut& row : {Cut{{2, 4, 4}, 2, 84.5}, Cut{{2, 4, 4}, 4, 94.25},
                         Cut{{4, 2, 2}, 2, 208.333333}, Cut{{4, 2, 2}, 4, 252.166667}}) {
    Collective collective = on_nodes(Op::allgather, kTwoLevel, row.shape, 1e7);
    collective.options.pipeline_chunks = row.chunks;
    CHECK(near(form_of(collective), row.us * kMicro, 1e-8));
    agree(collective);
  }
}

TEST_CASE("nodes: the best number of chunks counts additions of single ranks") {
  Collective same = on_nodes(Op::allreduce, kTwoLevel, {2, 4, 4}, 1e8, 1e-10);
  same.options.pipeline_chunks.reset();
  const std::uint32_t chunks = pipeline_chunks(same);
  Collective listed = same;
  listed.reduction_s_per_byte_rank.assign(listed.ranks, 1e-10);
  listed.reduction_s_per_byte = 0;
  CHECK(pipeline_chunks(listed) == chunks);
  listed.reduction_s_per_byte_rank.assign(listed.ranks, 0);
  listed.reduction_s_per_byte_rank[3] = 1e-10; // the slowest rank is waited for
  CHECK(pipeline_chunks(listed) == chunks);
  listed.reduction_s_per_byte_rank[3] = 0;
  CHECK(pipeline_chunks(listed) != chunks);
}

TEST_CASE("switches: the values of CLU 16.4") {
  const auto nvls = [](std::uint32_t gpus, double bytes) {
    Collective collective = on_nodes(Op::allreduce, kNvls, {1, gpus, 1}, bytes);
    collective.links.two_level->nvls = NvlsCost{25e-6, 1 / 309e9};
    agree(collective);
    return form_of(collective);
  };
  CHECK(near(nvls(4, 1e6), 29.0453074e-6, 1e-8));
  CHECK(near(nvls(4, 1e9), 4070.30744e-6, 1e-8));
  CHECK(near(nvls(8, 1e6), 28.6407767e-6, 1e-8));
  CHECK(near(nvls(8, 1e9), 3665.7767e-6, 1e-8));
  CHECK(near(nvls(72, 1e6), 28.2811938e-6, 1e-8));
  CHECK(near(nvls(72, 1e9), 3306.19382e-6, 1e-8));
  const auto collnet = [](double bytes, std::uint32_t chunks) {
    Collective collective = on_nodes(Op::allreduce, kCollnet, {4, 8, 8}, bytes);
    collective.options.pipeline_chunks = chunks;
    agree(collective);
    return form_of(collective);
  };
  CHECK(near(collnet(1e6, 1), 55.8333333e-6, 1e-8));
  CHECK(near(collnet(1e6, 4), 102.458333e-6, 1e-8));
  CHECK(near(collnet(1e8, 1), 1128.33333e-6, 1e-8));
  CHECK(near(collnet(1e8, 4), 741.833333e-6, 1e-8));
}

TEST_CASE("nvls_tree: start-up, two hops per level, and the slower of switch and cards") {
  Collective collective = on_nodes(Op::allreduce, kNvlsTree, {5, 8, 8}, 1e9);
  collective.links.two_level->nvls = NvlsCost{25e-6, 1 / 309e9};
  // Eight cards of 25 GB/s, half of which a double tree over five nodes reaches.
  CHECK(near(form_of(collective), 25e-6 + 2 * 2 * 8e-6 + 1e9 / (8 * 25e9 / 2), 1e-12));
  collective = on_nodes(Op::allreduce, kNvlsTree, {2, 4, 4}, 1e9);
  collective.links.two_level->nvls = NvlsCost{25e-6, 1 / 80e9};
  CHECK(near(form_of(collective), 25e-6 + 2 * 8e-6 + 1e9 * (1 + 1.0 / 4) / 80e9, 1e-12));
  agree(collective);
}

// A machine of several nodes has two links, and one formula all the same.
TEST_CASE("switches: equal nodes count as alike, so that the formula can be asked for") {
  for (const AlgorithmId id : {kCollnet, kNvlsTree}) {
    Collective collective = on_nodes(Op::allreduce, id, {4, 8, 8}, 1e8);
    collective.links.two_level->nvls = NvlsCost{25e-6, 1 / 309e9};
    CHECK(uniform_cost(collective).has_value());
    collective.enter_s.assign(32, 0);
    collective.enter_s[3] = 1e-6;
    CHECK_FALSE(uniform_cost(collective).has_value());
  }
}

TEST_CASE("switches: all ranks end together, after the last one has entered") {
  Collective collective = on_nodes(Op::allreduce, kNvls, {1, 4, 1}, 1e6);
  collective.links.two_level->nvls = NvlsCost{25e-6, 1 / 309e9};
  const double alone = form_of(collective);
  collective.enter_s = {0, 3e-6, 1e-6, 0};
  const Evaluation result = max_plus(collective, true);
  CHECK(near(result.seconds, 3e-6 + alone, 1e-12));
  for (std::size_t rank = 0; rank < 4; ++rank) {
    CHECK(near(result.ranks.finish_s[rank], 3e-6 + alone, 1e-12));
    CHECK(near(result.ranks.transfer_s[rank], alone, 1e-12));
  }
}

// Each shape and operation with one GPU per node, one node, cards that do not divide, and so on.
template <class Visit> void each_shape(Visit visit) {
  for (const std::uint32_t nodes : {1U, 2U, 3U, 4U, 5U, 8U}) {
    for (const std::uint32_t gpus : {1U, 2U, 4U, 8U}) {
      for (const std::uint32_t cards : {1U, 2U, 4U, 8U}) {
        if (nodes * gpus > 1) {
          visit(Shape{nodes, gpus, cards});
        }
      }
    }
  }
}
constexpr std::array kAllOps{Op::broadcast,      Op::reduce,    Op::allreduce,
                             Op::reduce_scatter, Op::allgather, Op::allgatherv};

TEST_CASE("nodes: max_plus = events = formula for every operation, shape and size") {

  each_shape([&](const Shape& shape) {
    const double ranks = shape.ranks();
    for (const Op op : kAllOps) {
      for (const AlgorithmId algorithm : {kRingRails, kTwoLevel}) {
        for (const double bytes : {0.0, 1.0, ranks - 1, ranks, 1e6 + 1, 64.0 * 1024 * 1024}) {
          for (const Chunking chunking : {Chunking::integer, Chunking::real}) {
            Collective collective = on_nodes(op, algorithm, shape, bytes);
            collective.options.chunking = chunking;
            collective.options.block = Bytes{100'000}; // of chains
            collective.root = shape.ranks() - 1;
            if (op == Op::allgatherv) {
              const Partition split = Partition::equal(bytes, shape.ranks(), collective.options);
              for (Index rank = 0; rank < split.parts(); ++rank) {
                collective.sizes.push_back(std::floor(split.bytes(rank, 1)));
              }
            }

            agree(collective);
          }
        }
      }
    }
  });
}

TEST_CASE("nodes: max_plus = events with additions, entry times, roots and chunks of all kinds") {
  base::RandomStream random({.seed = 20261121});
  for (int i = 0; i < 400; ++i) {
    const auto gpus = static_cast<std::uint32_t>(random.integer(1, 6));
    auto cards = static_cast<std::uint32_t>(random.integer(1, gpus));
    const AlgorithmId algorithm = random.integer(0, 1) == 0 ? kRingRails : kTwoLevel;
    while (algorithm == kRingRails && gpus % cards != 0) {
      --cards;
    }
    const Shape shape{static_cast<std::uint32_t>(random.integer(1, 5)), gpus, cards};
    if (shape.ranks() == 1) {
      continue;
    }
    const Op op = kAllOps[static_cast<std::size_t>(random.integer(0, 5))];
    Collective collective =
        on_nodes(op, algorithm, shape, static_cast<double>(random.integer(1, 5'000'000)));
    CAPTURE(i);
    collective.root = static_cast<std::uint32_t>(random.integer(0, shape.ranks() - 1));
    collective.options.chunking = random.integer(0, 1) == 0 ? Chunking::integer : Chunking::real;
    collective.options.reduction_mode =
        random.integer(0, 1) == 0 ? ReductionMode::serial : ReductionMode::overlapped;
    collective.options.exchange_sizes = op == Op::allgatherv && random.integer(0, 1) == 0;
    if (takes_chunks(algorithm, op)) {
      collective.options.pipeline_chunks = static_cast<std::uint32_t>(random.integer(1, 5));
    }
    if (random.integer(0, 1) == 0) {
      collective.reduction_s_per_byte = random.uniform(0, 1e-10);
    }
    for (std::uint32_t rank = 0; op == Op::allgatherv && rank < shape.ranks(); ++rank) {
      collective.sizes.push_back(static_cast<double>(random.integer(0, 100'000)));
    }
    agree(collective);
    for (std::uint32_t rank = 0; rank < shape.ranks(); ++rank) {
      collective.enter_s.push_back(random.uniform(0, 1e-4));
    }
    agree(collective);
    for (std::uint32_t rank = 0; rank < shape.ranks(); ++rank) {
      collective.reduction_s_per_byte_rank.push_back(random.uniform(0, 1e-10));
    }
    agree(collective);
  }
}

TEST_CASE("nodes: ranks that are alike are swept once, with the times of the whole sweep") {
  base::RandomStream random({.seed = 7});
  for (int i = 0; i < 100; ++i) {
    const AlgorithmId algorithm = i % 2 == 0 ? kRingRails : kTwoLevel;
    const Shape shape{static_cast<std::uint32_t>(random.integer(1, 6)), 4,
                      1U << random.integer(0, 2)};
    Collective collective = on_nodes(kAllOps[static_cast<std::size_t>(i) % 6], algorithm, shape,
                                     static_cast<double>(random.integer(0, 100'000)), 1e-12);
    collective.options.chunking = i % 3 == 0 ? Chunking::real : Chunking::integer;
    if (i % 5 == 0) {
      collective.enter_s.assign(shape.ranks(), 0);
      collective.enter_s.front() = 1e-5;
    }
    // Transfer times need every transfer, so that no ring is taken from another one.
    const std::vector<double> folded = max_plus(collective).ranks.finish_s;
    const std::vector<double> whole = max_plus(collective, true).ranks.finish_s;
    for (std::uint32_t rank = 0; rank < shape.ranks(); ++rank) {
      CHECK(near(folded[rank], whole[rank], 1e-12));
    }
  }
}

TEST_CASE("nodes: a recurrence over lists of transfers, written from the text, gives the same") {
  for (const Shape& shape : {Shape{2, 4, 4}, Shape{4, 2, 1}, Shape{3, 4, 2}, Shape{1, 4, 1},
                             Shape{5, 1, 1}, Shape{3, 6, 3}}) {
    for (const double gamma : {0.0, 1e-12, 2e-11}) {
      for (const double bytes : {6e4, 1e7}) {
        const test::OracleLinks links{.gamma = gamma};
        for (const auto& [op, sums, gathers] :
             {std::tuple{Op::allreduce, true, true}, std::tuple{Op::reduce_scatter, true, false},
              std::tuple{Op::allgather, false, true}}) {
          Collective collective = on_nodes(op, kRingRails, shape, bytes, gamma);
          CHECK(near(max_plus(collective).seconds,
                     test::ring_rails_oracle(shape, bytes, links, sums, gathers), kAgreement));
          collective.algorithm = kTwoLevel;
          for (const std::uint32_t chunks : {1U, 2U, 5U}) {
            collective.options.pipeline_chunks = chunks;
            const double oracle =
                test::two_level_oracle(shape, bytes, links, chunks, sums, gathers);
            CHECK(near(max_plus(collective).seconds, oracle, kAgreement));
            CHECK(near(form_of(collective), oracle, kAgreement));
          }
        }
      }
    }
  }
}

TEST_CASE("nodes: one GPU a node, or one node, is the flat ring on the level that is left") {
  for (const std::uint32_t ranks : {2U, 3U, 8U}) {
    for (const Op op : {Op::allreduce, Op::reduce_scatter, Op::allgather}) {
      for (const AlgorithmId algorithm : {kRingRails, kTwoLevel}) {
        for (const double gamma : {0.0, 1e-12}) {
          const double across =
              max_plus(on_nodes(op, AlgorithmId::ring, {ranks, 1, 1}, 1e7, gamma)).seconds;
          CHECK(near(max_plus(on_nodes(op, algorithm, {ranks, 1, 1}, 1e7, gamma)).seconds, across,
                     kAgreement));
          const double inside =
              max_plus(on_nodes(op, AlgorithmId::ring, {1, ranks, 1}, 1e7, gamma)).seconds;
          CHECK(near(max_plus(on_nodes(op, algorithm, {1, ranks, ranks}, 1e7, gamma)).seconds,
                     inside, kAgreement));
        }
      }
    }
  }
}

TEST_CASE("two_level: an all-reduce in one chunk is hierarchical, and its two halves") {
  each_shape([&](const Shape& shape) {
    for (const double gamma : {0.0, 1e-12}) {
      const auto time = [&](Op op, AlgorithmId algorithm) {
        return form_of(on_nodes(op, algorithm, shape, 1e7, gamma));
      };
      const double all = time(Op::allreduce, kTwoLevel);
      CHECK(near(all, time(Op::allreduce, AlgorithmId::hierarchical), kAgreement));
      CHECK(near(all, time(Op::reduce_scatter, kTwoLevel) + time(Op::allgather, kTwoLevel),
                 kAgreement));
    }
    CHECK(form_of(on_nodes(Op::reduce_scatter, kTwoLevel, shape, 1e7)) ==
          form_of(on_nodes(Op::allgather, kTwoLevel, shape, 1e7)));
  });
}

TEST_CASE("nodes: more cards, faster links and lower latencies are never slower") {
  base::RandomStream random({.seed = 11});
  for (int i = 0; i < 300; ++i) {
    const Shape shape{static_cast<std::uint32_t>(random.integer(1, 12)), 12, 1};
    const AlgorithmId algorithm = i % 2 == 0 ? kRingRails : kTwoLevel;
    constexpr std::array kFormed{Op::allreduce, Op::reduce_scatter, Op::allgather};
    Collective before = on_nodes(kFormed[static_cast<std::size_t>(i) % 3], algorithm, shape,
                                 static_cast<double>(random.integer(0, 100'000'000)));
    constexpr std::array<std::uint32_t, 6> kDivisors{1, 2, 3, 4, 6, 12};
    const auto fewer = static_cast<std::size_t>(random.integer(0, 4));
    before.links.two_level->nics_per_node = kDivisors[fewer];
    const auto no_slower = [&](auto change) {
      Collective after = before;
      change(after);
      CHECK(form_of(after) <= form_of(before) * (1 + kAgreement));
    };
    no_slower([](Collective& c) { c.links.all.latency_s /= 2; });
    no_slower([](Collective& c) { c.links.all.per_byte_s /= 2; });
    no_slower([](Collective& c) { c.links.two_level->intra.latency_s /= 2; });
    no_slower([](Collective& c) { c.links.two_level->intra.per_byte_s /= 2; });
    // Rings that share the fast links inside a node may be slower with more cards than one of
    // these links feeds: then K beta_i is above beta_e.
    const double rings = kDivisors[fewer + 1];
    if (algorithm == kTwoLevel || rings * test::kBetaInside <= test::kBetaAcross) {
      no_slower([&](Collective& c) { c.links.two_level->nics_per_node = kDivisors[fewer + 1]; });
    }
  }
}

TEST_CASE("ring_rails: the time of large messages falls as one over the cards") {
  const auto time = [](std::uint32_t cards) {
    return form_of(on_nodes(Op::allreduce, kRingRails, {4, 8, cards}, 1e12));
  };
  CHECK(near(time(1), 2 * time(2), 1e-3));
  CHECK(near(time(2), 2 * time(4), 1e-3));
  CHECK(near(time(4), 2 * time(8), 1e-3)); // 8 / 300 GB/s is still below 1 / 25 GB/s
}

TEST_CASE("two_level: the best number of chunks is found, and the smallest of equals") {
  for (const Op op : {Op::allreduce, Op::allgather, Op::reduce_scatter}) {
    for (const double bytes : {0.0, 1e3, 1e7, 1e9}) {
      Collective best = on_nodes(op, kTwoLevel, {4, 8, 8}, bytes, 1e-12);
      best.options.pipeline_chunks = std::nullopt;
      const std::uint32_t chosen = pipeline_chunks(best);
      for (std::uint32_t chunks = 1; chunks <= kMostChunks; ++chunks) {
        Collective other = best;
        other.options.pipeline_chunks = chunks;
        const double time = bytes > 0 ? form_of(other) : 0;
        CHECK(form_of(best) <= time * (1 + 1e-14)); // the line of a form has digits of its own
        CHECK((chunks >= chosen || bytes == 0 || form_of(best) < time));
      }
    }
  }
}

TEST_CASE("ring_rails: the block of a chain is the best one") {
  for (const double bytes : {1e5, 1e8}) {
    Collective chain = on_nodes(Op::broadcast, kRingRails, {4, 4, 4}, bytes);
    const double best = max_plus(chain).seconds;
    const double share = bytes / 4;
    for (double blocks = 1; blocks <= std::max(1.0, share / 4096); blocks *= 2) {
      chain.options.block = Bytes{static_cast<std::int64_t>(std::ceil(share / blocks))};
      CHECK(best <= max_plus(chain).seconds * (1 + 1e-6));
    }
  }
}

TEST_CASE("ring_rails: of its chains the longest counts, also where hops inside nodes are slow") {
  for (const Shape& shape : {Shape{2, 4, 4}, Shape{3, 8, 8}, Shape{2, 4, 2}, Shape{3, 2, 1}}) {
    for (const Op op : {Op::broadcast, Op::reduce}) {
      for (const std::uint32_t root : {0U, 1U, shape.ranks() - 1}) {
        Collective chain = on_nodes(op, kRingRails, shape, 80e6);
        chain.root = root;
        chain.links.all.latency_s = chain.links.all.block_latency_s = 0;
        chain.links.two_level->intra = {
            .latency_s = 2e-4, .block_latency_s = 2e-4, .per_byte_s = 1e-10};
        chain.options.block = Bytes{5'000'000};
        CHECK(near(form_of(chain), max_plus(chain).seconds, kAgreement));
        CHECK(near(events(chain).seconds, max_plus(chain).seconds, kAgreement));
      }
    }
  }
}

TEST_CASE("bounds: an all-to-all in parts that differ, and chunks that add inside and between") {
  Collective pairs = on_nodes(Op::alltoall, kPairwise, {2, 1, 1}, 3);
  pairs.options.chunking = Chunking::integer;
  pairs.links.all = {.latency_s = 0, .block_latency_s = 0, .per_byte_s = 1e-9};
  CHECK(near(lower_bound(pairs).seconds(), 1.5e-9, kAgreement));
  CHECK(near(seconds(pairs, Method::closed_form), 1.5e-9, kAgreement));
  CHECK(near(seconds(pairs, Method::events), 2e-9, kAgreement));
  Collective chunks = on_nodes(Op::reduce_scatter, kTwoLevel, {2, 2, 2}, 8000, 1e-9);
  chunks.links.all = {.latency_s = 0, .block_latency_s = 0, .per_byte_s = 1e-12};
  chunks.links.two_level->intra = chunks.links.all;
  chunks.options.pipeline_chunks = 2;
  CHECK(near(seconds(chunks, Method::closed_form), 5.005e-6, kAgreement));
  CHECK(near(seconds(chunks, Method::events), 5.005e-6, kAgreement));
}

TEST_CASE("auto: algorithms over nodes stand behind hierarchical_leader where they fit") {
  const auto last = [](const Collective& collective) {
    const auto all = default_candidates(collective);
    return std::vector<AlgorithmId>(
        std::ranges::find_if(all,
                             [](AlgorithmId id) { return id == AlgorithmId::hierarchical_leader; }),
        all.end());
  };
  using Ids = std::vector<AlgorithmId>;
  const AlgorithmId leader = AlgorithmId::hierarchical_leader;
  Collective collective = on_nodes(Op::allreduce, AlgorithmId::automatic, {2, 4, 4}, 1e6);
  CHECK(last(collective) == Ids{leader, kRingRails, kTwoLevel});
  collective.links.two_level->nvls = NvlsCost{25e-6, 1 / 309e9};
  CHECK(last(collective) == Ids{leader, kRingRails, kTwoLevel, kNvlsTree});
  collective.links.two_level->nics_per_node = 3; // no divisor
  CHECK(last(collective) == Ids{leader, kTwoLevel, kNvlsTree});
  collective.ranks = 7; // unequal nodes
  CHECK(last(collective) == Ids{leader});
  collective.ranks = 4; // one node
  CHECK(last(collective) == Ids{leader});
  const Collective large = on_nodes(Op::allgather, AlgorithmId::automatic, {4, 8, 8}, 1e9);
  CHECK(choose_algorithm(large).chosen == kRingRails);
  CHECK(choose_algorithm(on_nodes(Op::allgather, AlgorithmId::automatic, {4, 8, 8}, 1e6)).chosen ==
        kTwoLevel);
}

TEST_CASE("nodes: what a cluster must have") {
  const auto finding = [](const Collective& collective) {
    const auto found = validate(collective);
    return found.empty() ? std::string() : found.front().what + ": " + found.front().message;
  };
  CHECK(finding(on_nodes(Op::allreduce, kRingRails, {2, 8, 3}, 1e6)) ==
        "nics_per_node: ring_rails needs nics_per_node (3) to divide gpus_per_node (8); use 1, 2, "
        "4 or 8");
  CHECK(finding(on_nodes(Op::allreduce, kTwoLevel, {2, 8, 3}, 1e6)).empty());
  CHECK(finding(on_nodes(Op::allreduce, kRingRails, {2, 2, 8}, 1e6)).empty()); // two of the cards
  Collective unequal = on_nodes(Op::allreduce, kTwoLevel, {2, 4, 4}, 1e6);
  unequal.ranks = 7;
  CHECK(finding(unequal) ==
        "gpus_per_node: 7 ranks are no multiple of 4 per node; use hierarchical_leader");
  Collective nvls = on_nodes(Op::allreduce, kNvls, {1, 8, 1}, 1e6);
  CHECK(finding(nvls) == "algorithm: nvls needs the rate at which the node's switch adds: give "
                         "nvls_Bps (and nvls_startup_s)");
  nvls.links.two_level->nvls = NvlsCost{25e-6, 1 / 309e9};
  CHECK(finding(nvls).empty());
  nvls.ranks = 16;
  CHECK(finding(nvls) ==
        "algorithm: nvls adds in the switch of one node, got 2 nodes; use nvls_tree");
  nvls.ranks = 2;
  CHECK(finding(nvls) == "algorithm: nvls needs at least 3 GPUs per node, got 2");
  nvls.algorithm = kNvlsTree;
  CHECK(finding(nvls) == "algorithm: nvls_tree needs several nodes; use nvls");
  Collective chunks = on_nodes(Op::allreduce, kTwoLevel, {2, 4, 4}, 1e6);
  chunks.options.pipeline_chunks = 2;
  CHECK(finding(chunks).empty());
  chunks.algorithm = kRingRails;
  CHECK(finding(chunks) == "pipeline_chunks: allreduce by ring_rails is not cut into chunks; "
                           "two_level and collnet are, but for broadcast and reduce");
}

} // namespace
} // namespace stepsim::collectives
