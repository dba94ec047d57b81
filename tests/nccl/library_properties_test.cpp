// Properties of the library model on random systems (CLU 14: 4, 7, 8), and its record (CLU 11).
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "base/random.hpp"
#include "nccl/calibration.hpp"
#include "nccl/library_systems.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim::nccl;
using namespace stepsim::nccl::testing;
using stepsim::base::RandomStream;
using stepsim::testing::within;

namespace {

constexpr std::uint64_t kSeed = 20261121;

NodeType random_node(RandomStream& random) {
  NodeType node = system_of(
      "random", 8, random.uniform(20, 900), static_cast<std::uint32_t>(random.integer(1, 8)),
      random.uniform(1, 100), Generation{}, Host{}, random.integer(0, 1) == 1);
  node.generation = static_cast<Generation>(random.integer(0, 3));
  node.host = static_cast<Host>(random.integer(0, 1));
  node.link = static_cast<InnerLink>(random.integer(0, 1));
  return node;
}

Multipliers random_multipliers(RandomStream& random) {
  Parameters parameters{};
  for (std::size_t i = 0; i < kParameterCount; ++i) {
    const ParameterRow& row = parameter_rows()[i];
    parameters[i] = row.prior_mean + row.prior_sd * random.uniform(-2, 2);
  }
  return multipliers_of(parameters);
}

Shape random_shape(RandomStream& random) {
  constexpr std::array<std::uint32_t, 8> kNodes{1, 1, 2, 3, 4, 10, 16, 100};
  return {kNodes[static_cast<std::size_t>(random.integer(0, 7))],
          static_cast<std::uint32_t>(random.integer(1, 8))};
}

} // namespace

TEST_CASE("library: no time lies below its bound") {
  CAPTURE(kSeed);
  RandomStream random({.seed = kSeed});
  for (int i = 0; i < 4000; ++i) {
    const Layout layout = layout_of(random_node(random), random_shape(random));
    const auto operation = static_cast<Operation>(random.integer(0, 5));
    const double bytes = std::exp2(random.uniform(0, 34));
    const Multipliers multipliers = random_multipliers(random);
    const Candidates all = candidates(layout, operation, {});
    for (const Pair& pair : all.all()) {
      const OperationTime time = operation_time(layout, operation, bytes, pair, multipliers);
      CHECK(time.seconds >= time.bound.seconds);
      CHECK(time.seconds >= 5e-6 * multipliers[Parameter::floor] * (1 - 1e-12));
      CHECK(std::isfinite(time.seconds));
    }
  }
}

