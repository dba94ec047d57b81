// The program of Pipe-SGD against formulas, hand-computed runs and a small-step integration.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/random.hpp"
#include "programs/builders/step_programs.hpp"
#include "programs/event_pass.hpp"
#include "programs/factors.hpp"
#include "programs/recurrence.hpp"
#include "programs/step/pipeline.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim::layers;
using namespace stepsim::programs;
using stepsim::base::RandomStream;
using stepsim::testing::within;

namespace {

struct Piece { // a part of backward; pieces are in backward order
  double compute_s{};
  double exchange_s{}; // 0 = nothing to send
};

struct Input {
  PipelineSteps steps{};
  std::uint32_t workers = 1;
  double application_s{}, forward_s{};
  std::vector<Piece> pieces{};
  double compute_slowdown = 1;
  Variability variability{};
};

Program program_of(const Input& input) {
  const std::size_t count = input.pieces.size();
  std::vector<LayerTimes> layers(count);
  layers[0].forward = {input.forward_s};
  std::vector<BucketTimes> buckets;
  for (std::size_t j = 0; j < count; ++j) {
    const std::size_t layer = count - 1 - j;
    layers[layer].backward = {input.pieces[j].compute_s};
    if (input.pieces[j].exchange_s > 0) {
      buckets.push_back({.layers = {static_cast<std::uint32_t>(layer)},
                         .reduce = {.startup = {}, .data = {input.pieces[j].exchange_s}},
                         .gather = {}});
    }
  }
  const bool block =
      input.steps.warmup_iterations > 0 && input.steps.warmup_switch == WarmupSwitch::block;
  Program program = pipe_sgd_program(layers, buckets,
                                     {.update = {input.application_s},
                                      .width = static_cast<std::int32_t>(input.steps.width),
                                      .synchronous_first = static_cast<std::uint32_t>(
                                          input.steps.warmup_iterations + (block ? 2 : 0))});
  program.ranks = input.workers;
  program.interference.compute.fill(input.compute_slowdown);
  return program;
}

struct Times {
  Program program;
  OperationTimes all;
  double makespan_s{};
  double period_s{}; // of the second half of the iterations

