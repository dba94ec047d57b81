// Every operation x algorithm x ranks x bytes x chunking x gamma x reduction mode x entry times x
// links: the sweep in program order and the event-driven run give the same times.
// Tolerance 1e-9 relative: the two add the same durations in another order.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "collectives/algorithms.hpp"
#include "collectives/evaluate/evaluation.hpp"
#include "collectives/formula/closed_form.hpp"
#include "collectives/formula/lower_bound.hpp"
#include "testing/tolerance.hpp"

namespace stepsim::collectives {
namespace {

using stepsim::testing::Tolerance;
using stepsim::testing::within;

constexpr std::array kOps{Op::broadcast, Op::reduce,     Op::allreduce, Op::reduce_scatter,
                          Op::allgather, Op::allgatherv, Op::alltoall};
constexpr std::array kRanks{1U, 2U, 3U, 4U, 5U, 7U, 8U, 13U, 16U, 64U};
constexpr double kTolerance = 1e-9;
constexpr std::uint64_t kSeed = 20161104;

std::vector<double> sizes_for(std::uint32_t ranks) {
  return {0, 1, ranks - 1.0, static_cast<double>(ranks), 1e6 + 1, 64.0 * 1024 * 1024};
}

bool two_level(AlgorithmId algorithm) { return is_two_level(algorithm); }

enum class Variety { equal, entries, links, both };

// What differs between ranks: entry times in [0, 1 ms), links within a factor 4, additions 0 to 2
// gamma.
void vary(Collective& collective, Variety variety, base::RandomStream& random) {
  const std::uint32_t ranks = collective.ranks;
  if (variety == Variety::entries || variety == Variety::both) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      collective.enter_s.push_back(random.uniform(0, 1e-3));
    }
  }
  if (variety == Variety::links || variety == Variety::both) {
    const LinkCost all = collective.links.all;
    collective.links.pairs_only = true;
    for (std::uint32_t src = 0; src < ranks; ++src) {
      collective.reduction_s_per_byte_rank.push_back(collective.reduction_s_per_byte *
                                                     random.uniform(0, 2));
      for (std::uint32_t dst = 0; dst < ranks; ++dst) {
        if (src != dst) {
          const double factor = random.uniform(0.5, 2);
          collective.links.pairs.push_back({src,
                                            dst,
                                            {all.latency_s * factor, all.block_latency_s * factor,
                                             all.per_byte_s * random.uniform(0.5, 2)}});
        }
      }
    }
  }
}

std::string described(const Collective& collective, Variety variety) {
  return std::string(name(collective.op)) + " " + std::string(name(collective.algorithm)) +
         " P=" + std::to_string(collective.ranks) + " n=" + std::to_string(collective.bytes) +
         (collective.options.chunking == Chunking::real ? " real" : " integer") +
         " gamma=" + std::to_string(collective.reduction_s_per_byte * 1e9) + "e-9" +
         (collective.options.reduction_mode == ReductionMode::serial ? " serial" : " overlapped") +
         " variety=" + std::to_string(static_cast<int>(variety));
}

bool close(double a, double b, double scale) { return std::abs(a - b) <= kTolerance * scale; }

// One comparison of all times; a string of what differs, empty if nothing does.
std::string difference(const Collective& collective) {
  const Evaluation sweep = max_plus(collective);
  const Evaluation run = events(collective);
  std::string text;
  if (!close(sweep.seconds, run.seconds, std::abs(sweep.seconds))) {
    text += " seconds " + std::to_string(sweep.seconds) + " / " + std::to_string(run.seconds);
  }
  if (sweep.messages != run.messages) {
    text += " messages " + std::to_string(sweep.messages) + " / " + std::to_string(run.messages);
  }
  for (std::size_t rank = 0; rank < collective.ranks; ++rank) {
    const double a = sweep.ranks.finish_s.at(rank);
    const double b = run.ranks.finish_s.at(rank);
    if (!close(a, b, sweep.seconds)) {
      text += " finish of " + std::to_string(rank) + ": " + std::to_string(a) + " / " +
              std::to_string(b);
      break;
    }
  }
  return text;
}

// What sparse exchanges ask of schedules beside the algorithm.
struct Variant {
  TreeShape tree = TreeShape::far_first; // mst
  bool growing = false;                  // recursive_doubling
  bool empty_messages = false;
};

std::vector<Variant> variants(Op op, AlgorithmId algorithm) {
  std::vector<Variant> list{{}};
  if (algorithm == AlgorithmId::mst) {
    list.push_back({.tree = TreeShape::near_first, .empty_messages = true});
    list.push_back({.tree = TreeShape::flat});
  }
  if (op == Op::allreduce && algorithm == AlgorithmId::recursive_doubling) {
    list.push_back({.growing = true, .empty_messages = true});
  }
  return list;
}

