#pragma once
// Four layers that many expected values are about (MER 14, G3): forward 1, 2, 1, 1, backward 2
// each, 4, 8, 12 and 16 bytes, messages of 0.5 + 0.25 m seconds. In halves, T / 2 each.
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "programs/builders/step_parts.hpp"
#include "programs/builders/step_programs.hpp"
#include "programs/event_pass.hpp"
#include "programs/exposed.hpp"
#include "programs/operation_times.hpp"
#include "programs/program_draft.hpp"
#include "programs/recurrence.hpp"
#include "programs/steady_state.hpp"
#include "programs/training_program.hpp"

namespace stepsim::programs {

inline std::vector<LayerTimes> g3_layers() {
  return {{{1}, {2}, 4}, {{2}, {2}, 8}, {{1}, {2}, 12}, {{1}, {2}, 16}};
}

// Buckets of T(m) x factor for each set of layers, in launch order.
inline std::vector<BucketTimes> g3_buckets(const std::vector<std::vector<std::uint32_t>>& sets,
                                           double factor = 1) {
  std::vector<BucketTimes> buckets;
  for (const std::vector<std::uint32_t>& set : sets) {
    double bytes = 0;
    for (const std::uint32_t layer : set) {
      bytes += g3_layers()[layer].bytes;
    }
    const ExchangeTime time{.startup = {factor * 0.5}, .data = {factor * 0.25 * bytes}};
    buckets.push_back({.layers = set, .reduce = time, .gather = time});
  }
  return buckets;
}
inline std::vector<BucketTimes> g3_per_layer(double factor = 1) {
  return g3_buckets({{3}, {2}, {1}, {0}}, factor);
}
inline std::vector<BucketTimes> g3_single(double factor = 1) {
  return g3_buckets({{3, 2, 1, 0}}, factor);
}

// Pipe-SGD whose backward is cut into pieces of (compute, exchange) seconds, after an update of
// `before` seconds.
inline Program pipeline(double before, const std::vector<std::pair<double, double>>& pieces,
                        std::int32_t width) {
  std::vector<LayerTimes> layers(pieces.size());
  std::vector<BucketTimes> buckets;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::size_t layer = pieces.size() - 1 - i;
    layers[layer].backward = {pieces[i].first};
    buckets.push_back({.layers = {static_cast<std::uint32_t>(layer)},
                       .reduce = {.startup = {}, .data = {pieces[i].second}},
                       .gather = {}});
  }
  return pipe_sgd_program(layers, buckets, {.update = Seconds{before}, .width = width});
}

struct PeriodAndExposed {
  double period;
  double exposed;
  bool operator==(const PeriodAndExposed&) const = default;
};

// Of a valid program; all three evaluators agree on its first iterations.
inline PeriodAndExposed figures(const Program& program) {
  check(program, "built");
  const OperationTimes times = recurrence(program, 4, Record::all);
  const OperationTimes vectors = rank_vectors(program, 4, {}, {}, Record::all);
  const OperationTimes events = event_pass(program, 4, {}, Record::all);
  if (times.end != vectors.end || times.end != events.end ||
      times.makespan_s != events.makespan_s || times.makespan_s != vectors.makespan_s) {
    return {-1, -1};
  }
  return {steady_state(program).period.value, exposed_communication(program).value};
}

// By events, once all times repeat; -1 if they do not.
inline double simulated_period(const Program& program) {
  check(program, "built");
  const EventPeriod found = event_period(program);
  return found.cyclicity > 0 ? found.period.value : -1;
}

inline Program with_interference(Program program, double compute, double exchange) {
  program.interference.compute.fill(compute);
  program.interference.exchange = exchange;
  return program;
}

// Seconds of the critical cycle by kind, per iteration.
inline double share(const Program& program, const SteadyState& state, Kind kind) {
  double sum = 0;
  for (const std::uint32_t o : state.cycle) {
    sum += program.operations[o].kind == kind ? program.operations[o].duration_s() : 0;
  }
  return sum / static_cast<double>(state.cycle_iterations);
}

// One second more on every operation of a kind.
inline Derivative per_second_on(const Program& program, const SteadyState& state, Kind kind) {
  std::vector<double> slopes;
  for (std::uint32_t o = 0; o < program.iteration_size(); ++o) {
    slopes.push_back(program.operations[o].kind == kind ? 1 : 0);
  }
  return derivative(state, slopes);
}

} // namespace stepsim::programs
