// Plans of collectives, executed on the host in several legal orders (CAL 7.1, 7.2).
#include "calibrate/cuda/collective_plan.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "base/random.hpp"
#include "calibrate/execute/element_messages.hpp"
#include "collectives/evaluate/evaluation.hpp"

using namespace stepsim;
using namespace stepsim::calibrate;
using namespace stepsim::calibrate::gpu;

namespace {

using Vectors = std::vector<std::vector<float>>;

Vectors initial(const CollectivePlan& plan) {
  Vectors x;
  for (std::uint32_t rank = 0; rank < plan.ranks; ++rank) {
    x.push_back(initial_vector(rank, plan.elements));
  }
  return x;
}

void execute(const PlanOperation& operation, Vectors& x, Vectors& temp) {
  const auto begin = static_cast<std::size_t>(operation.offset);
  const auto end = begin + static_cast<std::size_t>(operation.count);
  if (operation.kind == PlanOperation::Kind::copy) {
    auto& to = (operation.to_temp ? temp : x)[operation.dst];
    std::copy(x[operation.src].begin() + operation.offset,
              x[operation.src].begin() + operation.offset + operation.count,
              to.begin() + operation.offset);
    return;
  }
  for (std::size_t i = begin; i < end; ++i) {
    x[operation.dst][i] += temp[operation.dst][i];
  }
}

enum class Order { first_stream, last_stream, random };

// Respects nothing but the order of each stream and the waits.
Vectors run(const CollectivePlan& plan, Order order, std::uint64_t seed) {
  Vectors x = initial(plan);
  Vectors temp(plan.ranks, std::vector<float>(static_cast<std::size_t>(plan.elements), -1e9F));
  std::vector<std::vector<std::uint32_t>> streams(std::size_t{2} * plan.ranks);
  for (std::uint32_t i = 0; i < plan.operations.size(); ++i) {
    streams[plan.operations[i].stream()].push_back(i);
  }
  std::vector<std::size_t> next(streams.size(), 0);
  std::vector<bool> done(plan.operations.size(), false);
  base::RandomStream random({.seed = seed});
  for (std::size_t left = plan.operations.size(); left > 0; --left) {
    std::vector<std::size_t> ready;
    for (std::size_t s = 0; s < streams.size(); ++s) {
      if (next[s] < streams[s].size()) {
        const auto& waits = plan.operations[streams[s][next[s]]].waits;
        if (std::ranges::all_of(waits, [&](std::uint32_t wait) { return done[wait]; })) {
          ready.push_back(s);
        }
      }
    }
    REQUIRE(!ready.empty()); // else it would hang
    std::size_t chosen = ready.front();
    if (order == Order::last_stream) {
      chosen = ready.back();
    } else if (order == Order::random) {
      chosen = ready[static_cast<std::size_t>(
          random.integer(0, static_cast<std::int64_t>(ready.size()) - 1))];
    }
    const std::uint32_t operation = streams[chosen][next[chosen]++];
    execute(plan.operations[operation], x, temp);
    done[operation] = true;
  }
  return x;
}

std::string text(const PlanRequest& request) {
  return std::string(collectives::name(request.op)) + " " +
         std::string(collectives::name(request.algorithm)) + " P=" + std::to_string(request.ranks) +
         " n=" + std::to_string(request.elements) + " b=" + std::to_string(request.block_elements);
}

// The first wrong element, with its rank; empty if all is right.
std::string first_error(const PlanRequest& request, const Vectors& x) {
  for (std::uint32_t rank = 0; rank < request.ranks; ++rank) {
    const std::string problem =
        first_difference(x[rank], expected_vector(request.op, request.ranks, request.elements));
    if (has_result(request.op, rank) && !problem.empty()) {
      return text(request) + " rank " + std::to_string(rank) + problem;
    }
  }
  return "";
}

constexpr std::uint32_t kRanks[] = {1, 2, 3, 4, 5, 7, 8, 13, 16};

} // namespace

TEST_CASE("plan: every collective gives the sums in any order that streams and waits allow") {
  for (const Kind& kind : dense_kinds()) {
    for (const std::uint32_t ranks : kRanks) {
      const std::int64_t p = ranks;
      for (const std::int64_t elements : {std::int64_t{0}, std::int64_t{1}, p - 1, p, 10 * p + 3}) {
        for (const std::int64_t block : {0, 1, 3, 1000}) {
          if (block != 0 && kind.algorithm != collectives::AlgorithmId::lp) {
            continue;
          }
          const PlanRequest request{kind.op, kind.algorithm, ranks, elements, block};
          const CollectivePlan plan = make_plan(request);
          CHECK_MESSAGE(plan.operations.empty() == (ranks == 1 || elements == 0), text(request));
          CHECK(first_error(request, run(plan, Order::first_stream, 0)) == "");
          CHECK(first_error(request, run(plan, Order::last_stream, 0)) == "");
          for (std::uint64_t seed = 1; seed <= 3; ++seed) {
            CAPTURE(seed);
            CHECK(first_error(request, run(plan, Order::random, seed)) == "");
          }
        }
      }
    }
  }
}

