// Published figures of training that synchronises every H steps (TRN 11.6): the bandwidths of the
// Streaming DiLoCo simulator (arXiv 2502.12996, table 5) and the utilization of INTELLECT-1.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "programs/builders/local_sgd_program.hpp"
#include "programs/builders/step_programs.hpp"
#include "programs/steady_state.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim::programs;
using stepsim::testing::plus_minus;
using stepsim::testing::within;

namespace {

constexpr std::array kUtilizations{0.5, 0.8, 0.9, 0.95, 0.99};

struct Model {
  std::uint32_t layers;
  double step_s;
  double parameters;
};

std::vector<LayerTimes> layers_of(const Model& model) {
  const double each = model.step_s / model.layers;
  return std::vector<LayerTimes>(model.layers, {{each / 3}, {each * 2 / 3}, 1});
}

// Fragments of three layers: layer l belongs to fragment l mod P.
std::vector<std::vector<std::uint32_t>> strided(std::uint32_t layers) {
  const std::uint32_t fragments = layers / 3;
  std::vector<std::vector<std::uint32_t>> result(fragments);
  for (std::uint32_t l = 0; l < layers; ++l) {
    result[l % fragments].push_back(l);
  }
  return result;
}

// A program with messages of `bits` per parameter and its steps per period, at one Gbit/s.
using Training = Program (*)(const Model&);

ExchangeTime at_one_gigabit(const Model& model, double bits) {
  return {.startup = {}, .data = {model.parameters * bits / model.layers / 1e9}};
}

Program data_parallel(const Model& model) {
  std::vector<BucketTimes> buckets;
  for (std::uint32_t l = model.layers; l-- > 0;) {
    buckets.push_back({.layers = {l}, .reduce = at_one_gigabit(model, 16), .gather = {}});
  }
  return sync_sgd_program(layers_of(model), buckets, {});
}

Program rounds(const Model& model, double bits, std::uint32_t overlap) {
  const FragmentTimes message{.exchange = at_one_gigabit(model, bits), .merge = {}};
  return layered_round_program({.layers = layers_of(model),
                                .fragments = strided(model.layers),
                                .gate = OuterGate::layer,
                                .outer = std::vector<FragmentTimes>(model.layers, message)},
                               {.local_steps = 100, .overlap_steps = overlap});
}
Program streaming(const Model& model) { return rounds(model, 16, 0); }
Program overlapped(const Model& model) { return rounds(model, 4, 1); }

// The bandwidth [Gbit/s] at which the period is that of computing alone / utilization. The period
// is convex in seconds per bit, so that Newton's steps from its far side end at the root.
double threshold(const Program& at_one, double utilization) {
  const double compute = steady_state(without_exchanges(at_one)).period.value;
  const double target = compute / utilization;
  std::vector<double> seconds; // of exchanges at 1 Gbit/s: the slopes
  for (const Operation& operation : at_one.operations) {
    seconds.push_back(operation.data.value);
  }
  double inverse = 100; // of the bandwidth
  for (int step = 0; step < 100; ++step) {
    Program program = at_one;
    for (Operation& operation : program.operations) {
      operation.data = operation.data * inverse;
    }
    const SteadyState state = steady_state(program);
    const double missing = state.period.value - target;
    if (missing <= 1e-12 * target) {
      break;
    }
    inverse -= missing / derivative(state, seconds).left;
  }
  return 1 / inverse;
}

struct Row {
  Training training;
  Model model;
  std::array<double, 5> published;
  std::array<double, 5> exact; // 0: not given
};

} // namespace

TEST_CASE("local steps: bandwidths of the Streaming DiLoCo simulator (W1)") {
  const Model small{24, 0.1, 1e9};
  const Model middle{48, 0.8, 1e10};
  const Model large{108, 4.9, 1e11};
  constexpr std::array<double, 5> kNone{};
  const std::vector<Row> rows{{data_parallel,
                               small,
                               {86.8, 152.6, 184.2, 222.3, 569.0},
                               {97.627119, 180, 213.333333, 231.374207, 660}},
                              {data_parallel,
                               middle,
                               {104.8, 222.3, 222.3, 268.3, 471.5},
                               {121.008403, 221.538462, 261.818182, 283.523316, 412.5}},
                              {data_parallel, large, {184.2, 323.8, 390.7, 390.7, 471.5}, kNone},
                              {streaming,
                               small,
                               {1.4, 5.2, 9.1, 16.0, 28.1},
                               {1.527851, 5.383178, 10.105263, 16.023426, 28.021228}},
                              {streaming, middle, {1.7, 5.2, 9.1, 13.3, 19.3}, kNone},
                              {streaming,
                               large,
                               {2.4, 6.2, 9.1, 11.0, 19.3},
                               {2.680142, 6.972184, 9.911553, 12.061226, 22.877941}},
                              {overlapped,
                               small,
                               {0.4, 0.9, 1.7, 2.0, 3.0},
                               {0.354855, 1.060383, 1.678322, 2.224029, 2.917588}},
                              {overlapped, middle, {0.4, 0.9, 1.4, 1.4, 1.7}, kNone},
                              {overlapped, large, {0.5, 0.9, 1.1, 1.1, 1.4}, kNone}};
  // Published values have one digit after the point and stand on a grid.
  const auto on_grid = [](double published) {
    const double k = std::round((std::log10(published) + 1) * 49 / 4);
    return std::pow(10, -1 + 4 * k / 49);
  };
  const double cell = std::pow(10, 4.0 / 49);
  int in_cell = 0;
  for (const Row& row : rows) {
    const Program program = row.training(row.model);
    for (std::size_t u = 0; u < kUtilizations.size(); ++u) {
      CAPTURE(row.model.layers);
      CAPTURE(kUtilizations[u]);
      const double found = threshold(program, kUtilizations[u]);
      if (row.exact[u] > 0) {
        CHECK(found == plus_minus(row.exact[u], 1e-6 * row.exact[u] + 5e-7)); // six digits given
      }
      const double ratio = found / on_grid(row.published[u]);
      CHECK(ratio > 1 / cell);
      CHECK(ratio < cell * cell);
      in_cell += ratio >= 1 && ratio < cell ? 1 : 0;
    }
  }
  CHECK(in_cell >= 36);
}

TEST_CASE("local steps: utilization of INTELLECT-1 (W3)") {
  // 100 steps in 2,280 s, then an all-reduce that nothing hides.
  const std::map<double, double> rounds{{103, 0.956777}, {382, 0.856499}, {469, 0.829392}};
  for (const auto& [exchange, utilization] : rounds) {
    const Program program = local_sgd_program({22.8}, {{.exchange = {{}, {exchange}}, .merge = {}}},
                                              {.local_steps = 100});
    CHECK(2280 / steady_state(program).period.value == within(utilization, 1e-6));
    CHECK(steady_state(program).period.value == within(2280 + exchange, 1e-12));
  }
}
