// Ring all-reduce by both evaluators of schedules. Counters: messages per CPU second, simulated s
// of the collective, peak memory of the process so far (MB). `jitter`: random entry times;
// `skewed`: also link rates within 10 %; `adding`: also a reduction rate per rank.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include "base/random.hpp"
#include "collectives/evaluate/evaluation.hpp"

namespace {

using namespace stepsim;

enum class Variety { equal, jitter, skewed, adding };

collectives::Collective ring(std::uint32_t ranks, Variety variety) {
  collectives::Collective collective;
  collective.ranks = ranks;
  collective.bytes = 1e8;
  const collectives::LinkCost link{5e-6, 5e-6, 8e-10};
  collective.links.all = link;
  base::RandomStream random({.seed = 3});
  if (variety != Variety::equal) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      collective.enter_s.push_back(random.uniform(0, 1e-3));
    }
  }
  if (variety == Variety::skewed || variety == Variety::adding) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      collectives::LinkCost own = link;
      own.per_byte_s *= random.uniform(0.9, 1.1);
      collective.links.pairs.push_back({rank, (rank + 1) % ranks, own});
    }
  }
  if (variety == Variety::adding) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      collective.reduction_s_per_byte_rank.push_back(random.uniform(0, 2e-10));
    }
  }
  return collective;
}

template <class Evaluator>
void run(benchmark::State& state, const collectives::Collective& collective, Evaluator evaluator) {
  std::uint64_t messages = 0;
  double seconds = 0;
  for (auto _ : state) {
    const collectives::Evaluation result = evaluator(collective);
    messages += result.messages;
    seconds = result.seconds;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  state.counters["messages/s"] =
      benchmark::Counter(static_cast<double>(messages), benchmark::Counter::kIsRate);
  state.counters["simulated_s"] = seconds;
  state.counters["peak_MB"] = static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
}

// Every transfer of every rank, without the shortcut for equal ones.
collectives::Evaluation each_event(const collectives::Collective& collective) {
  return collectives::events(collective, false, false);
}

void events_ring(benchmark::State& state, Variety variety) {
  run(state, ring(static_cast<std::uint32_t>(state.range(0)), variety), each_event);
}
void max_plus_ring(benchmark::State& state, Variety variety) {
  run(state, ring(static_cast<std::uint32_t>(state.range(0)), variety),
      [](const collectives::Collective& collective) { return collectives::max_plus(collective); });
}

void events_two_levels(benchmark::State& state) {
  collectives::Collective collective =
      ring(static_cast<std::uint32_t>(state.range(0)), Variety::equal);
  collective.algorithm = collectives::AlgorithmId::hierarchical;
  collective.links.two_level = collectives::TwoLevel{8, 1, {1e-6, 1e-6, 1e-11}};
  run(state, collective, each_event);
}

BENCHMARK_CAPTURE(events_ring, equal, Variety::equal)->Arg(256)->Arg(1024);
BENCHMARK_CAPTURE(events_ring, skewed, Variety::skewed)->Arg(256)->Arg(1024);
BENCHMARK_CAPTURE(events_ring, adding, Variety::adding)->Arg(1024);
BENCHMARK_CAPTURE(max_plus_ring, equal, Variety::equal)->Arg(256)->Arg(1024);
BENCHMARK_CAPTURE(max_plus_ring, jitter, Variety::jitter)->Arg(1024);
BENCHMARK_CAPTURE(max_plus_ring, skewed, Variety::skewed)->Arg(256)->Arg(1024);
BENCHMARK_CAPTURE(max_plus_ring, adding, Variety::adding)->Arg(1024);
BENCHMARK(events_two_levels)->Arg(64)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(events_ring, many_ranks, Variety::equal)
    ->Arg(8192)
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

} // namespace
