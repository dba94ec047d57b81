// What real runs lose (CON): the losses of a step by their equations, and the keys of scenarios.
#include "scenario/conditions.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <string>

#include "scenario/conditions_file.hpp"
#include "scenario/scenario_conditions.hpp"
#include "testing/tolerance.hpp"

namespace stepsim::study {
namespace {

using stepsim::testing::within;

constexpr double kExact = 1e-9;

// The factors of CON 3.
std::array<double, kFactorCount> typical() {
  return {0.36, 0.79, 0.70, 1.00, 2.25e9, 0.80e9, 0.34, 0.65,  0.84,  0.45,
          7e-5, 8e-4, 4e-5, 1e-5, 1.24,   1.10,   0.03, 0.012, 0.042, 0.5};
}

// The start of a ring all-reduce, in all.
double start_s(const Losses& lost, std::int64_t ranks) {
  return lost.message_s + 2 * static_cast<double>(ranks - 1) * lost.hop_s;
}

TEST_CASE("conditions: rates, starts and computing of the cases A to G (CON 7)") {
  constexpr double kTcp = 0.949288;
  struct Case {
    LossQuestion question;
    double ring_Bps, start, slowdown, computing;
  };
  const std::array cases{Case{{.gpus = 8, .ranks = 8, .bus_Bps = 150e9, .bus = Bus::nvlink},
                              1.185e11,
                              7e-5,
                              1.10,
                              1.068226717166},
                         Case{{.machines = 4,
                               .gpus = 8,
                               .ranks = 32,
                               .network_Bps = 12.5e9,
                               .bus_Bps = 150e9,
                               .carrier = Carrier::rdma,
                               .bus = Bus::nvlink},
                              8.125e9,
                              1.3e-4,
                              1.24,
                              1.094174283705},
                         Case{{.machines = 4,
                               .gpus = 8,
                               .ranks = 32,
                               .network_Bps = 12.5e9,
                               .bus_Bps = 150e9,
                               .carrier = Carrier::rdma,
                               .bus = Bus::nvlink,
                               .reduced_precision = true},
                              8.125e9,
                              1.3e-4,
                              1.24,
                              1.141108319267},
                         Case{{.machines = 4,
                               .gpus = 4,
                               .ranks = 16,
                               .network_Bps = 1.25e9 * kTcp,
                               .bus_Bps = 11.97e9,
                               .carrier = Carrier::tcp,
                               .bus = Bus::pcie},
                              1.164710667e9,
                              3.1e-4,
                              1.24,
                              1.081122658670},
                         Case{{.machines = 4,
                               .gpus = 8,
                               .ranks = 32,
                               .network_Bps = 3.125e9 * kTcp,
                               .bus_Bps = 150e9,
                               .carrier = Carrier::tcp_cloud,
                               .bus = Bus::nvlink,
                               .fuses_by_time = true},
                              7.989456966e8,
                              1.04e-3,
                              1.24,
                              1.094174283705},
                         Case{{.gpus = 4, .ranks = 4, .bus_Bps = 11.97e9, .bus = Bus::pcie},
                              4.3092e9,
                              7e-5,
                              1.24,
                              1.055484602155},
                         Case{{.machines = 8,
                               .gpus = 8,
                               .ranks = 64,
                               .network_Bps = 200e9,
                               .bus_Bps = 300e9,
                               .carrier = Carrier::rdma,
                               .bus = Bus::nvlink,
                               .reduced_precision = true,
                               .micro_batches = 4},
                              1.68e11,
                              1.9e-4,
                              1.24,
                              1.074655344064}};
  for (const Case& each : cases) {
    CAPTURE(each.question.machines);
    CAPTURE(each.ring_Bps);
    const Losses lost = losses(each.question, typical());
    CHECK(lost.ring_Bps == within(each.ring_Bps, kExact));
    CHECK(start_s(lost, each.question.ranks) == within(each.start, kExact));
    CHECK(lost.interference == each.slowdown);
    CHECK(lost.computing == within(each.computing, kExact));
  }
}

TEST_CASE("conditions: one worker loses nothing, and times of as many GPUs lose nothing more") {
  const Losses alone = losses({}, typical());
  CHECK(alone.factors.empty());
  CHECK(alone.computing == 1);
  CHECK(alone.message_s == 0);
  const Losses same =
      losses({.gpus = 8, .ranks = 8, .bus_Bps = 1e11, .measured_gpus = 8}, typical());
  CHECK(same.computing == 1);
}

TEST_CASE("conditions: a factor that is moved stays where it has a meaning") {
  CHECK(moved(Factor::e_pcie, {0.36, 0.25}, 1) == within(0.36 * std::exp(0.25), 1e-15));
  CHECK(moved(Factor::l_0, {0.03, 0.025}, -2) == 0);
  CHECK(moved(Factor::s_bus, {1.05, 0.12}, -1) == 1);
  CHECK(moved(Factor::q, {0.5, 0.2}, 1) == within(0.7, 1e-15));
  CHECK(tau_of_range(Factor::c_cloud, 0.8e9 * std::exp(-1.2815515655446004 * 0.5),
                     0.8e9 * std::exp(1.2815515655446004 * 0.5)) == within(0.5, 1e-12));
}

} // namespace
} // namespace stepsim::study
