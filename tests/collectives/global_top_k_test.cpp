#include "collectives/operators/sparse_vector.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

#include "collectives/sparse_instances.hpp"

using namespace stepsim::collectives;
using stepsim::base::RandomStream;

namespace {

using Map = std::map<std::uint32_t, double>;
constexpr std::uint32_t kRanks[] = {1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 16};

Map cut(const Map& sum, std::uint32_t k) {
  std::vector<std::pair<double, std::uint32_t>> order; // -|value|, index
  for (const auto& [index, value] : sum) {
    if (value != 0) {
      order.emplace_back(-std::abs(value), index);
    }
  }
  std::sort(order.begin(), order.end());
  Map out;
  for (std::size_t i = 0; i < std::min<std::size_t>(k, order.size()); ++i) {
    out[order[i].second] = sum.at(order[i].second);
  }
  return out;
}

Map merged(Map a, const Map& b, std::uint32_t k) {
  for (const auto& [index, value] : b) {
    a[index] += value;
  }
  return cut(a, k);
}

// The oracle: rank by rank on maps, every rank remembering whose entries are in its list.
struct Naive {
  std::vector<Map> lists;
  std::vector<std::set<std::uint32_t>> inside; // ranks whose contributions a list holds
  std::vector<std::set<std::uint32_t>> cut;    // [rank] indices that a merge dropped
};

void naive_merge(Naive& state, const Naive& before, std::uint32_t rank, std::uint32_t from,
                 std::span<const SparseVector> selected, std::uint32_t k) {
  state.lists[rank] = merged(before.lists[rank], before.lists[from], k);
  state.inside[rank] = before.inside[rank];
  state.inside[rank].insert(before.inside[from].begin(), before.inside[from].end());
  for (const std::uint32_t p : state.inside[rank]) {
    for (const std::uint32_t index : selected[p].indices) {
      if (!state.lists[rank].contains(index)) {
        state.cut[p].insert(index);
      }
    }
  }
}

Naive naive_gtopk(bool tree, std::span<const SparseVector> selected, std::uint32_t k) {
  const auto ranks = static_cast<std::uint32_t>(selected.size());
  Naive state;
  state.cut.resize(ranks);
  for (std::uint32_t p = 0; p < ranks; ++p) {
    state.lists.push_back(map_of(selected[p]));
    state.inside.push_back({p});
  }
  if (tree) { // SPA 4: in step j rank r with r mod 2^(j+1) = 2^j sends to r - 2^j
    for (std::uint32_t j = 0; (1U << j) < ranks; ++j) {
      const Naive before = state;
      for (std::uint32_t r = 0; r < ranks; ++r) {
        if (r % (2U << j) == 1U << j) {
          naive_merge(state, before, r - (1U << j), r, selected, k);
        }
      }
    }
    return state;
  }
  std::uint32_t two = 1;
  while (two * 2 <= ranks) {
    two *= 2;
  }
  const Naive unfolded = state;
  for (std::uint32_t e = two; e < ranks; ++e) {
    naive_merge(state, unfolded, e - two, e, selected, k);
  }
  for (std::uint32_t step = 1; step < two; step *= 2) {
    const Naive before = state;
    for (std::uint32_t r = 0; r < two; ++r) {
      naive_merge(state, before, r, r ^ step, selected, k);
    }
  }
  for (std::uint32_t e = two; e < ranks; ++e) {
    state.lists[e] = state.lists[e - two];
  }
  return state;
}

struct Instance {
  std::uint32_t ranks{};
  std::uint32_t dims{};
  std::uint32_t k{};
  std::vector<SparseVector> selected;
};

Instance random_instance(std::uint64_t seed, bool power_of_two = false) {
  RandomStream random({.seed = seed});
  Instance out;
  out.ranks = kRanks[random.integer(0, std::ssize(kRanks) - 1)];
  out.ranks = power_of_two ? std::bit_floor(out.ranks) : out.ranks;
  out.dims = static_cast<std::uint32_t>(random.integer(1, 15));
  out.k = static_cast<std::uint32_t>(random.integer(1, out.dims));
  for (std::uint32_t rank = 0; rank < out.ranks; ++rank) {
    out.selected.push_back(select_top_k(random_dense(random, out.dims, seed % 3 != 0), out.k));
  }
  return out;
}

SparseVector exact_top_k(const Instance& instance) {
  return select_top_k(sparse_sum(instance.selected), instance.k);
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs(const std::vector<Merge>& round) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> out;
  for (const Merge& merge : round) {
    out.emplace_back(merge.from, merge.rank);
  }
  return out;
}

using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>; // sender, receiver

} // namespace

