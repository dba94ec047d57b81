#include "calibrate/mpi/process_program.hpp"

#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <numeric>

#include "collectives/evaluate/evaluation.hpp"

using namespace stepsim;
using namespace stepsim::calibrate;
using namespace stepsim::calibrate::mpi;

namespace {

constexpr std::array<std::uint32_t, 9> kRanks{1, 2, 3, 4, 5, 7, 8, 13, 16};

std::vector<std::int64_t> sizes(std::int64_t ranks) { return {0, 1, ranks - 1, ranks, 1'000'001}; }

} // namespace

TEST_CASE("messages: every rank sends and receives what the schedule of all ranks says") {
  for (const Kind& kind : kinds()) {
    for (const std::uint32_t ranks : kRanks) {
      for (const std::int64_t elements : sizes(ranks)) {
        CAPTURE(name(kind));
        CAPTURE(ranks);
        CAPTURE(elements);
        const std::int64_t bytes = elements * (kind.sparse ? kEntry : kElement);
        std::size_t messages = 0;
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
          std::int64_t before = -1;
          for (const Step& step : program_of(kind, ranks, rank, bytes, {}).steps) {
            CHECK(step.number > before);
            before = step.number;
            messages += step.send ? 1 : 0;
            CHECK((!step.send || step.send->src == rank));
            CHECK((!step.receive || step.receive->dst == rank));
          }
        }
        CHECK(messages == messages_of(kind, ranks, bytes, {}).size());
      }
    }
  }
}

TEST_CASE("messages: bytes per rank are those of the simulator's schedule") {
  for (const Kind& kind : kinds()) {
    const bool chain =
        kind.algorithm == collectives::AlgorithmId::ring && kind.op != collectives::Op::allreduce;
    if (kind.sparse || chain) {
      continue; // the schedule of mst in another order; no such algorithm in the simulator
    }
    for (const std::uint32_t ranks : {2U, 5U, 8U}) {
      CAPTURE(name(kind));
      CAPTURE(ranks);
      const std::int64_t bytes = 100'004;
      collectives::Collective collective = collective_of(kind, ranks, bytes);
      collective.options.block = Bytes{32768};
      const auto expected = traffic_by_rank(collective);
      for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        std::int64_t sent = 0;
        for (const Step& step : program_of(kind, ranks, rank, bytes, {}).steps) {
          sent += step.send ? step.send->count * kElement : 0;
        }
        CHECK(static_cast<double>(sent) == expected[rank].bytes);
      }
    }
  }
}

TEST_CASE("messages: the chain of ring takes 2P - 2 steps of a P-th each") {
  for (const collectives::Op op : {collectives::Op::broadcast, collectives::Op::reduce}) {
    const std::uint32_t ranks = 4;
    const auto messages = messages_of({op, collectives::AlgorithmId::ring}, ranks, 400, {});
    CHECK(messages.back().step == 2 * ranks - 2 - 1);
    CHECK(messages.size() == (ranks - 1) * ranks);
    for (const Message& message : messages) {
      CHECK(message.count == 100 / ranks);
      CHECK(message.reduce == (op == collectives::Op::reduce));
    }
    CHECK((op == collectives::Op::reduce ? messages.back().dst : messages.front().src) == 0);
  }
}

TEST_CASE("messages: only trees that spread data are acknowledged, unless asked not to") {
  for (const Kind& kind : kinds()) {
    for (const std::uint32_t ranks : kRanks) {
      CAPTURE(name(kind));
      CAPTURE(ranks);
      std::size_t acknowledged = 0;
      for (const Message& message : messages_of(kind, ranks, 4096, {})) {
        acknowledged += message.acknowledged ? 1 : 0;
        CHECK_FALSE((message.acknowledged && message.reduce));
      }
      const bool spreads =
          (kind.algorithm == collectives::AlgorithmId::mst && kind.op != collectives::Op::reduce) ||
          (kind.algorithm == collectives::AlgorithmId::be && kind.op == collectives::Op::broadcast);
      CHECK(acknowledged == (spreads ? ranks - 1 : 0)); // every rank but the root gets one
      for (const Message& message :
           messages_of(kind, ranks, 4096, {.segment_bytes = 32768, .acknowledge = false})) {
        CHECK_FALSE(message.acknowledged);
      }
    }
  }
}

TEST_CASE("messages: blocks of lp are segments") {
  const auto messages = messages_of({collectives::Op::broadcast, collectives::AlgorithmId::lp}, 2,
                                    100'000, {.segment_bytes = 40'000, .acknowledge = true});
  REQUIRE(messages.size() == 3);
  CHECK(messages[0].count == 10'000);
  CHECK(messages[2].count == (100'000 - 2 * 40'000) / kElement);
}
