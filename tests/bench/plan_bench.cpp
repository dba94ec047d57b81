// The best merge of one list of 160 gradients for many linear costs: the recurrence alone, and
// whole plans beside it. Rates are points (costs) per second on one core.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "base/random.hpp"
#include "buckets/optimal.hpp"
#include "buckets/planners.hpp"

namespace {

using namespace stepsim::buckets;
using stepsim::Bytes;
using stepsim::Seconds;

constexpr std::size_t kLayers = 160;
constexpr std::size_t kPoints = 100'000;

struct Sweep {
  Problem problem;
  std::vector<double> startup_s;
  std::vector<double> per_byte_s;
};

// 0.1 to 0.4 ms and 10 kB to 4 MB per layer; rings of 2 to 3,998 ranks at 1 to 100 GB/s.
Sweep make_sweep() {
  Sweep sweep;
  stepsim::base::RandomStream random({.seed = 7});
  double ready = 0;
  for (std::size_t layer = 0; layer < kLayers; ++layer) {
    ready += 1e-4 + 3e-4 * random.uniform();
    Item item;
    item.ready = Seconds{ready};
    item.bytes = Bytes{static_cast<std::int64_t>(1e4 * std::exp(6 * random.uniform()))};
    sweep.problem.items.push_back(item);
  }
  for (std::size_t point = 0; point < kPoints; ++point) {
    const double ranks = 2 + 4 * static_cast<double>(point % 1000);
    const std::size_t gigabytes_per_s = 1 + point / 1000;
    const double bandwidth = 1e9 * static_cast<double>(gigabytes_per_s);
    sweep.startup_s.push_back(2 * (ranks - 1) * 5e-6);
    sweep.per_byte_s.push_back(2 * (ranks - 1) / ranks / bandwidth);
  }
  return sweep;
}

void count_points(benchmark::State& state) {
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kPoints));
}

void best_prefixes_each(benchmark::State& state) {
  const Sweep sweep = make_sweep();
  for (auto _ : state) {
    for (std::size_t point = 0; point < kPoints; ++point) {
      benchmark::DoNotOptimize(
          best_prefixes(sweep.problem, {sweep.startup_s[point], sweep.per_byte_s[point]}));
    }
  }
  count_points(state);
}
BENCHMARK(best_prefixes_each);

// The general path, one point: groups, all times.
void make_plan_one(benchmark::State& state) {
  Sweep sweep = make_sweep();
  const auto schedule = static_cast<Schedule>(state.range(0));
  std::size_t point = 0;
  for (auto _ : state) {
    sweep.problem.cost = {.base = LinearCost{sweep.startup_s[point], sweep.per_byte_s[point]}};
    benchmark::DoNotOptimize(make_plan(sweep.problem, schedule));
    point = (point + 1) % kPoints;
  }
  state.SetLabel(std::string(planner(schedule).name));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(make_plan_one)
    ->Arg(static_cast<int>(Schedule::wfbp))
    ->Arg(static_cast<int>(Schedule::mg_wfbp))
    ->Arg(static_cast<int>(Schedule::optimal));

} // namespace
