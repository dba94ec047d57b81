// A sweep from end to end: 160 layers, no merging (wfbp), closed form, records written to a file.
// Work: 100,000 points a round; items_per_second is points/s, with one thread and with two.
//   sweep_bench [--benchmark_enable_random_interleaving=true --benchmark_repetitions=5]
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <cstdio>
#include <initializer_list>
#include <random>
#include <string>
#include <utility>

#include "study/sweep/sweep.hpp"

using namespace stepsim;

namespace {

// What the points of a sweep have in common.
struct Common {
  std::string schedule;
  std::string collective = "ring";
  double compute_cv = 0; // of jitter; without it messages are timed by closed forms
};

io::Json scenario(const Common& common) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> seconds(2e-5, 2e-4);
  std::uniform_int_distribution<std::int64_t> elements(64, 600'000);
  io::Array layers;
  for (int l = 0; l < 160; ++l) {
    layers.push_back(io::Object{{"name", "layer " + std::to_string(l)},
                                {"forward_s", seconds(random)},
                                {"backward_s", 2 * seconds(random)},
                                {"gradient_bytes", 4 * elements(random)}});
  }
  io::Json tree = io::Object{
      {"workload", io::Object{{"layers", std::move(layers)}}},
      {"cluster", io::Object{{"nodes", 8},
                             {"network", io::Object{{"latency_s", 5e-5}, {"bandwidth_Bps", 1e9}}}}},
      {"communication",
       io::Object{{"schedule", common.schedule}, {"collective", common.collective}}},
      {"variability", io::Object{{"compute_cv", common.compute_cv}}}};
  if (common.compute_cv == 0) {
    tree.set("method", "closed_form");
  }
  return tree;
}

study::Sweep sweep_of(const Common& common, int nodes, int bandwidths) {
  std::vector<study::Axis> axes{{"/cluster/nodes", {}}, {"/cluster/network/bandwidth_Bps", {}}};
  for (int i = 0; i < nodes; ++i) {
    axes[0].values.emplace_back(i + 2);
  }
  for (int i = 0; i < bandwidths; ++i) {
    axes[1].values.emplace_back(1e8 + 1e7 * i);
  }
  return study::sweep_over(scenario(common), std::move(axes));
}

double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1e3;
}

void end_to_end(benchmark::State& state, const Common& common, int nodes, int bandwidths = 500) {
  const study::Sweep sweep = sweep_of(common, nodes, bandwidths);
  study::Files files(".");
  study::SweepOptions options;
  options.output = "sweep_bench.jsonl";
  options.if_exists = study::IfExists::overwrite;
  options.jobs = static_cast<int>(state.range(0));
  options.tool = "sweep_bench";
  for (auto _ : state) {
    const study::SweepReport report = study::run_sweep(sweep, files, options);
    if (report.failed > 0) {
      state.SkipWithError("points failed");
    }
  }
  state.SetItemsProcessed(state.iterations() * sweep.grid.points());
  state.counters["peak_MB"] = peak_megabytes();
  std::remove(options.output.c_str());
}

void wfbp(benchmark::State& state) { end_to_end(state, {"wfbp"}, 200); }
void mg_wfbp(benchmark::State& state) { end_to_end(state, {"mg_wfbp"}, 200); }
void optimal(benchmark::State& state) { end_to_end(state, {"optimal"}, 200); }

// One run per point, with a workload that is read once. Rates stand beside that of wfbp above.
void shared(benchmark::State& state, const Common& common) { end_to_end(state, common, 8, 125); }

} // namespace

BENCHMARK(wfbp)->ArgName("jobs")->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(mg_wfbp)->ArgName("jobs")->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(optimal)->ArgName("jobs")->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);
// Names come before the benchmarks run.
const bool kRegistered = [] {
  for (const auto& [name, common] : std::initializer_list<std::pair<const char*, Common>>{
           {"shared/horovod", {.schedule = "horovod"}},
           {"shared/eager", {.schedule = "eager"}},
           {"shared/dear", {.schedule = "dear"}},
           {"shared/asc_wfbp", {.schedule = "asc_wfbp"}},
           {"shared/priority", {.schedule = "priority"}},
           {"shared/double_binary_tree", {"wfbp", "double_binary_tree"}},
           {"shared/lp", {"wfbp", "lp"}},
           {"shared/auto", {"wfbp", "auto"}},
           {"shared/jitter", {.schedule = "wfbp", .compute_cv = 0.1}}}) {
    benchmark::RegisterBenchmark(name, shared, common)
        ->ArgName("jobs")
        ->Arg(1)
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
  }
  return true;
}();
