#include "study/converge.hpp"
#include "testing/tolerance.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <numeric>
#include <set>

using namespace stepsim;
using namespace stepsim::study;
using collectives::CompressionMethod;
using stepsim::testing::plus_minus;
using stepsim::testing::within;

namespace {

const LogisticProblem& small() {
  static const LogisticProblem kProblem(
      {.samples = 240, .features = 30, .classes = 4, .words = 6, .seed = 3});
  return kProblem;
}

using Vector = std::vector<double>;

void descend(Vector& weights, double rate, const Vector& gradient) {
  for (std::size_t i = 0; i < weights.size(); ++i) {
    weights[i] -= rate * gradient[i];
  }
}

void check_close(const std::vector<double>& found, const std::vector<double>& expected,
                 double tolerance) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    CAPTURE(i);
    CHECK(found[i] == within(expected[i], tolerance));
  }
}

Learning with(CompressionMethod method, double density, std::uint32_t workers = 4) {
  Learning learning{.workers = workers, .iterations = 40};
  learning.compression.method = method;
  learning.compression.density = density;
  return learning;
}

Staleness width(std::int64_t k) { return {.width = k}; }

} // namespace

TEST_CASE("quadratic: a width is stable below 2 cos((K-1) pi / (2K-1))") {
  const auto converged = [](std::int64_t k, double step) {
    return converge_quadratic(width(k), step, 1000).converged;
  };
  CHECK(converged(1, 1.99));
  CHECK_FALSE(converged(1, 2.01));
  CHECK(converged(2, 0.99));
  CHECK_FALSE(converged(2, 1.01));
  CHECK(converged(3, 0.61));
  CHECK_FALSE(converged(3, 0.625));
  CHECK(stability_limit(1) == within(2, 1e-12));
  CHECK(stability_limit(2) == within(1, 1e-12));
  CHECK(stability_limit(3) == within((std::sqrt(5.0) - 1) / 2, 1e-12)); // 0.618034
  for (std::int64_t k = 1; k <= 12; ++k) {
    CAPTURE(k);
    CHECK(converge_quadratic(width(k), 0.97 * stability_limit(k), 8000).converged);
    CHECK_FALSE(converge_quadratic(width(k), 1.03 * stability_limit(k), 8000).converged);
  }
  // On the limit it oscillates for ever: neither grows nor converges. K = 1: w = +-1.
  CHECK_FALSE(converged(1, 2.0));
  CHECK(converge_quadratic(width(1), 2.0, 1000).final_distance == 1);
  CHECK_FALSE(converged(2, 1.0)); // period 6
  CHECK_FALSE(converge_quadratic(width(1), 2.0, 1000).grows());
  CHECK_FALSE(converge_quadratic(width(2), 1.0, 1000).grows());
  CHECK(converge_quadratic(width(2), 1.01, 1000).grows());
  CHECK_FALSE(converge_quadratic(width(2), 0.99, 1000).grows());
}

TEST_CASE("quadratic: steps by hand") {
  // K = 2, x = 1/2: w = 1 1 1/2 0 -1/4 (w[t] = w[t-1] - w[t-2] / 2 from t = 3 on).
  const QuadraticRun run = converge_quadratic(width(2), 0.5, 5);
  CHECK(run.final_distance == 0.25);
  const std::vector<std::optional<std::int64_t>> expected{{}, {}, 1 - 1, 2 - 1, 3 - 1};
  CHECK(run.applied_gradient == expected);
  // Synchronous: gradient t - 1 in step t; x = 1 jumps to the minimum in step 2.
  CHECK(converge_quadratic(width(1), 1, 2).final_distance == 0);
  CHECK(converge_quadratic(width(1), 1, 2).converged);
  // Warm-up of 3, then K = 3 skips two steps: 1 1 1/2 1/4 | 1/4 1/4, then minus half of w[3].
  const QuadraticRun warmed = converge_quadratic({.width = 3, .warmup_iterations = 3}, 0.5, 6);
  const std::vector<std::optional<std::int64_t>> skipped{{}, 1 - 1, 2 - 1, {}, {}, 3 - 1};
  CHECK(warmed.applied_gradient == skipped);
  CHECK(warmed.final_distance == 0.25 - 0.25 / 2);
  // Critically damped at x = 1/4: no step overshoots, w stays positive and falls.
  double before = 1;
  for (std::int64_t steps = 3; steps < 40; ++steps) {
    const double now = converge_quadratic(width(2), 0.25, steps).final_distance;
    CHECK(now < before);
    before = now;
  }
}

TEST_CASE("quadratic: a run that explodes ends and has no infinities") {
  const QuadraticRun run = converge_quadratic(width(4), 50, 100000);
  CHECK_FALSE(run.converged);
  CHECK(run.grows());
  CHECK(std::isfinite(run.final_distance));
  CHECK(run.applied_gradient.size() < 1000);
}