  [[nodiscard]] double start_s(std::int64_t iteration) const { // of the first worker to start
    double start = all.start[all.at(iteration, 0, 0)];
    for (std::uint32_t rank = 0; rank < all.ranks; ++rank) {
      start = std::min(start, all.start[all.at(iteration, 0, rank)]);
    }
    return start;
  }
  [[nodiscard]] double end_s(std::int64_t iteration, OperationType type) const {
    double end = 0;
    for (std::uint32_t o = 0; o < all.operations; ++o) {
      for (std::uint32_t rank = 0; rank < all.ranks; ++rank) {
        end = program.operations[o].type == type
                  ? std::max(end, all.end[all.at(iteration, o, rank)])
                  : end;
      }
    }
    return end;
  }
  [[nodiscard]] double exchange_start_s(std::int64_t iteration) const { // of the first exchange
    for (std::uint32_t o = 0; o < all.operations; ++o) {
      if (program.operations[o].type == OperationType::exchange) {
        return all.start[all.at(iteration, o, 0)];
      }
    }
    return 0;
  }
  [[nodiscard]] double compute_s(std::uint32_t rank) const { // of all iterations
    double sum = 0;
    for (std::int64_t t = 0; t < all.iterations; ++t) {
      for (std::uint32_t o = 0; o < all.operations; ++o) {
        const std::size_t at = all.at(t, o, rank);
        sum +=
            program.operations[o].type == OperationType::compute ? all.end[at] - all.start[at] : 0;
      }
    }
    return sum;
  }
};

Times run(const Input& input) {
  const std::int64_t iterations = input.steps.iterations;
  Factors factors;
  if (input.variability.varies()) {
    const Jitter jitter(input.variability, input.workers);
    for (std::int64_t t = 1; t <= iterations; ++t) {
      for (std::uint32_t worker = 0; worker < input.workers; ++worker) {
        factors.compute.push_back(jitter.compute(worker, t));
      }
      factors.exchange.push_back(jitter.exchange(t));
    }
  }
  Times times{.program = program_of(input), .all = {}};
  times.all = input.compute_slowdown == 1
                  ? rank_vectors(times.program, iterations, factors, {}, Record::all)
                  : event_pass(times.program, iterations, factors, Record::all);
  times.makespan_s = times.all.makespan_s;
  const std::int64_t half = iterations / 2;
  const double before = half == 0 ? 0 : latest_marker_end(times.all, half - 1);
  times.period_s = (latest_marker_end(times.all, iterations - 1) - before) /
                   static_cast<double>(iterations - half);
  return times;
}

// Times in ms below: numbers stay exact.
Input fused(double compute, double exchange, std::int64_t width, std::int64_t iterations,
            double application = 0) {
  return {.steps = {.iterations = iterations, .width = width},
          .workers = 4,
          .application_s = application,
          .pieces = {{compute - application, exchange}},
          .variability = {}};
}

Input warmed(double compute, double exchange, std::int64_t width, std::int64_t iterations,
             std::int64_t warmup, WarmupSwitch how) {
  Input input = fused(compute, exchange, width, iterations);
  input.steps.warmup_iterations = warmup;
  input.steps.warmup_switch = how;
  return input;
}

Input layered(double forward, std::vector<Piece> pieces, std::int64_t width) {
  return {.steps = {.iterations = 100, .width = width},
          .workers = 4,
          .forward_s = forward,
          .pieces = std::move(pieces),
          .variability = {}};
}

Input jittered(double compute, double exchange, std::int64_t width, std::uint32_t workers,
               std::int64_t iterations) {
  Input input = fused(compute, exchange, width, iterations);
  input.workers = workers;
  input.variability = {.compute_cv = 1, .law = JitterLaw::exponential, .seed = 1};
  return input;
}

Input scaled(Input input, double by) {
  input.application_s *= by;
  input.forward_s *= by;
  for (Piece& piece : input.pieces) {
    piece.compute_s *= by;
    piece.exchange_s *= by;
  }
  return input;
}

double harmonic(int n) { return n == 0 ? 0 : harmonic(n - 1) + 1.0 / n; }

} // namespace

TEST_CASE("pipeline: warm-up formulas for every W, T and K") {
  for (const std::int64_t iterations : {1, 2, 3, 7, 20}) {
    for (std::int64_t warmup = 1; warmup <= iterations; ++warmup) {
      for (const auto& [c, m] : {std::pair{100.0, 60.0}, {60.0, 100.0}, {5.0, 0.0}, {0.0, 5.0}}) {
        CAPTURE(iterations);
        CAPTURE(warmup);
        CAPTURE(c);
        const double longest = std::max(c, m);
        double skip = 0;
        for (const std::int64_t width : {2, 3, 5, 30}) {
          skip = run(warmed(c, m, width, iterations, warmup, WarmupSwitch::skip)).makespan_s;
          CHECK(skip == static_cast<double>(warmup) * (c + m) +
                            static_cast<double>(iterations - warmup) * longest);
        }
        const double block =
            run(warmed(c, m, 2, iterations, warmup, WarmupSwitch::block)).makespan_s;
        CHECK(block == (warmup <= iterations - 2
                            ? static_cast<double>(warmup + 2) * (c + m) +
                                  static_cast<double>(iterations - warmup - 2) * longest
                            : static_cast<double>(iterations) * (c + m)));
        CHECK(block >= skip);
      }
    }
  }
}