TEST_CASE("library: without multipliers, cross term and launch the time is the estimate") {
  CAPTURE(kSeed);
  RandomStream random({.seed = kSeed + 1});
  const Multipliers published = published_multipliers();
  int compared = 0;
  for (int i = 0; i < 2000; ++i) {
    const Layout layout = layout_of(random_node(random), random_shape(random));
    const double bytes = std::exp2(random.uniform(0, 34));
    for (const Operation operation :
         {Operation::allreduce, Operation::allgather, Operation::reduce_scatter}) {
      const Candidates all = candidates(layout, operation, {});
      for (const Pair& pair : all.all()) {
        if (layout.ranks > 1 &&
            (pair.algorithm == Algorithm::ring || pair.algorithm == Algorithm::tree)) {
          CHECK(operation_time(layout, operation, bytes, pair, published).seconds ==
                within(published_seconds(layout, operation, bytes, pair), 1e-12));
          ++compared;
        }
      }
    }
  }
  CHECK(compared > 10'000);
}

// A step of 1e-6 octaves changes a continuous time by about as little. Exempt are powers of two for
// trees, and the size from which a ring with Simple has more latency.
TEST_CASE("library: the time of a pair is continuous in the size, and of most it never falls") {
  CAPTURE(kSeed);
  RandomStream random({.seed = kSeed + 2});
  for (int i = 0; i < 3000; ++i) {
    const Layout layout = layout_of(random_node(random), random_shape(random));
    const auto operation = static_cast<Operation>(random.integer(0, 5));
    const double power = random.uniform(0, 34);
    const Multipliers multipliers = random_multipliers(random);
    const Candidates all = candidates(layout, operation, {});
    for (const Pair& pair : all.all()) {
      const auto seconds = [&](double octaves) {
        return operation_time(layout, operation, std::exp2(octaves), pair, multipliers).seconds;
      };
      const double here = seconds(power);
      const double next = seconds(power + 1e-6);
      const double ranks = layout.ranks * channels(layout, pair, multipliers);
      const bool threshold = std::floor(std::log2(64 * ranks) - power) !=
                             std::floor(std::log2(64 * ranks) - power - 1e-6);
      const bool step = std::floor(power) != std::floor(power + 1e-6) || threshold;
      if (!step) {
        CHECK(next == within(here, 1e-5));
      }
      if (pair.algorithm != Algorithm::tree) {
        CHECK(seconds(power + 0.3) >= here);
      }
    }
  }
}

TEST_CASE("library: a record without measurements warns about small messages, and only these") {
  const NodeType h100 = system_of("dgx_h100");
  const LibraryRecord small = predicted(h100, Operation::allreduce, {10, 8}, 1 << 20);
  REQUIRE(small.warnings.size() == 1);
  CHECK(small.warnings.front().starts_with("uncalibrated_small_message: "));
  const LibraryRecord large = predicted(h100, Operation::allreduce, {10, 8}, 1 << 30);
  CHECK(large.warnings.empty());
  // Below 32 MiB the interval is a factor of two wider on each side at least.
  CHECK(std::log(small.interval.high / small.seconds) > 1.96 * std::log(2));
  CHECK(large.interval.low < large.seconds);
  const double low = large.seconds * large.seconds / large.interval.high;
  CHECK(large.interval.low == within(std::max(low, large.bound_s), 1e-12));
}

TEST_CASE("library: no end of an interval lies below the bound") {
  for (const Operation operation : {Operation::allreduce, Operation::allgather}) {
    for (const double bytes : {1e3, 1e6, 436'224'000.0}) {
      NodeType node = system_of("dgx_h100");
      node.nic_Bps = 25e9 / 8;
      const LibraryRecord record = predicted(node, operation, {8, 8}, bytes);
      CHECK(record.interval.low >= record.bound_s);
      CHECK(record.interval.low <= record.seconds);
      LibraryQuestion question{
          .operation = operation, .shape = {8, 8}, .bytes = bytes, .node = node};
      question.deviations = -kQuantile95;
      CHECK(LibraryCost(question).seconds(bytes) == record.interval.low);
    }
  }
}

TEST_CASE("library: the record of 1 GiB over 10 nodes has its parts, its rival and its bound") {
  const LibraryRecord record =
      predicted(system_of("dgx_h100"), Operation::allreduce, {10, 8}, 1 << 30);
  CHECK(record.chosen == Pair{Algorithm::nvls_tree, Protocol::simple});
  CHECK(record.channels == 16);
  CHECK(record.limited_by == Limit::nic);
  REQUIRE(record.runner_up);
  CHECK(record.runner_up->pair == Pair{Algorithm::tree, Protocol::simple});
  CHECK(record.runner_up->published_s * 1e6 == within(6444.0, 1e-4)); // CLU 11
  CHECK(record.seconds ==
        within(record.latency_part_s + record.transfer_part_s + record.cross_part_s, 1e-12));
  // In-network row of CLU 4: n over the ports of a GPU, its own and its share of the cards.
  const double switch_Bps = 370.8e9 * 0.85;
  const double nic = (1 << 30) / 384e9;
  const double gpu = (1 << 30) / (switch_Bps + 384e9 / 8);
  CHECK(record.bound_s == within(std::max(nic, gpu), 1e-12));
  CHECK(record.bound_kind == BoundKind::gpu);
  CHECK(record.gap == within(record.seconds / record.bound_s, 1e-12));
  CHECK(record.busbw_Bps == within((1 << 30) / record.seconds * 2 * 79 / 80, 1e-12));
}

TEST_CASE("library: what limits an operation is named") {
  const auto limit = [](std::string_view system, Operation operation, Shape shape, double bytes) {
    return predicted(system_of(system), operation, shape, bytes).limited_by;
  };
  using enum Operation;
  CHECK(limit("dgx_h100", allreduce, {1, 8}, 1 << 30) == Limit::nvlink);
  CHECK(limit("dgx_h100", allgather, {10, 8}, 1 << 30) == Limit::mix);
  CHECK(limit("dgx_h100", allgather, {10, 1}, 1 << 30) == Limit::nic);
  CHECK(limit("dgx_h100", allreduce, {10, 8}, 64) == Limit::latency);
  // LL128 on 4 channels of 36.7 GB/s, below 0.92 of 4 cards of 48 GB/s.
  CHECK(limit("dgx_h100", allgather, {10, 4}, 1 << 26) == Limit::protocol_cap);
  NodeType slow = system_of("dgx_h100");
  slow.link = InnerLink::pcie;
  CHECK(predicted(slow, alltoall, {1, 8}, 1 << 30).limited_by == Limit::pcie);
}