TEST_CASE("logistic: the gradient is the slope of the loss") {
  const LogisticProblem& problem = small();
  std::vector<std::uint32_t> all(problem.samples());
  std::iota(all.begin(), all.end(), 0U);
  Vector weights(problem.parameters());
  for (std::size_t i = 0; i < weights.size(); ++i) {
    weights[i] = std::sin(static_cast<double>(i));
  }
  const Vector gradient = problem.gradient(weights, all);
  constexpr double kStep = 1e-5;
  for (std::size_t i = 0; i < weights.size(); i += 7) {
    CAPTURE(i);
    Vector up = weights;
    Vector down = weights;
    up[i] += kStep;
    down[i] -= kStep;
    // Rounding, 1e-16 / kStep, and the third derivative, kStep^2 / 6, are below 1e-10.
    CHECK(gradient[i] == plus_minus((problem.loss(up) - problem.loss(down)) / (2 * kStep), 1e-10));
  }
  // All classes are equally likely at the start.
  CHECK(problem.loss(Vector(problem.parameters())) == within(std::log(4.0), 1e-12));
}

TEST_CASE("logistic: workers draw from their own shards, by iteration and seed") {
  const LogisticProblem& problem = small();
  std::set<std::uint32_t> seen;
  for (std::uint32_t w = 0; w < 7; ++w) {
    for (std::int64_t t = 1; t <= 100; ++t) {
      for (const std::uint32_t sample : problem.mini_batch(w, 7, t, 8)) {
        CHECK(sample % 7 == w);
        CHECK(sample < problem.samples());
        seen.insert(sample);
      }
    }
  }
  CHECK(seen.size() == problem.samples());
  CHECK(problem.mini_batch(0, 7, 1, 8) != problem.mini_batch(0, 7, 2, 8));
}

TEST_CASE("learn: P dense workers are one worker with the union of their batches") {
  const LogisticProblem& problem = small();
  for (const std::uint32_t workers : {1U, 2U, 5U}) {
    CAPTURE(workers);
    Vector weights(problem.parameters());
    std::vector<double> expected{problem.loss(weights)};
    for (std::int64_t t = 1; t <= 30; ++t) {
      std::vector<std::uint32_t> batch;
      for (std::uint32_t w = 0; w < workers; ++w) {
        const auto part = problem.mini_batch(w, workers, t, 6);
        batch.insert(batch.end(), part.begin(), part.end());
      }
      descend(weights, 1, problem.gradient(weights, batch));
      expected.push_back(problem.loss(weights));
    }
    check_close(learn(problem, {.workers = workers, .iterations = 30, .batch = 6}), expected,
                1e-12);
  }
}

TEST_CASE("learn: Pipe-SGD applies the gradient of t - K, computed on older weights") {
  const LogisticProblem& problem = small();
  for (const std::int64_t k : {1, 2, 3, 7}) {
    CAPTURE(k);
    // Independent: all gradients kept, w[t] = w[t-1] - g[t-K] as in the paper's listing.
    Vector weights(problem.parameters());
    std::vector<Vector> gradients{{}};
    std::vector<double> expected;
    for (std::int64_t t = 1; t <= 26; ++t) {
      if (t - k >= 1) {
        descend(weights, 1, gradients[static_cast<std::size_t>(t - k)]);
      }
      expected.push_back(problem.loss(weights));
      Vector sum(weights.size());
      for (std::uint32_t w = 0; w < 3; ++w) {
        descend(sum, -1.0 / 3, problem.gradient(weights, problem.mini_batch(w, 3, t, 8)));
      }
      gradients.push_back(sum);
    }
    check_close(learn(problem, {.workers = 3, .iterations = 25, .staleness = width(k)}), expected,
                1e-12);
  }
  // A warm-up as long as the run is synchronous.
  const Learning sync{.workers = 3, .iterations = 20};
  Learning warm = sync;
  warm.staleness = {.width = 4, .warmup_iterations = 21};
  CHECK(learn(problem, warm) == learn(problem, sync));
  warm.staleness.warmup_iterations = 5;
  CHECK(learn(problem, warm) != learn(problem, sync));
}

TEST_CASE("learn: selecting every entry is dense, whatever the method and the mask") {
  const std::vector<double> dense = learn(small(), with(CompressionMethod::none, 1));
  for (const CompressionMethod method :
       {CompressionMethod::topk, CompressionMethod::gtopk_tree, CompressionMethod::gtopk_butterfly,
        CompressionMethod::gtopk_exact}) {
    for (const collectives::ResidualMask mask :
         {collectives::ResidualMask::final, collectives::ResidualMask::per_round}) {
      CAPTURE(static_cast<int>(method));
      Learning learning = with(method, 1);
      learning.compression.residual_mask = mask;
      check_close(learn(small(), learning), dense, 1e-12);
    }
  }
}