TEST_CASE("pipeline: every step applies the gradient the bookkeeping names, none twice") {
  RandomStream random({.seed = 3});
  for (int trial = 0; trial < 300; ++trial) {
    const std::int64_t iterations = random.integer(1, 60);
    const std::int64_t warmup = random.integer(0, 1) * random.integer(0, iterations);
    const bool block = random.integer(0, 1) == 1;
    const std::int64_t width = block ? 2 : random.integer(1, 12);
    CAPTURE(trial);
    CAPTURE(iterations);
    CAPTURE(warmup);
    CAPTURE(width);
    CAPTURE(block);
    Input input = warmed(random.uniform(1, 2), random.uniform(0, 2), width, iterations, warmup,
                         block ? WarmupSwitch::block : WarmupSwitch::skip);
    input.workers = 3;
    input.variability = {.compute_cv = 0.4, .exchange_cv = 0.4, .seed = 8};
    const Times times = run(input);
    std::set<std::int64_t> applied;
    for (std::int64_t t = 1; t <= iterations; ++t) {
      const std::int64_t gradient = applied_gradient(input.steps, t);
      if (gradient == 0) {
        continue;
      }
      CHECK(gradient == t - (t <= warmup || (block && t == warmup + 1 && warmup > 0) ? 1 : width));
      CHECK(applied.insert(gradient).second);
      // It has arrived before its step starts anywhere.
      CHECK(times.start_s(t - 1) >= times.end_s(gradient - 1, OperationType::exchange));
    }
    const std::int64_t pending = pending_gradients(input.steps);
    // What is applied is 1..T - pending without a gap, so a drain applies each exactly once.
    CHECK(static_cast<std::int64_t>(applied.size()) == iterations - pending);
    CHECK((applied.empty() || *applied.rbegin() == iterations - pending));
    CHECK(pending <= std::min(width, iterations));
    const StalenessCounts counts = pipeline_staleness(input.steps, false);
    CHECK(counts.count() == iterations - pending);
    CHECK(pipeline_staleness(input.steps, true).count() == iterations);
    CHECK(counts.max() <= width - 1);
    if (warmup == 0 && counts.count() > 0) {
      CHECK(counts.mean() == static_cast<double>(width - 1));
    }
  }
}

TEST_CASE("pipeline: the first K - 1 steps after a warm-up skip the optimizer") {
  // Naive: step 22 of W = 20, K = 3 would apply gradient 19 again.
  for (const std::int64_t t : {21, 22}) {
    CHECK(applied_gradient(t, 3, 20, WarmupSwitch::skip) == 0);
  }
  CHECK(applied_gradient(20, 3, 20, WarmupSwitch::skip) == 19);
  CHECK(applied_gradient(23, 3, 20, WarmupSwitch::skip) == 20);
  // Block: the step W + 2 applies nothing, and the gradient of W + 1 comes at W + 3.
  CHECK(applied_gradient(21, 2, 20, WarmupSwitch::block) == 20);
  CHECK(applied_gradient(22, 2, 20, WarmupSwitch::block) == 0);
  CHECK(applied_gradient(23, 2, 20, WarmupSwitch::block) == 21);
}

TEST_CASE("pipeline: staleness is 0 in a synchronous phase and K - 1 after it") {
  // W = 5, K = 3, T = 20: steps 2..5 apply 1..4 at 0, steps 8..20 apply 5..17 at 2.
  const StalenessCounts counts =
      pipeline_staleness(warmed(1, 1, 3, 20, 5, WarmupSwitch::skip).steps, false);
  CHECK(counts.histogram() == std::vector<std::int64_t>{4, 0, 13});
  CHECK(pipeline_staleness(fused(1, 1, 1, 10).steps, true).histogram() ==
        std::vector<std::int64_t>{10});
}

