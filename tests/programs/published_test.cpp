// Programs of published trainings (TRN 6 and 11.6): Llama-3.1-8B under FSDP, and rounds of DiLoCo.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "programs/builders/fsdp_program.hpp"
#include "programs/builders/local_sgd_program.hpp"
#include "programs/builders/step_programs.hpp"
#include "programs/layers_g3.hpp"
#include "programs/steady_state.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim::programs;
using stepsim::Seconds;
using stepsim::testing::plus_minus;
using stepsim::testing::within;

namespace {

// Embedding, 32 blocks, norm and output; gathers of 2, reduce-scatters of 4 bytes per parameter.
// A third of the step is forward; layers share it by their floating-point operations per token.
double llama_period(double compute_s, std::uint32_t communicators, double startup_s,
                    double seconds_per_byte) {
  const double block_flop = 2 * 218'103'808.0 + 2 * 8192.0 * 4096;
  const double output_flop = 2 * 525'336'576.0;
  const double all = 32 * block_flop + output_flop;
  std::vector<UnitTimes> units;
  for (int u = 0; u < 34; ++u) {
    const double parameters = u == 0 ? 525'336'576 : u == 33 ? 525'340'672 : 218'112'000;
    const double flop = u == 0 ? 0 : u == 33 ? output_flop : block_flop;
    const double forward = compute_s / 3 * flop / all;
    units.push_back({.forward = {forward},
                     .backward = {2 * forward},
                     .gather = {{startup_s}, {2 * parameters * seconds_per_byte}},
                     .reduce = {{startup_s}, {4 * parameters * seconds_per_byte}},
                     .replicate = {}});
  }
  FsdpOptions options;
  options.keep_last = true;
  options.communicators = communicators;
  return figures(fsdp_program(units, options)).period;
}

// Bandwidth in Gbit/s at which `utilization` of a period is compute.
template <class PeriodAt> double bandwidth_for(double compute_s, double utilization, PeriodAt at) {
  double low = -3; // decimal logarithms
  double high = 4;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (compute_s / at(std::pow(10, middle)) < utilization ? low : high) = middle;
  }
  return std::pow(10, high);
}

std::vector<LayerTimes> equal_layers(std::uint32_t layers, double step_s) {
  const double forward = step_s / 3 / layers;
  return std::vector<LayerTimes>(layers, {{forward}, {2 * forward}, 1});
}

// Equal layers, one message of the layer's volume per layer.
double data_parallel_bandwidth(double parameters, std::uint32_t layers, double step_s,
                               double utilization) {
  return bandwidth_for(step_s, utilization, [&](double gbit) {
    const double message = parameters * 16 / layers / (gbit * 1e9);
    std::vector<BucketTimes> buckets;
    for (std::uint32_t l = layers; l-- > 0;) {
      buckets.push_back({.layers = {l}, .reduce = {{}, {message}}, .gather = {}});
    }
    return steady_state(sync_sgd_program(equal_layers(layers, step_s), buckets)).period.value;
  });
}

// Rounds of 100 steps, fragments of three layers, strided.
double streaming_bandwidth(double parameters, std::uint32_t layers, double step_s, double bits,
                           std::uint32_t overlap, double utilization) {
  std::vector<std::vector<std::uint32_t>> fragments(layers / 3);
  for (std::uint32_t l = 0; l < layers; ++l) {
    fragments[l % fragments.size()].push_back(l);
  }
  return bandwidth_for(100 * step_s, utilization, [&](double gbit) {
    const ExchangeTime message{.startup = {}, .data = {parameters * bits / layers / (gbit * 1e9)}};
    const LayeredRound round{.layers = equal_layers(layers, step_s),
                             .fragments = fragments,
                             .gate = OuterGate::layer,
                             .outer = std::vector<FragmentTimes>(layers, {message, {}})};
    return steady_state(
               layered_round_program(round, {.local_steps = 100, .overlap_steps = overlap}))
        .period.value;
  });
}

} // namespace

TEST_CASE("published: Llama-3.1-8B, a unit per block, on four networks") {
  const double share = 15.0 / 16;
  CHECK(llama_period(2.8, 1, 1e-4, share / 360e9) == within(2.812016384, 1e-6));
  CHECK(llama_period(2.8, 2, 1e-4, share / 360e9) == within(2.812016384, 1e-6));
  CHECK(llama_period(2.8, 1, 1e-4, share / 25e9) == within(3.025830410, 1e-6));
  CHECK(llama_period(2.8, 2, 1e-4, share / 25e9) == within(2.991815999, 1e-6));
  CHECK(llama_period(2.8, 1, 1e-3, share / 12.5e9) == within(4.978109328, 1e-6));
}

TEST_CASE("published: torchtitan's step grows by little from 8 to 128 GPUs (row W2)") {
  const std::vector<double> compute{2.832788200, 2.446808194, 1.909631114};
  const std::vector<double> eight{2.843457, 2.457477, 1.920300};
  const std::vector<double> many{2.844804584, 2.458824578, 1.921647498};
  for (std::size_t i = 0; i < compute.size(); ++i) {
    CHECK(llama_period(compute[i], 2, 3e-5, 7.0 / 8 / 370e9) == within(eight[i], 1e-6));
    CHECK(llama_period(compute[i], 2, 1e-4, 15.0 / 16 / 360e9) == within(many[i], 1e-6));
  }
}

TEST_CASE("published: bandwidths for which DiLoCo computes most of the time (row W1)") {
  const std::vector<double> utilization{0.5, 0.8, 0.9, 0.95, 0.99};
  const std::vector<double> one_billion{97.627119, 180, 213.333333, 231.374207, 660};
  const std::vector<double> ten_billion{121.008403, 221.538462, 261.818182, 283.523316, 412.5};
  for (std::size_t i = 0; i < utilization.size(); ++i) {
    CAPTURE(utilization[i]);
    CHECK(data_parallel_bandwidth(1e9, 24, 0.1, utilization[i]) == within(one_billion[i], 1e-6));
    CHECK(data_parallel_bandwidth(1e10, 48, 0.8, utilization[i]) == within(ten_billion[i], 1e-6));
  }
  const std::vector<double> streaming{1.527851, 5.383178, 10.105263, 16.023426, 28.021228};
  const std::vector<double> overlapped{0.354855, 1.060383, 1.678322, 2.224029, 2.917588};
  for (std::size_t i = 0; i < utilization.size(); ++i) {
    CAPTURE(utilization[i]);
    CHECK(streaming_bandwidth(1e9, 24, 0.1, 16, 0, utilization[i]) == within(streaming[i], 1e-6));
    CHECK(streaming_bandwidth(1e9, 24, 0.1, 4, 1, utilization[i]) ==
          plus_minus(overlapped[i], 1e-6));
  }
}

TEST_CASE("published: rounds of INTELLECT-1 (row W3)") {
  const auto utilization = [](double exchange_s) {
    const Program program =
        local_sgd_program(Seconds{22.8}, {{.exchange = {{}, Seconds{exchange_s}}, .merge = {}}},
                          {.local_steps = 100});
    return 2280 / steady_state(program).period.value;
  };
  CHECK(utilization(103) == within(0.956777, 1e-6));
  CHECK(utilization(382) == within(0.856499, 1e-6));
  CHECK(utilization(469) == within(0.829392, 1e-6));
}