// All points of one operation, algorithm and variant; returns how many.
std::size_t check_product(Op op, AlgorithmId algorithm, const Variant& variant) {
  base::RandomStream random({.seed = kSeed,
                             .point = static_cast<std::uint64_t>(op),
                             .worker = static_cast<std::uint64_t>(algorithm)});
  std::size_t points = 0;
  for (const std::uint32_t ranks : kRanks) {
    if (!takes_ranks(algorithm, ranks)) {
      continue;
    }
    for (const double bytes : sizes_for(ranks)) {
      for (const Chunking chunking : {Chunking::integer, Chunking::real}) {
        for (const double gamma : {0.0, 3e-10}) {
          for (const ReductionMode mode : {ReductionMode::overlapped, ReductionMode::serial}) {
            for (const Variety variety :
                 {Variety::equal, Variety::entries, Variety::links, Variety::both}) {
              Collective collective;
              collective.op = op;
              collective.algorithm = algorithm;
              collective.ranks = ranks;
              collective.bytes = bytes;
              collective.links.all = {1e-5, 2e-6, 8e-10};
              collective.reduction_s_per_byte = gamma;
              collective.root = ranks / 2;
              collective.options.chunking = chunking;
              collective.options.reduction_mode = mode;
              collective.options.lp_last_hop = points % 3 != 0;
              collective.options.tree = variant.tree;
              collective.options.empty_messages = variant.empty_messages;
              for (std::uint32_t held = 1; variant.growing && held <= ranks; ++held) {
                collective.held_bytes.push_back(bytes * std::sqrt(held));
              }
              const bool alike = variety == Variety::equal || variety == Variety::entries;
              if (!alike || points % 3 == 0) {
                collective.options.block = Bytes{points % 2 == 0 ? 65'536 : 200'001};
              }
              if (op == Op::allgatherv) {
                collective.options.exchange_sizes = points % 2 == 0;
                for (std::uint32_t rank = 0; rank < ranks; ++rank) {
                  collective.sizes.push_back(
                      static_cast<double>(random.integer(0, static_cast<std::int64_t>(bytes))));
                }
              }
              vary(collective, variety, random);
              ++points;
              const std::string different = difference(collective);
              if (!different.empty()) {
                FAIL_CHECK(described(collective, variety) << different << ", seed " << kSeed);
                return points;
              }
            }
          }
        }
      }
    }
  }
  return points;
}

TEST_CASE("every flat algorithm: events take exactly as long as the sweep in program order") {
  std::size_t algorithms = 0;
  for (const Op op : kOps) {
    for (const AlgorithmId algorithm : valid_algorithms(op)) {
      if (two_level(algorithm) || algorithm == AlgorithmId::parameter_server) {
        continue;
      }
      ++algorithms;
      for (const Variant& variant : variants(op, algorithm)) {
        CAPTURE(static_cast<int>(variant.tree));
        CAPTURE(variant.growing);
        const auto counts = std::ranges::count_if(
            kRanks, [&](std::uint32_t ranks) { return takes_ranks(algorithm, ranks); });
        CHECK(check_product(op, algorithm, variant) ==
              static_cast<std::size_t>(counts) * 6 * 2 * 2 * 2 * 4);
      }
    }
  }
  CHECK(algorithms >= 23); // COL 4: 3 + 3 + 7 + 4 + 4 + 1 and aliases
}

Collective on_two_levels(AlgorithmId algorithm, std::uint32_t ranks, std::uint32_t per_node,
                         std::uint32_t nics) {
  Collective collective;
  collective.algorithm = algorithm;
  collective.ranks = ranks;
  collective.bytes = 1e6 + 1;
  collective.links.all = {2e-5, 2e-5, 8e-10};
  collective.links.two_level = TwoLevel{per_node, nics, {5e-6, 5e-6, 1e-10}};
  return collective;
}

constexpr std::array kInter{AlgorithmId::ring,
                            AlgorithmId::be,
                            AlgorithmId::bruck,
                            AlgorithmId::mst,
                            AlgorithmId::lp,
                            AlgorithmId::recursive_doubling,
                            AlgorithmId::double_binary_tree};

TEST_CASE("two levels, an interface per rank: events take exactly as long as the sweep") {
  base::RandomStream random({.seed = kSeed, .point = 1});
  for (const AlgorithmId algorithm :
       {AlgorithmId::hierarchical, AlgorithmId::hierarchical_leader}) {
    for (const std::uint32_t ranks : kRanks) {
      for (std::uint32_t per_node = 1; per_node <= ranks; ++per_node) {
        if (ranks % per_node != 0) {
          continue;
        }
        for (const AlgorithmId inter : kInter) {
          for (const double bytes : sizes_for(ranks)) {
            for (const bool jitter : {false, true}) {
              Collective collective = on_two_levels(algorithm, ranks, per_node, per_node);
              collective.bytes = bytes;
              collective.options.inter_algorithm = inter;
              collective.options.block = Bytes{1'048'576};
              collective.reduction_s_per_byte = random.uniform(0, 2e-10);
              collective.options.chunking = jitter ? Chunking::integer : Chunking::real;
              if (jitter) {
                vary(collective, Variety::entries, random);
              }
              const std::string different = difference(collective);
              CHECK_MESSAGE(different.empty(), described(collective, Variety::entries)
                                                   << " G=" << per_node << " inter " << name(inter)
                                                   << different << ", seed " << kSeed);
            }
          }
        }
      }
    }
  }
}