TEST_CASE("learn: few entries with error feedback still learn, and the masks differ") {
  const double start = std::log(4.0);
  const double dense = learn(small(), with(CompressionMethod::none, 1)).back();
  CHECK(dense < 0.8 * start);
  for (const CompressionMethod method :
       {CompressionMethod::topk, CompressionMethod::gtopk_tree, CompressionMethod::gtopk_butterfly,
        CompressionMethod::gtopk_exact}) {
    CAPTURE(static_cast<int>(method));
    const double sparse = learn(small(), with(method, 0.05)).back();
    CHECK(sparse < 0.9 * start);
    CHECK(sparse > dense); // it is behind
  }
  Learning tree = with(CompressionMethod::gtopk_tree, 0.05);
  const double final = learn(small(), tree).back();
  tree.compression.residual_mask = collectives::ResidualMask::per_round;
  CHECK(learn(small(), tree).back() != final);
  // A tree and a butterfly over a power of two merge the same lists; over 6 ranks they do not.
  CHECK(learn(small(), with(CompressionMethod::gtopk_butterfly, 0.05)).back() == final);
  CHECK(learn(small(), with(CompressionMethod::gtopk_butterfly, 0.05, 6)).back() !=
        learn(small(), with(CompressionMethod::gtopk_tree, 0.05, 6)).back());
}

TEST_CASE("learn: the density warm-up changes the number of entries by iteration") {
  Learning warm = with(CompressionMethod::topk, 0.02);
  warm.iterations = 10;
  const std::vector<double> constant = learn(small(), warm);
  warm.compression.density_warmup = {1};
  warm.compression.iterations_per_epoch = 5;
  const std::vector<double> warmed = learn(small(), warm);
  Learning dense = with(CompressionMethod::none, 1);
  dense.iterations = 10;
  const std::vector<double> full = learn(small(), dense);
  for (std::size_t i = 0; i <= 5; ++i) {
    CHECK(warmed[i] == within(full[i], 1e-12));
  }
  CHECK(warmed[7] != within(full[7], 1e-9));
  CHECK(constant[3] != within(full[3], 1e-9));
}

TEST_CASE("learn: codecs change the loss a little, less with more bits") {
  const std::vector<double> dense = learn(small(), with(CompressionMethod::none, 1));
  for (const bool server : {false, true}) {
    for (const CompressionMethod method :
         {CompressionMethod::truncate16, CompressionMethod::quantize8}) {
      CAPTURE(static_cast<int>(method));
      Learning learning = with(method, 1);
      learning.server = server;
      const std::vector<double> coded = learn(small(), learning);
      check_close(coded, dense, 0.02);
      CHECK(coded.back() != within(dense.back(), 1e-9));
      learning.workers = 1; // a ring of one sends nothing, a server is still pushed to
      const Learning alone{.workers = 1, .iterations = 40};
      const bool same = std::abs(learn(small(), learning).back() / learn(small(), alone).back() -
                                 1) < 1e-6; // float against double
      CHECK(same == !server);
    }
  }
}

TEST_CASE("learn: loss falls, and staleness 1 is not free") {
  const LogisticProblem problem({.seed = 1});
  Learning learning{.workers = 4, .iterations = 100};
  const std::vector<double> sync = learn(problem, learning);
  CHECK(sync.front() == within(std::log(10.0), 1e-12));
  CHECK(sync.back() < 0.9);
  learning.staleness = width(2);
  CHECK(learn(problem, learning)[10] > sync[10]);
  learning.staleness = width(8);
  CHECK(learn(problem, learning).back() > 1.2 * sync.back());
}

TEST_CASE("learn: a run that explodes ends with the last finite loss") {
  Learning learning{.workers = 2, .iterations = 2000, .learning_rate = 1.7e308};
  const std::vector<double> losses = learn(small(), learning);
  CHECK(losses.size() < 2001);
  CHECK(std::isfinite(losses.back()));
}

TEST_CASE("learn_async: one worker is sequential SGD, P workers follow the order of updates") {
  const LogisticProblem& problem = small();
  programs::AsyncInput input{
      .workers = 1, .iterations = 30, .compute_s = 1, .link = {.push_s = 0.1, .pull_s = 0.1}};
  Learning learning{.workers = 1, .iterations = 30};
  check_close(learn_async(problem, learning, programs::run_async(input).updates),
              learn(problem, learning), 1e-12);

  input.workers = learning.workers = 3;
  input.variability.stragglers = {{1, 2.5}};
  const auto updates = programs::run_async(input).updates;
  // Independent: every version of the weights is kept; update i of staleness s computes on the
  // version i - s.
  std::vector<Vector> versions{Vector(problem.parameters())};
  std::vector<std::int64_t> iteration(3);
  std::vector<double> expected{problem.loss(versions[0])};
  for (std::size_t i = 0; i < updates.size(); ++i) {
    const std::uint32_t w = updates[i].worker;
    const auto& old = versions[i - static_cast<std::size_t>(updates[i].staleness)];
    Vector next = versions.back();
    descend(next, 1.0 / 3, problem.gradient(old, problem.mini_batch(w, 3, ++iteration[w], 8)));
    versions.push_back(next);
    if (i % 3 == 2) {
      expected.push_back(problem.loss(next));
    }
  }
  check_close(learn_async(problem, learning, updates), expected, 1e-12);
}