TEST_CASE("plan: a million elements and one, all collectives") {
  for (const Kind& kind : dense_kinds()) {
    for (const std::uint32_t ranks : {3U, 8U}) { // all ranks: on the device
      const PlanRequest request{kind.op, kind.algorithm, ranks, 1'000'001};
      CHECK(first_error(request, run(make_plan(request), Order::random, ranks)) == "");
    }
  }
}

TEST_CASE("plan: elements sent per rank are those of the schedule") {
  for (const Kind& kind : dense_kinds()) {
    if (kind.algorithm == collectives::AlgorithmId::ring && kind.op != collectives::Op::allreduce) {
      continue; // below
    }
    for (const std::uint32_t ranks : kRanks) {
      collectives::Collective collective;
      collective.op = kind.op;
      collective.algorithm = kind.algorithm;
      collective.ranks = ranks;
      collective.bytes = 4 * 1003.0;
      collective.options.element_bytes = 4;
      collective.options.block = Bytes{4 * 50};
      const auto expected = collectives::traffic_by_rank(collective);
      std::vector<double> bytes(ranks, 0.0);
      for (const PlanOperation& operation :
           make_plan({kind.op, kind.algorithm, ranks, 1003, 50}).operations) {
        if (operation.kind == PlanOperation::Kind::copy) {
          bytes[operation.src] += 4.0 * static_cast<double>(operation.count);
        }
      }
      for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        CHECK(bytes[rank] == expected[rank].bytes);
      }
    }
  }
}

TEST_CASE("plan: ring broadcast and reduce take 2 P - 2 steps of n / P") {
  constexpr std::uint32_t kP = 5;
  constexpr std::int64_t kN = 5 * 20;
  for (const collectives::Op op : {collectives::Op::broadcast, collectives::Op::reduce}) {
    const CollectivePlan plan = make_plan({op, collectives::AlgorithmId::ring, kP, kN});
    // Every copy one time unit, additions free: when does each end?
    std::vector<int> end(plan.operations.size(), 0);
    std::map<std::uint32_t, int> stream_end;
    int last = 0;
    for (std::size_t i = 0; i < plan.operations.size(); ++i) {
      const PlanOperation& operation = plan.operations[i];
      int start = stream_end[operation.stream()];
      for (const std::uint32_t wait : operation.waits) {
        start = std::max(start, end[wait]);
      }
      const bool copy = operation.kind == PlanOperation::Kind::copy;
      CHECK(operation.count == kN / kP);
      end[i] = start + (copy ? 1 : 0);
      stream_end[operation.stream()] = end[i];
      last = std::max(last, end[i]);
    }
    CHECK(last == 2 * static_cast<int>(kP) - 2); // m + P - 2 with m = P
  }
}

TEST_CASE("plan: waits are earlier operations of other streams, one per stream, and are awaited") {
  for (const Kind& kind : dense_kinds()) {
    const CollectivePlan plan = make_plan({kind.op, kind.algorithm, 7, 100, 9});
    for (std::size_t i = 0; i < plan.operations.size(); ++i) {
      std::vector<std::uint32_t> streams{plan.operations[i].stream()};
      for (const std::uint32_t wait : plan.operations[i].waits) {
        REQUIRE(wait < i);
        CHECK(plan.operations[wait].awaited);
        streams.push_back(plan.operations[wait].stream());
      }
      std::ranges::sort(streams);
      CHECK(std::ranges::adjacent_find(streams) == streams.end());
    }
  }
}

TEST_CASE("plan: block sizes are whole elements, and give no more blocks than can be planned") {
  CHECK(is_block(4));
  CHECK(is_block(1e9));
  CHECK(!is_block(0));
  CHECK(!is_block(6));
  CHECK(!is_block(4.5));
  CHECK(!is_block(2e9));
  CHECK(has_few_blocks(0, 1));
  CHECK(has_few_blocks(4096, 1));
  CHECK(!has_few_blocks(4097, 1));
  CHECK(has_few_blocks(4096 * 7, 7));
  CHECK(!has_few_blocks(4096 * 7 + 1, 7));
  CHECK(!has_few_blocks(1, 0)); // none given
}
