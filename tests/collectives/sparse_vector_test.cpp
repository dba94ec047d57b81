#include "collectives/operators/sparse_vector.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "base/error.hpp"
#include "collectives/sparse_instances.hpp"

using namespace stepsim::collectives;
using stepsim::SimulationError;
using stepsim::base::RandomStream;

namespace {

// The oracle: all non-zeros sorted by (|value| descending, index ascending).
SparseVector top_k_by_full_sort(const std::vector<double>& dense, std::uint32_t k) {
  std::vector<std::uint32_t> order(dense.size());
  std::iota(order.begin(), order.end(), 0U);
  std::erase_if(order, [&](std::uint32_t i) { return dense[i] == 0; });
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::abs(dense[a]) != std::abs(dense[b]) ? std::abs(dense[a]) > std::abs(dense[b])
                                                    : a < b;
  });
  std::map<std::uint32_t, double> best;
  for (std::size_t i = 0; i < std::min<std::size_t>(k, order.size()); ++i) {
    best[order[i]] = dense[order[i]];
  }
  return sparse_of(best);
}

bool invariants_hold(const SparseVector& vector) {
  bool good = vector.indices.size() == vector.values.size();
  for (std::size_t i = 0; i < vector.size(); ++i) {
    good = good && (i == 0 || vector.indices[i - 1] < vector.indices[i]);
    good = good && vector.values[i] != 0 && std::isfinite(vector.values[i]);
  }
  return good;
}

} // namespace

TEST_CASE("select_top_k: 1,000 random vectors against a full sort") {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    CAPTURE(seed);
    RandomStream random({.seed = seed});
    const auto dims = static_cast<std::size_t>(random.integer(0, 60));
    const std::vector<double> dense = random_dense(random, dims, seed % 2 == 0);
    const auto k = static_cast<std::uint32_t>(random.integer(0, 62));
    const SparseVector best = select_top_k(dense, k);
    REQUIRE(best == top_k_by_full_sort(dense, k));
    REQUIRE(select_top_k(to_sparse(dense), k) == best);
    REQUIRE(invariants_hold(best));
  }
}

TEST_CASE("select_top_k: of 100,000 values with 13 magnitudes the first indices are taken") {
  RandomStream random({.seed = 5});
  const std::vector<double> dense = random_dense(random, 100'000, true);
  for (const std::uint32_t k : {1U, 100U, 20'000U, 99'999U, 100'000U, 4'000'000'000U}) {
    CAPTURE(k);
    CHECK(select_top_k(dense, k) == top_k_by_full_sort(dense, k));
  }
}

TEST_CASE("select_top_k: zeros of either sign are dropped, ties go to the lower index") {
  CHECK(select_top_k(std::vector<double>{0.0, -0.0, 3, 0}, 4) == SparseVector{{2}, {3}});
  CHECK(select_top_k(std::vector<double>{-5, 5, -5, 5}, 3) == SparseVector{{0, 1, 2}, {-5, 5, -5}});
  CHECK(select_top_k(std::vector<double>{1, 2}, 0) == SparseVector{});
}

TEST_CASE("select_top_k: a value that is not finite is refused") {
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    CHECK_THROWS_WITH_AS((void)select_top_k(std::vector<double>{1, bad}, 1),
                         "the value at index 1 is not finite", SimulationError);
  }
}

TEST_CASE("merge_top_k is not associative: {0:4}, {1:3}, {1:3} with k = 1") {
  const SparseVector x{{0}, {4}};
  const SparseVector y{{1}, {3}};
  const SparseVector& z = y;
  CHECK(merge_top_k(merge_top_k(x, y, 1), z, 1) == SparseVector{{0}, {4}});
  CHECK(merge_top_k(x, merge_top_k(y, z, 1), 1) == SparseVector{{1}, {3 + 3}});
}

TEST_CASE("merge_top_k: what cancels is gone, later values start anew, with k = 2") {
  const SparseVector x{{0, 1}, {3, 2}};
  const SparseVector y{{0, 2}, {-3, 2.5}};
  const SparseVector z{{1, 3}, {2, 1}};
  CHECK(merge_top_k(merge_top_k(x, y, 2), z, 2) == SparseVector{{1, 2}, {2 + 2, 2.5}});
  CHECK(merge_top_k(x, merge_top_k(y, z, 2), 2) == SparseVector{{1, 2}, {2, 2.5}});
}

TEST_CASE("merge_top_k: a tie goes to the lower index, whatever the order of the operands") {
  const SparseVector a{{2}, {-5}};
  const SparseVector b{{1}, {5}};
  CHECK(merge_top_k(a, b, 1) == b);
  CHECK(merge_top_k(b, a, 1) == b);
}