TEST_CASE("pipeline: recurrence equals the closed forms for random times, widths and lengths") {
  RandomStream random({.seed = 17});
  for (int trial = 0; trial < 500; ++trial) {
    CAPTURE(trial);
    const double c = random.integer(0, 4) == 0 ? 0 : random.uniform(0, 3);
    const double m = random.integer(0, 4) == 0 ? 0 : random.uniform(0, 3);
    const std::int64_t iterations = random.integer(1, 200);
    const std::int64_t width = random.integer(1, 300); // K > T as well
    const auto count = static_cast<double>(iterations);
    const Times times = run(fused(c, m, width, iterations));
    const double expected = width == 1 ? count * (c + m) : c + m + (count - 1) * std::max(c, m);
    CHECK(times.makespan_s == within(expected, 1e-12));
    if (iterations > 1) {
      CHECK(times.period_s == within(pipeline_period(c, m, width), 1e-11));
    }
    // Gain of pipelining is between 1 and 2.
    const double sync = run(fused(c, m, 1, iterations)).makespan_s;
    CHECK(sync >= times.makespan_s * (1 - 1e-12));
    CHECK(sync <= 2 * times.makespan_s * (1 + 1e-12));
    // All times scale together, and the makespan does not shrink with c or m.
    CHECK(run(scaled(fused(c, m, width, iterations), 8)).makespan_s == 8 * times.makespan_s);
    CHECK(run(fused(c + 0.1, m, width, iterations)).makespan_s >= times.makespan_s);
    CHECK(run(fused(c, m + 0.1, width, iterations)).makespan_s >= times.makespan_s);
  }
}

TEST_CASE("pipeline: the gain tends to 2 for c = m, and to 1 + r with a free codec of ratio r") {
  const auto ratio = [](const Input& slow, const Input& fast) {
    return run(slow).makespan_s / run(fast).makespan_s;
  };
  // 2 T c / ((T + 1) c)
  CHECK(ratio(fused(1, 1, 1, 1000), fused(1, 1, 2, 1000)) == within(2 * 1000.0 / 1001, 1e-12));
  for (const double r : {2.0, 4.0}) { // reached at m = r c
    CHECK(ratio(fused(1, r, 1, 1000), fused(1, 1, 2, 1000)) ==
          within((1 + r) * 1000 / 1001, 1e-12));
    for (const double m : {0.1, 1.0, 1.9, 2.1, 3.9, 4.1, 100.0}) {
      CHECK(ratio(fused(1, m, 1, 1000), fused(1, m / r, 2, 1000)) <= 1 + r);
    }
  }
}

TEST_CASE("pipeline: layer-wise exchange overlaps backward") {
  const std::vector<Piece> slow{{20, 30}, {20, 15}, {20, 5}};
  CHECK(run(layered(30, slow, 1)).period_s == 100);
  CHECK(run(layered(30, {{60, 50}}, 1)).period_s == 30 + 60 + 50);
  CHECK(run(layered(30, slow, 2)).makespan_s == 9010);
  CHECK(run(layered(30, slow, 2)).period_s == 90);
  const Times sync = run(layered(30, slow, 1));
  CHECK(sync.exchange_start_s(0) == 30 + 20); // of the first piece
  CHECK(sync.end_s(0, OperationType::exchange) == 30 + 20 + 30 + 15 + 5);
  CHECK(run(layered(30, {{20, 0}, {20, 5}, {20, 0}}, 1)).exchange_start_s(0) == 70);
  const std::vector<Piece> fast{{10, 30}, {10, 15}, {10, 5}};
  CHECK(run(layered(10, fast, 1)).period_s == 70);
  CHECK(run(layered(10, fast, 2)).makespan_s == 5020);
  CHECK(run(layered(10, fast, 2)).period_s == 50);
  const std::vector<Piece> large{{10, 60}, {10, 30}, {10, 10}};
  CHECK(run(layered(10, large, 1)).period_s == 120);
  CHECK(run(layered(10, large, 2)).makespan_s == 10020);
  CHECK(run(layered(10, large, 2)).period_s == 100);
}

TEST_CASE("pipeline: layer-wise D-sync is never slower than fused, nor is any piece lost") {
  RandomStream random({.seed = 29});
  for (int trial = 0; trial < 200; ++trial) {
    CAPTURE(trial);
    Input layers = layered(random.uniform(0, 1), {}, 1);
    layers.steps.iterations = 20;
    Piece all;
    for (std::int64_t j = random.integer(1, 6); j > 0; --j) {
      layers.pieces.push_back({random.uniform(0, 1), random.uniform(0, 1)});
      all.compute_s += layers.pieces.back().compute_s;
      all.exchange_s += layers.pieces.back().exchange_s;
    }
    Input one = layers;
    one.pieces = {all};
    CHECK(run(layers).makespan_s <= run(one).makespan_s * (1 + 1e-12));
    layers.steps.width = one.steps.width = 2;
    // Same volume: the steady period is max(c, sum of exchanges) either way.
    CHECK(run(layers).period_s == within(run(one).period_s, 1e-9));
  }
}

