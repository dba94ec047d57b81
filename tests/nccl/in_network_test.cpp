// Reduction in switches against the values of CLU 16.4.
#include <doctest/doctest.h>

#include <algorithm>

#include "nccl/pair_parts.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim::nccl;
using stepsim::testing::within;

TEST_CASE("in-network reduction: one rate of NVLS explains nodes of 4, 8 and 72 GPUs") {
  const auto microseconds = [](double bytes, double gpus) {
    return nvls_seconds(bytes, gpus, 25e-6, 309e9) * 1e6;
  };
  CHECK(microseconds(1e6, 4) == within(29.0453074, 1e-8));
  CHECK(microseconds(1e9, 4) == within(4070.30744, 1e-8));
  CHECK(microseconds(1e6, 8) == within(28.6407767, 1e-8));
  CHECK(microseconds(1e9, 8) == within(3665.7767, 1e-8));
  CHECK(microseconds(1e6, 72) == within(28.2811938, 1e-8));
  CHECK(microseconds(1e9, 72) == within(3306.19382, 1e-8));
}

TEST_CASE("in-network reduction: nvls_tree is the lesser of the switch and half of the cards") {
  // 8 cards of 48 GB/s; the switch gives 309 / (9/8).
  CHECK(nvls_tree_Bps(2, 8, 309e9, 384e9) == within(309e9 / 1.125, 1e-12));
  CHECK(nvls_tree_Bps(4, 8, 309e9, 384e9) == within(192e9, 1e-12));
  CHECK(nvls_tree_Bps(2, 8, 309e9, 100e9) == within(100e9, 1e-12));
}

TEST_CASE("in-network reduction: collnet pays for chunks below 1 MB and gains above") {
  const CollnetLinks links{.nodes = 4,
                           .gpus = 8,
                           .nics = 8,
                           .inner_latency_s = 2e-6,
                           .inner_per_byte_s = 1 / 300e9,
                           .network_latency_s = 8e-6,
                           .network_per_byte_s = 1 / 25e9,
                           .switch_latency_s = 1e-6};
  CHECK(collnet_seconds(1e6, links, 1) * 1e6 == within(55.8333333, 1e-8));
  CHECK(collnet_seconds(1e6, links, 4) * 1e6 == within(102.458333, 1e-8));
  CHECK(collnet_seconds(1e8, links, 1) * 1e6 == within(1128.33333, 1e-8));
  CHECK(collnet_seconds(1e8, links, 4) * 1e6 == within(741.833333, 1e-8));
}

TEST_CASE("in-network reduction: NVLS takes the place of both rings of collnet") {
  const CollnetLinks links{.nodes = 4,
                           .gpus = 8,
                           .nics = 4,
                           .network_latency_s = 8e-6,
                           .network_per_byte_s = 1 / 25e9,
                           .switch_latency_s = 1e-6};
  const double bytes = 1e8;
  const double inside = nvls_seconds(bytes / 2, 8, 25e-6, 309e9);
  const double across = 2 * 8e-6 + 1e-6 + 2 * bytes / 2 / 8 / 25e9; // two GPUs per card
  CHECK(collnet_nvls_seconds(bytes, links, 2, 25e-6, 309e9) ==
        within(inside + across + std::max(inside, across), 1e-12));
}