TEST_CASE("gtopk_tree: the merges of 8, 7, 6 and 3 ranks") {
  const auto rounds = [](std::size_t ranks) {
    std::vector<Pairs> out;
    const std::vector<SparseVector> same(ranks, SparseVector{{0}, {1}});
    for (const std::vector<Merge>& round : gtopk(SparseMethod::gtopk_tree, same, 1).rounds) {
      out.push_back(pairs(round));
    }
    return out;
  };
  CHECK(rounds(8) ==
        std::vector<Pairs>{{{1, 0}, {3, 2}, {5, 4}, {7, 6}}, {{2, 0}, {6, 4}}, {{4, 0}}});
  CHECK(rounds(7) == std::vector<Pairs>{{{1, 0}, {3, 2}, {5, 4}}, {{2, 0}, {6, 4}}, {{4, 0}}});
  CHECK(rounds(6) == std::vector<Pairs>{{{1, 0}, {3, 2}, {5, 4}}, {{2, 0}}, {{4, 0}}});
  CHECK(rounds(3) == std::vector<Pairs>{{{1, 0}}, {{2, 0}}});
  CHECK(rounds(1).empty());
}

TEST_CASE("gtopk_butterfly: fold-in is round 0, each exchange is two merges") {
  const std::vector<SparseVector> same(6, SparseVector{{0}, {1}});
  const GlobalTopK out = gtopk(SparseMethod::gtopk_butterfly, same, 1);
  REQUIRE(out.rounds.size() == 1 + 2);
  CHECK(pairs(out.rounds[0]) == Pairs{{4, 0}, {5, 1}});
  CHECK(pairs(out.rounds[1]) == Pairs{{1, 0}, {0, 1}, {3, 2}, {2, 3}});
  CHECK(pairs(out.rounds[2]) == Pairs{{2, 0}, {3, 1}, {0, 2}, {1, 3}});
  CHECK(out.result == SparseVector{{0}, {6}});
}

TEST_CASE("gtopk: the two gathered methods have no rounds") {
  const std::vector<SparseVector> selected{{{0, 1}, {5, 1}}, {{1, 2}, {1, 4}}};
  const GlobalTopK all = gtopk(SparseMethod::topk, selected, 2);
  CHECK(all.rounds.empty());
  CHECK(all.result == SparseVector{{0, 1, 2}, {5, 1 + 1, 4}});
  CHECK(all.survived == std::vector<std::vector<bool>>{{true, true}, {true, true}});
  const GlobalTopK exact = gtopk(SparseMethod::gtopk_exact, selected, 2);
  CHECK(exact.rounds.empty());
  CHECK(exact.result == SparseVector{{0, 2}, {5, 4}});
  CHECK(exact.survived == std::vector<std::vector<bool>>{{true, false}, {false, true}});
}

TEST_CASE("gtopk: 2,000 random instances against folds on maps, masks too") {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    CAPTURE(seed);
    const Instance instance = random_instance(seed);
    for (const bool tree : {true, false}) {
      CAPTURE(tree);
      const GlobalTopK out = gtopk(tree ? SparseMethod::gtopk_tree : SparseMethod::gtopk_butterfly,
                                   instance.selected, instance.k);
      const Naive naive = naive_gtopk(tree, instance.selected, instance.k);
      REQUIRE(out.result == sparse_of(naive.lists[0]));
      for (std::uint32_t p = 0; p < instance.ranks; ++p) {
        for (std::size_t e = 0; e < instance.selected[p].size(); ++e) {
          const bool cut = naive.cut[p].contains(instance.selected[p].indices[e]);
          REQUIRE(out.survived[p][e] != cut);
        }
      }
      if (!out.rounds.empty()) {
        REQUIRE(out.rounds.back().front().result == out.result);
      }
      for (const std::vector<Merge>& round : out.rounds) {
        for (const Merge& merge : round) {
          REQUIRE(merge.result.size() <= instance.k);
        }
      }
    }
  }
}

TEST_CASE("gtopk_butterfly: all ranks of the last round hold the same list, bit by bit") {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    CAPTURE(seed);
    const Instance instance = random_instance(seed);
    const GlobalTopK out = gtopk(SparseMethod::gtopk_butterfly, instance.selected, instance.k);
    for (const Merge& merge : out.rounds.empty() ? std::vector<Merge>() : out.rounds.back()) {
      REQUIRE(merge.result == out.result);
    }
  }
}

TEST_CASE("gtopk: tree and butterfly agree on powers of two, bit by bit, masks too") {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    CAPTURE(seed);
    const Instance instance = random_instance(seed, true);
    const GlobalTopK tree = gtopk(SparseMethod::gtopk_tree, instance.selected, instance.k);
    const GlobalTopK fly = gtopk(SparseMethod::gtopk_butterfly, instance.selected, instance.k);
    REQUIRE(tree.result == fly.result);
    REQUIRE(tree.survived == fly.survived);
  }
}