TEST_CASE("merge_top_k: 2,000 random pairs commute and are the top k of the dense sum") {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    CAPTURE(seed);
    RandomStream random({.seed = seed});
    const auto dims = static_cast<std::size_t>(random.integer(1, 15));
    const bool integers = seed % 2 == 0;
    const std::vector<double> a = random_dense(random, dims, integers);
    const std::vector<double> b = random_dense(random, dims, integers);
    const auto k = static_cast<std::uint32_t>(random.integer(1, static_cast<std::int64_t>(dims)));
    const SparseVector merged = merge_top_k(to_sparse(a), to_sparse(b), k);
    REQUIRE(merged == merge_top_k(to_sparse(b), to_sparse(a), k)); // no rounding: bit by bit
    REQUIRE(merged.size() <= k);
    REQUIRE(invariants_hold(merged));
    std::vector<double> sum(dims);
    std::transform(a.begin(), a.end(), b.begin(), sum.begin(), std::plus<>());
    REQUIRE(merged == top_k_by_full_sort(sum, k));
  }
}

TEST_CASE("sparse_sum: random lists against sums in a map, from the first vector to the last") {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    CAPTURE(seed);
    RandomStream random({.seed = seed});
    std::vector<SparseVector> vectors;
    std::map<std::uint32_t, double> sums;
    for (std::int64_t left = random.integer(0, 9); left > 0; --left) {
      vectors.push_back(to_sparse(random_dense(random, 12, seed % 2 == 0)));
      for (const auto& [index, value] : map_of(vectors.back())) {
        sums[index] += value;
      }
    }
    REQUIRE(sparse_sum(vectors) == sparse_of(sums));
  }
}

TEST_CASE("sparse vectors: dense and back, one value, and division") {
  const std::vector<double> dense{0, -2, 0, 7};
  const SparseVector sparse = to_sparse(dense);
  CHECK(sparse == SparseVector{{1, 3}, {-2, 7}});
  CHECK(to_dense(sparse, dense.size()) == dense);
  CHECK(sparse.at(1) == -2);
  CHECK(sparse.at(2) == 0);
  CHECK(sparse.contains(3));
  CHECK_FALSE(sparse.contains(0));
  CHECK(divided(sparse, 4) == SparseVector{{1, 3}, {-2. / 4, 7. / 4}});
  const double smallest = std::numeric_limits<double>::denorm_min();
  CHECK(divided(SparseVector{{0}, {smallest}}, 4) == SparseVector{}); // smallest / 4 is 0
}

TEST_CASE("sparse vectors: a sum beyond double is an error, not an infinity") {
  const SparseVector huge{{3}, {1.5e308}};
  CHECK_THROWS_WITH_AS((void)merge_top_k(huge, huge, 1), "the value at index 3 is not finite",
                       SimulationError);
  CHECK_THROWS_AS((void)sparse_sum(std::vector<SparseVector>{huge, huge, huge}), SimulationError);
}

TEST_CASE("make_sparse: ascending finite entries pass, zeros are dropped") {
  CHECK(make_sparse(std::vector<std::int64_t>{0, 4, 6}, std::vector<double>{1, 0, -3}, 7) ==
        SparseVector{{0, 6}, {1, -3}});
}

TEST_CASE("make_sparse: every kind of bad entry is named with its place") {
  using Part = SparseProblem::Part;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  struct Row {
    std::vector<std::int64_t> indices;
    std::vector<double> values;
    Part part;
    std::size_t position;
    const char* message;
  };
  const std::vector<Row> rows{
      {{0, 9}, {1, 1}, Part::index, 1, "index 9 is not below dims 7"},
      {{7}, {1}, Part::index, 0, "index 7 is not below dims 7"},
      {{-1}, {1}, Part::index, 0, "index -1 is negative"},
      {{4, 4}, {1, 1}, Part::index, 1, "duplicate index 4"},
      {{4, 5, 4}, {1, 1, 1}, Part::index, 2, "duplicate index 4"},
      {{5, 2}, {1, 1}, Part::index, 1, "index 2 after 5; indices must be ascending"},
      {{0, 1}, {1, nan}, Part::value, 1, "value must be finite"},
  };
  for (const Row& row : rows) {
    CAPTURE(std::string(row.message));
    const std::vector<SparseProblem> problems = sparse_problems(row.indices, row.values, 7);
    REQUIRE(problems.size() == 1);
    CHECK(problems[0].part == row.part);
    CHECK(problems[0].position == row.position);
    CHECK(problems[0].message == row.message);
    CHECK_THROWS_WITH_AS((void)make_sparse(row.indices, row.values, 7), row.message,
                         SimulationError);
  }
}