TEST_CASE("hierarchical_leader, smaller last node: events take exactly as long as the sweep") {
  base::RandomStream random({.seed = kSeed, .point = 2});
  for (std::uint32_t ranks = 2; ranks <= 17; ++ranks) {
    for (std::uint32_t per_node = 2; per_node <= ranks; ++per_node) {
      for (const AlgorithmId intra : {AlgorithmId::mst, AlgorithmId::be, AlgorithmId::lp}) {
        Collective collective = on_two_levels(AlgorithmId::hierarchical_leader, ranks, per_node, 1);
        collective.options.intra_algorithm = intra;
        collective.options.block = Bytes{100'000};
        collective.reduction_s_per_byte = 1e-10;
        vary(collective, Variety::entries, random);
        const std::string different = difference(collective);
        CHECK_MESSAGE(different.empty(), "P=" << ranks << " G=" << per_node << " intra "
                                              << name(intra) << different << ", seed " << kSeed);
      }
    }
  }
}

// With integer chunking some parts have one byte more. The sweep, whose share of an interface is
// static, then lies inside the bounds of COL 2.5, with d = G N parts. Events do not: flows that got
// out of step hide each other's latency and may end earlier than in lockstep, never later.
TEST_CASE("hierarchical, shared interfaces: the static share is exact for equal parts") {
  for (const std::uint32_t ranks : {4U, 6U, 8U, 12U, 16U, 24U, 64U}) {
    for (std::uint32_t per_node = 2; per_node < ranks; ++per_node) {
      if (ranks % per_node != 0) {
        continue;
      }
      for (std::uint32_t nics = 1; nics < per_node; ++nics) {
        for (const AlgorithmId inter : {AlgorithmId::ring, AlgorithmId::be, AlgorithmId::mst}) {
          Collective collective = on_two_levels(AlgorithmId::hierarchical, ranks, per_node, nics);
          collective.options.inter_algorithm = inter;
          collective.reduction_s_per_byte = 1e-10;
          collective.options.chunking = Chunking::real;
          CAPTURE(ranks);
          CAPTURE(per_node);
          CAPTURE(nics);
          CAPTURE(name(inter));
          CHECK(events(collective).seconds == within(max_plus(collective).seconds, kTolerance));

          const double parts = ranks; // G shards in N parts each
          Collective least = collective;
          least.bytes = parts * std::floor(collective.bytes / parts);
          Collective most = collective;
          most.bytes = parts * std::ceil(collective.bytes / parts);
          collective.options.chunking = Chunking::integer;
          const double swept = max_plus(collective).seconds;
          CHECK(swept >= max_plus(least).seconds * (1 - kTolerance));
          CHECK(swept <= max_plus(most).seconds * (1 + kTolerance));
          const double run = events(collective).seconds;
          CHECK(run <= max_plus(most).seconds * (1 + kTolerance));
          CHECK(run >= lower_bound(collective).seconds() * (1 - kTolerance));
        }
      }
    }
  }
}

TEST_CASE("one parameter server: fair flows end when the arrival recurrence says") {
  base::RandomStream random({.seed = kSeed, .point = 3});
  for (const std::uint32_t ranks : kRanks) {
    for (const double bytes : sizes_for(ranks)) {
      for (const Placement placement : {Placement::dedicated, Placement::colocated}) {
        for (const double gamma : {0.0, 3e-10}) {
          for (const Variety variety : {Variety::equal, Variety::entries}) {
            Collective collective;
            collective.algorithm = AlgorithmId::parameter_server;
            collective.ranks = ranks;
            collective.bytes = bytes;
            collective.links.all = {5e-5, 5e-5, 8e-10};
            collective.reduction_s_per_byte = gamma;
            collective.options.placement = placement;
            vary(collective, variety, random);
            const std::string different = difference(collective);
            CHECK_MESSAGE(different.empty(), described(collective, variety)
                                                 << different << ", seed " << kSeed);
          }
        }
      }
    }
  }
}

TEST_CASE("several parameter servers that enter together: fair flows take the closed form") {
  for (const std::uint32_t ranks : {2U, 3U, 4U, 8U, 13U}) {
    for (const Placement placement :
         {Placement::dedicated, Placement::colocated, Placement::sharded}) {
      for (std::uint32_t servers = 1; servers <= ranks; ++servers) {
        Collective collective;
        collective.algorithm = AlgorithmId::parameter_server;
        collective.ranks = ranks;
        collective.bytes = 1e6;
        collective.links.all = {5e-5, 5e-5, 8e-10};
        collective.reduction_s_per_byte = 1e-10;
        collective.options.chunking = Chunking::real;
        collective.options.placement = placement;
        collective.options.servers = servers;
        CAPTURE(ranks);
        CAPTURE(servers);
        CAPTURE(static_cast<int>(placement));
        const auto form = closed_form(collective);
        REQUIRE(form.has_value());
        CHECK(events(collective).seconds == within(form->seconds, kTolerance));
      }
    }
  }
}

} // namespace
} // namespace stepsim::collectives