TEST_CASE("gtopk: with other rank counts tree and butterfly may differ") {
  // k = 1, 3 ranks: the tree merges {0:4} with {1:3} first, the butterfly rank 2 into rank 0.
  const std::vector<SparseVector> selected{{{1}, {3}}, {{0}, {4}}, {{1}, {3}}};
  CHECK(gtopk(SparseMethod::gtopk_tree, selected, 1).result == SparseVector{{0}, {4}});
  CHECK(gtopk(SparseMethod::gtopk_butterfly, selected, 1).result == SparseVector{{1}, {3 + 3}});
}

TEST_CASE("gtopk: one rank gets its own selection from every method") {
  const std::vector<SparseVector> selected{{{1, 4}, {3, -2}}};
  for (const SparseMethod method : {SparseMethod::topk, SparseMethod::gtopk_tree,
                                    SparseMethod::gtopk_butterfly, SparseMethod::gtopk_exact}) {
    CAPTURE(kSparseMethods[method]);
    const GlobalTopK out = gtopk(method, selected, 2);
    CHECK(out.result == selected[0]);
    CHECK(out.rounds.empty());
    CHECK(out.survived == std::vector<std::vector<bool>>{{true, true}});
  }
}

TEST_CASE("gtopk: with one support of size k on all ranks every method gives the exact sum") {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    CAPTURE(seed);
    RandomStream random({.seed = seed});
    const std::uint32_t ranks = kRanks[random.integer(0, std::ssize(kRanks) - 1)];
    const auto support = select_top_k(random_dense(random, 15, true), 15);
    std::vector<SparseVector> selected(ranks, support);
    for (SparseVector& each : selected) {
      for (double& value : each.values) {
        value = random.integer(0, 1) == 0 ? -2 : 3;
      }
    }
    const auto k = static_cast<std::uint32_t>(support.size());
    for (const SparseMethod method : {SparseMethod::topk, SparseMethod::gtopk_tree,
                                      SparseMethod::gtopk_butterfly, SparseMethod::gtopk_exact}) {
      REQUIRE(gtopk(method, selected, k).result == sparse_sum(selected));
    }
  }
}

TEST_CASE("gtopk: with disjoint supports tree, butterfly and exact top k agree") {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    CAPTURE(seed);
    Instance instance = random_instance(seed);
    for (std::uint32_t rank = 0; rank < instance.ranks; ++rank) {
      for (std::uint32_t& index : instance.selected[rank].indices) {
        index = index * instance.ranks + rank;
      }
    }
    const SparseVector exact = exact_top_k(instance);
    REQUIRE(gtopk(SparseMethod::gtopk_tree, instance.selected, instance.k).result == exact);
    REQUIRE(gtopk(SparseMethod::gtopk_butterfly, instance.selected, instance.k).result == exact);
    REQUIRE(gtopk(SparseMethod::gtopk_exact, instance.selected, instance.k).result == exact);
  }
}

TEST_CASE("gtopk: k as large as the union of the selections gives the exact sum") {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    CAPTURE(seed);
    const Instance instance = random_instance(3 * seed + 1); // integers
    for (const SparseMethod method : {SparseMethod::gtopk_tree, SparseMethod::gtopk_butterfly}) {
      REQUIRE(gtopk(method, instance.selected, instance.dims).result ==
              sparse_sum(instance.selected));
    }
  }
}

TEST_CASE("gtopk_exact: no vector of k entries, of any gTop-k or support, is nearer to the sum") {
  const auto distance = [](const SparseVector& sum, const SparseVector& result) {
    const std::vector<SparseVector> both{sum, divided(result, -1)};
    double squares = 0;
    for (const double value : sparse_sum(both).values) {
      squares += value * value;
    }
    return squares;
  };
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    const Instance instance = random_instance(3 * seed + 1); // integers: squares are exact
    const SparseVector sum = sparse_sum(instance.selected);
    const double best =
        distance(sum, gtopk(SparseMethod::gtopk_exact, instance.selected, instance.k).result);
    for (const SparseMethod method : {SparseMethod::gtopk_tree, SparseMethod::gtopk_butterfly}) {
      REQUIRE(distance(sum, gtopk(method, instance.selected, instance.k).result) >= best);
    }
    // On a given support the sum itself is nearest: try all supports of at most k indices.
    if (sum.size() > 12) {
      continue;
    }
    for (std::uint32_t subset = 0; subset < 1U << sum.size(); ++subset) {
      if (std::popcount(subset) <= static_cast<int>(instance.k)) {
        double left = 0;
        for (std::size_t i = 0; i < sum.size(); ++i) {
          left += (subset >> i & 1U) == 0 ? sum.values[i] * sum.values[i] : 0;
        }
        REQUIRE(left >= best);
      }
    }
  }
}