TEST_CASE("pipeline: seed 1 gives these makespans per iteration (closed two-station queue)") {
  const auto mean = [](std::int64_t width) {
    Input input = jittered(100, 100, width, 1, 20000);
    input.variability.exchange_cv = 1;
    return run(input).makespan_s / 20000;
  };
  CHECK(mean(1) == within(199.336216, 1e-6 / 199));
  CHECK(mean(2) == within(149.283720, 1e-6 / 149));
  CHECK(mean(4) == within(124.667702, 1e-6 / 124));
  for (const std::int64_t width : {1, 2, 4, 8}) { // 2 mu, then mu (K + 1) / K
    CAPTURE(width);
    const auto k = static_cast<double>(width);
    CHECK(mean(width) == within(100 * (k + 1) / k, 0.03));
  }
}

TEST_CASE("pipeline: D-sync waits for the slowest of p workers") {
  for (const int workers : {4, 8}) { // c H_p + m
    const Times times = run(jittered(100, 60, 1, static_cast<std::uint32_t>(workers), 20000));
    CHECK(times.makespan_s / 20000 == within(100 * harmonic(workers) + 60, 0.03));
  }
  Input uniform = jittered(100, 60, 1, 4, 20000);
  uniform.variability.law = JitterLaw::uniform;
  uniform.variability.compute_cv = 0.5 / std::sqrt(3.0);
  CHECK(run(uniform).makespan_s / 20000 ==
        within(100 * (1 + 0.5 * 3 / 5) + 60, 0.03)); // c (1 + h (p-1)/(p+1)) + m = 190
}

TEST_CASE("pipeline: the drawn times do not depend on the width or on other workers") {
  const Times narrow = run(jittered(100, 60, 1, 4, 200));
  const Times wide = run(jittered(100, 60, 5, 4, 200));
  const Times more = run(jittered(100, 60, 5, 6, 200));
  for (std::uint32_t w = 0; w < 4; ++w) {
    CHECK(narrow.compute_s(w) == within(wide.compute_s(w), 1e-12));
    CHECK(more.compute_s(w) == within(wide.compute_s(w), 1e-12));
  }
  // With the same draws a wider pipeline is never slower.
  double before = narrow.makespan_s;
  for (std::int64_t width = 2; width <= 8; ++width) {
    const double now = run(jittered(100, 60, width, 4, 200)).makespan_s;
    CHECK(now <= before);
    before = now;
  }
  CHECK(run(jittered(100, 60, 5, 4, 200)).makespan_s == wide.makespan_s);
}

TEST_CASE("pipeline: computing slows down while the channel is busy") {
  const auto period = [](double c, double m, double slowdown) {
    Input input = fused(c, m, 2, 100);
    input.compute_slowdown = slowdown;
    const double found = run(input).period_s;
    CHECK(found == within(pipeline_period(c, m, 2, slowdown), 1e-12));
    return found;
  };
  CHECK(period(100, 60, 1.5) == within(120, 1e-12)); // max(m, c + m (1 - 1/s))
  CHECK(period(50, 60, 1.5) == within(70, 1e-12));
  CHECK(period(30, 60, 1.5) == within(60, 1e-12));
  // D-sync with one exchange has nothing to slow down; layer-wise has.
  Input sync = fused(100, 60, 1, 10);
  sync.compute_slowdown = 3;
  CHECK(run(sync).makespan_s == 1600);
  // Backward 20, 20, 20; the first exchange runs over 50..80 and halves the rate:
  // the second piece ends at 50 + 40 = 90 after 15 of work until 80 and 5 more, so at 85.
  Input layers = layered(30, {{20, 30}, {20, 0}, {20, 0}}, 1);
  layers.steps.iterations = 1;
  layers.compute_slowdown = 2;
  CHECK(run(layers).end_s(0, OperationType::compute) == 30 + 20 + 30 + (40 - 30 / 2));
}

