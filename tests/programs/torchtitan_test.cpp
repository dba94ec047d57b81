// Llama-3.1-8B by torchtitan on 8 and 128 H100 (row W2 of TRN 11.6): tokens per second and GPU of
// pytorch/torchtitan, benchmarks/llama3_h100_202412_torchtitan.md.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <numbers>
#include <vector>

#include "base/random.hpp"
#include "programs/builders/fsdp_program.hpp"
#include "programs/recurrence.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim::programs;
using stepsim::base::RandomStream;
using stepsim::testing::plus_minus;
using stepsim::testing::within;

namespace {

// Embedding, 32 blocks, norm and output; the links are assumptions.
Program llama(double compute_s, double startup_s, double part, double rate_Bps,
              std::uint32_t communicators = 2) {
  constexpr double kBlockFlop = 503'316'480;
  constexpr double kOutputFlop = 1'050'673'152;
  constexpr double kAllFlop = 32 * kBlockFlop + kOutputFlop;
  std::vector<UnitTimes> units;
  const auto add = [&](double flop, double parameters) {
    const double seconds = compute_s * flop / kAllFlop;
    const auto exchange = [&](double bytes) {
      return ExchangeTime{{startup_s}, {parameters * bytes * part / rate_Bps}};
    };
    units.push_back({.forward = {seconds / 3},
                     .backward = {seconds * 2 / 3},
                     .gather = exchange(2),
                     .reduce = exchange(4),
                     .replicate = {}});
  };
  add(0, 525'336'576);
  for (int block = 0; block < 32; ++block) {
    add(kBlockFlop, 218'112'000);
  }
  add(kOutputFlop, 525'340'672);
  const FsdpOptions torchtitan{.keep_last = true, .communicators = communicators};
  return fsdp_program(units, torchtitan);
}

Program on_8(double compute_s) { return llama(compute_s, 3e-5, 7.0 / 8, 370e9); }
Program on_128(double compute_s) { return llama(compute_s, 1e-4, 15.0 / 16, 360e9); }
double step(const Program& program) { return recurrence(program, 1).makespan_s; }

// The mean step of ranks whose computing varies by lognormal factors of mean 1.
double varied_step(Program program, std::uint32_t ranks, double cv) {
  constexpr std::int64_t kSteps = 400;
  RandomStream random({.seed = 63});
  const double sigma = std::sqrt(std::log1p(cv * cv));
  Factors factors;
  for (std::int64_t i = 0; i < kSteps * ranks; ++i) {
    const double radius = std::sqrt(-2 * std::log(1 - random.uniform()));
    const double normal = radius * std::cos(2 * std::numbers::pi * random.uniform());
    factors.compute.push_back(std::exp(sigma * normal - sigma * sigma / 2));
  }
  program.ranks = ranks;
  return mean_period(rank_vectors(program, kSteps, factors), 1).value;
}

struct Row {
  double tokens_8, tokens_128, compute_s, step_128;
};
// BF16, with compile, with compile and float8.
constexpr std::array kRows{Row{5762, 5605, 2.832788200, 2.844804584},
                           Row{6667, 6514, 2.446808194, 2.458824578},
                           Row{8532, 8380, 1.909631114, 1.921647498}};
constexpr double kTokens = 2 * 8192; // of a step, per GPU

} // namespace

TEST_CASE("fsdp: Llama-3.1-8B, a unit per block, on four networks (TRN 6)") {
  const auto on = [](double startup_s, double rate_Bps, std::uint32_t communicators) {
    return step(llama(2.8, startup_s, 15.0 / 16, rate_Bps, communicators));
  };
  CHECK(on(1e-4, 360e9, 1) == within(2.812016384, 1e-9));
  CHECK(on(1e-4, 360e9, 2) == within(2.812016384, 1e-9));
  CHECK(on(1e-4, 25e9, 1) == within(3.025830410, 1e-9));
  CHECK(on(1e-4, 25e9, 2) == within(2.991815999, 1e-9));
  CHECK(on(1e-3, 12.5e9, 1) == within(4.978109328, 1e-9));
}

TEST_CASE("fsdp: torchtitan on 8 and 128 H100, whose traffic is hidden (W2)") {
  for (const Row& row : kRows) {
    const double measured_8 = kTokens / row.tokens_8;
    CHECK(step(on_8(row.compute_s)) == within(measured_8, 1e-6));
    CHECK(step(on_128(row.compute_s)) == within(row.step_128, 1e-9));
    // Bandwidth explains less than a tenth of a percent of what was lost.
    const double predicted = measured_8 / step(on_128(row.compute_s)) - 1;
    const double lost = row.tokens_128 / row.tokens_8 - 1;
    CHECK(predicted < 0);
    CHECK(predicted > -0.001);
    CHECK(lost < -0.017);
  }
}

// The coefficient of variation is chosen, not known: 2 % explains what was lost.
TEST_CASE("fsdp: torchtitan with computing times that vary (W2)") {
  const std::map<double, double> losses{{0.01, -0.012}, {0.015, -0.017}, {0.02, -0.023}};
  for (const auto& [cv, expected] : losses) {
    for (const Row& row : kRows) {
      CAPTURE(cv);
      const double measured_8 = kTokens / row.tokens_8;
      double compute_s = row.compute_s; // so that 8 ranks take the measured step
      for (int i = 0; i < 4; ++i) {
        compute_s *= measured_8 / varied_step(on_8(compute_s), 8, cv);
      }
      const double lost = measured_8 / varied_step(on_128(compute_s), 128, cv) - 1;
      CHECK(lost == plus_minus(expected, 0.0015));
      if (cv == 0.02) {
        CHECK(lost == plus_minus(row.tokens_128 / row.tokens_8 - 1, 0.015));
      }
    }
  }
}
