// The losses of a step by their equations (CON 2, 7).
#include "scenario/scenario_conditions.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>

#include "testing/tolerance.hpp"

namespace stepsim::study {
namespace {

using stepsim::testing::within;

constexpr double kExact = 1e-9;

// The factors of CON 3.
std::array<double, kFactorCount> typical() {
  return {0.36, 0.79, 0.70, 1.00, 2.25e9, 0.80e9, 0.34, 0.65, 0.84, 1.00,  0.45,  0.90,
          7e-5, 8e-4, 2e-4, 9e-4, 4e-5,   1e-5,   1.24, 1.10, 0.03, 0.012, 0.042, 0.5};
}

// The start of a ring all-reduce, in all.
double start_s(const Losses& lost, std::int64_t ranks) {
  return lost.message_s + 2 * static_cast<double>(ranks - 1) * lost.hop_s;
}

constexpr double kTcp = 0.949288;

LossQuestion asked(std::int64_t machines, std::int64_t gpus, double network_Bps, Carrier carrier,
                   double bus_Bps, Bus bus) {
  return {.machines = machines,
          .gpus = gpus,
          .ranks = machines * gpus,
          .network_Bps = network_Bps,
          .bus_Bps = bus_Bps,
          .carrier = carrier,
          .bus = bus};
}

TEST_CASE("losses: rates, starts and computing of the cases A to G (CON 7)") {
  struct Case {
    LossQuestion question;
    double ring_Bps, start, slowdown, computing;
  };
  const auto rdma = asked(4, 8, 12.5e9, Carrier::rdma, 150e9, Bus::nvlink);
  auto reduced = rdma;
  reduced.reduced_precision = true;
  auto fused = asked(4, 8, 3.125e9 * kTcp, Carrier::tcp_cloud, 150e9, Bus::nvlink);
  fused.fuses_by_time = true;
  auto batches = asked(8, 8, 200e9, Carrier::rdma, 300e9, Bus::nvlink);
  batches.reduced_precision = true;
  batches.micro_batches = 4;
  const auto tcp = asked(4, 4, 1.25e9 * kTcp, Carrier::tcp, 11.97e9, Bus::pcie);
  const std::array cases{
      Case{asked(1, 8, 0, {}, 150e9, Bus::nvlink), 1.185e11, 7e-5, 1.10, 1.068226717166},
      Case{rdma, 8.125e9, 1.3e-4, 1.24, 1.094174283705},
      Case{reduced, 8.125e9, 1.3e-4, 1.24, 1.141108319267},
      Case{tcp, 1.164710667e9, 3.1e-4, 1.24, 1.081122658670},
      Case{fused, 7.989456966e8, 1.04e-3, 1.24, 1.094174283705},
      Case{asked(1, 4, 0, {}, 11.97e9, Bus::pcie), 4.3092e9, 7e-5, 1.24, 1.055484602155},
      Case{batches, 1.68e11, 1.9e-4, 1.24, 1.074655344064}};
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

TEST_CASE("losses: rates and starts of messages to servers and by priority (CON 7)") {
  auto question = asked(8, 4, 1.25e9 * kTcp, Carrier::tcp, 11.97e9, Bus::pcie);
  question.servers = ServersOn::machines;
  const Losses tcp = losses(question, typical());
  CHECK(tcp.ring_Bps == within(1.164710667e9, kExact));
  CHECK(tcp.message_s == 2e-4);
  CHECK(tcp.hop_s == 0);
  CHECK(tcp.interference == 1);
  CHECK(tcp.computing == within(1.094174283705, kExact)); // of all GPUs

  auto fewer = typical();
  fewer[static_cast<std::size_t>(Factor::e_ps)] = 0.5;
  const double cap = 0.5 * 2.25e9; // of TCP the cap alone is multiplied
  CHECK(losses(question, fewer).ring_Bps ==
        within(std::pow(std::pow(1.25e9 * kTcp, -4) + std::pow(cap, -4), -0.25), kExact));
  question.carrier = Carrier::rdma;
  CHECK(losses(question, fewer).ring_Bps == within(0.5 * 0.34 * 1.25e9 * kTcp, kExact));

  question.by_priority = true; // over servers, too
  const Losses both = losses(question, fewer);
  CHECK(both.ring_Bps == within(0.9 * 0.5 * 0.34 * 1.25e9 * kTcp, kExact));
  CHECK(both.message_s == 9e-4);
  CHECK(both.hop_s == 0);

  question.servers = ServersOn::none;
  question.network_Bps = 12.5e9;
  const Losses ring = losses(question, typical());
  CHECK(ring.ring_Bps == within(3.825e9, kExact));
  CHECK(start_s(ring, 32) == within(1.02e-3, kExact));
  CHECK(ring.interference == 1.24);

  question = asked(1, 8, 0, {}, 11.97e9, Bus::pcie);
  question.servers = ServersOn::host;
  const Losses on_host = losses(question, fewer);
  CHECK(on_host.ring_Bps == within(0.36 * 11.97e9, kExact));
  CHECK(on_host.message_s == 2e-4);
}

TEST_CASE("losses: links of a topology keep their latencies, a library all of its model") {
  auto question = asked(4, 8, 12.5e9, Carrier::rdma, 150e9, Bus::nvlink);
  question.links = LinkModel::fabric;
  const Losses fabric = losses(question, typical());
  CHECK(fabric.network_Bps == within(0.65 * 12.5e9, kExact));
  CHECK(fabric.bus_Bps == within(0.79 * 150e9, kExact));
  CHECK(fabric.message_s == 7e-5);
  CHECK(fabric.hop_s == 0);
  question.links = LinkModel::packets;
  CHECK(losses(question, typical()).network_Bps == 12.5e9);
  question.links = LinkModel::library;
  question.bus_measured = true;
  const Losses library = losses(question, typical());
  CHECK(library.network_Bps == within(0.65 * 12.5e9, kExact));
  CHECK(library.bus_Bps == 150e9);
  CHECK(library.message_s == 0);
  CHECK(library.interference == 1.24);
}

TEST_CASE("losses: one worker loses nothing, and times of as many GPUs lose nothing more") {
  const Losses alone = losses({}, typical());
  CHECK(alone.factors.none());
  CHECK(alone.computing == 1);
  CHECK(alone.message_s == 0);
  const Losses same =
      losses({.gpus = 8, .ranks = 8, .bus_Bps = 1e11, .measured_gpus = 8}, typical());
  CHECK(same.computing == 1);
}

} // namespace
} // namespace stepsim::study