TEST_CASE("pipeline: slowed computing agrees with a small-step integration") {
  // Independent: the two threads of every worker advanced in steps of dt.
  RandomStream random({.seed = 31});
  for (int trial = 0; trial < 10; ++trial) {
    CAPTURE(trial);
    Input input = fused(random.uniform(1, 2), random.uniform(0.2, 2), random.integer(1, 4), 12);
    input.workers = 2;
    input.compute_slowdown = random.uniform(1, 3);
    input.variability = {.stragglers = {{1, random.uniform(0.5, 1.5)}}};
    constexpr double kStep = 1e-4;
    std::int64_t exchanged = 0;
    double left = 0, now = 0;
    bool sending = false;
    std::vector<std::int64_t> computed(2, 0);
    std::vector<double> work(2, 0);
    for (std::size_t w = 0; w < 2; ++w) {
      work[w] = input.pieces[0].compute_s *
                compute_factor(input.variability, static_cast<std::uint32_t>(w), 1);
    }
    const std::vector<double> full = work;
    while (exchanged < input.steps.iterations) {
      if (!sending && std::min(computed[0], computed[1]) > exchanged) {
        sending = true;
        left = input.pieces[0].exchange_s;
      }
      for (std::size_t w = 0; w < 2; ++w) {
        if (computed[w] < input.steps.iterations &&
            computed[w] + 1 - input.steps.width <= exchanged) {
          work[w] -= sending ? kStep / input.compute_slowdown : kStep;
          if (work[w] <= 0) {
            ++computed[w];
            work[w] += full[w];
          }
        }
      }
      if (sending) {
        left -= kStep;
        if (left <= 0) {
          sending = false;
          ++exchanged;
        }
      }
      now += kStep;
    }
    CHECK(run(input).makespan_s == within(now, 2e-3));
  }
}

TEST_CASE("pipeline: deterministic times need width 2, random ones more") {
  // A warm-up is no part of the steady period.
  const auto period = [](Input input, std::int64_t width) {
    input.steps.width = width;
    input.steps.warmup_iterations = 0;
    return run(input).period_s;
  };
  const auto best = [&](const Input& input, std::int64_t most, double tolerance) {
    return best_width(most, tolerance, [&](std::int64_t width) { return period(input, width); });
  };
  CHECK(best(fused(100, 60, 5, 100), 16, 0.01) == 2);
  CHECK(period(fused(100, 60, 5, 100), 1) == 160);
  CHECK(period(fused(100, 60, 5, 100), 16) == 100);
  CHECK(best(fused(100, 0, 2, 100), 16, 0.01) == 1);
  CHECK(best(warmed(100, 60, 2, 100, 100, WarmupSwitch::block), 4, 0.01) == 2);
  CHECK(best(fused(100, 0.5, 2, 100), 16, 0.01) == 1); // within 1 %
  // Periods that rounding tells apart are equal.
  CHECK(best_width(3, 0, [](std::int64_t width) { return width < 3 ? 1 + 1e-15 : 1.0; }) == 1);
  Input alone = fused(100, 0, 2, 100);
  alone.workers = 1;
  CHECK(best(alone, 4, 0) == 1);
  // Exponential c = m: period 100 (K + 1) / K, within 10 % of K = 16 (106.25) from K = 6 (116.67).
  Input random = jittered(100, 100, 2, 1, 20000);
  random.variability.exchange_cv = 1;
  const std::int64_t width = best(random, 16, 0.1);
  CHECK(width >= 5);
  CHECK(width <= 7);
  for (std::int64_t k = 2; k <= 16; ++k) {
    CHECK(period(random, k) <= period(random, k - 1) * 1.001);
  }
}
