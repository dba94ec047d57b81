#include "calibrate/mpi/fabric_estimate.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "base/error.hpp"
#include "scenario/files/network_files.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using namespace stepsim::calibrate::mpi;
using testing::within;

namespace {

constexpr double kBytes = 262'144;

struct Truth {
  std::vector<double> access;
  std::vector<std::uint32_t> on; // switch of each rank
  std::vector<double> uplink;    // by switch; both directions have it
};

// What a fluid network gives all messages of a shift while all are under way: every message has at
// most the rate of its two ends, and those that cross an uplink in one direction have equal shares
// of it, of which slower ones leave the rest to the others.
double fair_rate(const Truth& truth, std::uint32_t shift, std::uint32_t dst) {
  const auto ranks = static_cast<std::uint32_t>(truth.access.size());
  const auto source = [&](std::uint32_t to) { return (to + ranks - shift) % ranks; };
  const auto ends = [&](std::uint32_t to) {
    return std::min(truth.access[source(to)], truth.access[to]);
  };
  double rate = ends(dst);
  if (truth.on[source(dst)] == truth.on[dst]) {
    return rate;
  }
  for (const bool out : {true, false}) {
    const auto side = [&](std::uint32_t to) { return out ? truth.on[source(to)] : truth.on[to]; };
    std::vector<double> wants;
    for (std::uint32_t to = 0; to < ranks; ++to) {
      if (truth.on[source(to)] != truth.on[to] && side(to) == side(dst)) {
        wants.push_back(ends(to));
      }
    }
    std::ranges::sort(wants);
    double left = truth.uplink[side(dst)];
    auto sharing = static_cast<double>(wants.size());
    for (const double want : wants) {
      if (want * sharing > left) {
        break;
      }
      left -= want;
      --sharing;
    }
    rate = std::min(rate, sharing > 0 ? std::max(left / sharing, 0.0) : rate);
  }
  return rate;
}

SharedTimes measured(const Truth& truth, double noise = 0) {
  const auto ranks = static_cast<std::uint32_t>(truth.access.size());
  std::minstd_rand random(ranks); // NOLINT: the same numbers in every run
  std::uniform_real_distribution<double> off(1 - noise, 1 + noise);
  SharedTimes times{.ranks = ranks, .bytes = kBytes, .alone_s = {}, .shifted_s = {}};
  for (std::uint32_t src = 0; src < ranks; ++src) {
    for (std::uint32_t dst = 0; dst < ranks; ++dst) {
      double rate = std::min(truth.access[src], truth.access[dst]);
      if (truth.on[src] != truth.on[dst]) {
        rate = std::min({rate, truth.uplink[truth.on[src]], truth.uplink[truth.on[dst]]});
      }
      times.alone_s.push_back(src == dst ? 0 : kBytes / rate * off(random));
    }
  }
  for (std::uint32_t shift = 1; shift < ranks; ++shift) {
    for (std::uint32_t dst = 0; dst < ranks; ++dst) {
      times.shifted_s.push_back(kBytes / fair_rate(truth, shift, dst) * off(random));
    }
  }
  return times;
}

} // namespace

TEST_CASE("fabric of a job: equal ranks on one switch are a star") {
  for (const std::uint32_t ranks : {2U, 3U, 4U, 8U, 13U}) {
    const FabricEstimate fabric = estimate_fabric(
        measured({std::vector<double>(ranks, 1.25e7), std::vector<std::uint32_t>(ranks, 0), {}}));
    CHECK(fabric.switches == std::vector<std::uint32_t>(ranks, 0));
    CHECK(fabric.uplink_Bps.empty());
    CHECK(fabric.host_factor == within(1.0, 1e-12));
    for (const double rate : fabric.access_Bps) {
      CHECK(rate == within(1.25e7, 1e-12));
    }
  }
}

TEST_CASE("fabric of a job: a slow rank has a slow link and no switch of its own") {
  Truth truth{std::vector<double>(6, 1.25e7), std::vector<std::uint32_t>(6, 0), {}};
  truth.access[4] = 4e6;
  const FabricEstimate fabric = estimate_fabric(measured(truth, 0.05));
  CHECK(fabric.switches == truth.on);
  CHECK(fabric.access_Bps[4] == within(4e6, 0.06));
  CHECK(fabric.access_Bps[0] == within(1.25e7, 0.06));
}

TEST_CASE("fabric of a job: switches and their uplinks are found where messages wait for them") {
  for (const std::uint32_t each : {2U, 3U, 4U, 8U}) {
    for (const std::uint32_t switches : {2U, 3U, 4U}) {
      for (const double noise : {0.0, 0.04}) {
        CAPTURE(each);
        CAPTURE(switches);
        Truth truth;
        for (std::uint32_t which = 0; which < switches; ++which) {
          truth.access.insert(truth.access.end(), each, 1e7);
          truth.on.insert(truth.on.end(), each, which);
          truth.uplink.push_back(1e7 * each / 2);
        }
        const FabricEstimate fabric = estimate_fabric(measured(truth, noise));
        CHECK(fabric.switches == truth.on);
        REQUIRE(fabric.uplink_Bps.size() == switches);
        for (const double rate : fabric.uplink_Bps) {
          CHECK(rate == within(truth.uplink[0], noise == 0 ? 1e-12 : 0.06));
        }
        CHECK(fabric.host_factor == within(1.0, noise == 0 ? 1e-12 : 0.06));
      }
    }
  }
}

TEST_CASE("fabric of a job: ranks of two switches in turn, an uplink of its own rate each") {
  const Truth truth{std::vector<double>(8, 1e7), {0, 1, 0, 1, 0, 1, 0, 1}, {1.5e7, 2e7}};
  const FabricEstimate fabric = estimate_fabric(measured(truth));
  CHECK(fabric.switches == truth.on);
  // What one sends into the other is limited by the slower of the two.
  CHECK(fabric.uplink_Bps == std::vector<double>{1.5e7, 1.5e7});
}

TEST_CASE("fabric of a job: hosts that slow a shift down are no fabric") {
  SharedTimes times = measured({std::vector<double>(4, 1e7), std::vector<std::uint32_t>(4, 0), {}});
  for (double& seconds : times.shifted_s) {
    seconds *= 1.7;
  }
  const FabricEstimate fabric = estimate_fabric(times);
  CHECK(fabric.uplink_Bps.empty());
  CHECK(fabric.host_factor == within(1.7, 1e-12));
}

TEST_CASE("fabric of a job: a time that does not grow with size is an error") {
  SharedTimes times = measured({{1e7, 1e7}, {0, 0}, {}});
  times.alone_s[1] = 0;
  CHECK_THROWS_AS((void)estimate_fabric(times), SimulationError);
}

TEST_CASE("fabric of a job: the file is a topology whose hosts are the ranks") {
  const FabricEstimate fabric{{1e7, 2e7, 3e7}, {0, 0, 1}, {1.5e7, 2.5e7}};
  const links::Topology read = io::parse_topology(topology_tree(fabric));
  CHECK(topology_tree({{1e7, 2e7}, {0, 0}, {}}).find("switches")->as_array().size() == 1);
  CHECK(io::to_json(read).find("links")->as_array().size() == 5);
}
