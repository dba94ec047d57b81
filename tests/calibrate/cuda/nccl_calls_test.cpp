// The values with which results of NCCL are verified, beside the definition of each operation on
// whole vectors and beside arithmetic in the types themselves, in any order of additions (CAL 7.2).
#include "calibrate/cuda/nccl_calls.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

using namespace stepsim::calibrate::gpu;

namespace {

using Vectors = std::vector<std::vector<float>>; // [rank]

Vectors inputs(const NcclCase& of) {
  Vectors all;
  for (std::uint32_t rank = 0; rank < of.ranks; ++rank) {
    all.push_back(nccl_input(of, rank));
  }
  return all;
}

// To nearest, ties to even, by the compiler's type or on the bits.
float in_type(const NcclType& type, float value) {
  if (type.name == "half") {
    return static_cast<float>(static_cast<_Float16>(value));
  }
  if (type.name == "bfloat16") {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return std::bit_cast<float>((bits + 0x7fffU + (bits >> 16 & 1U)) & 0xffff'0000U);
  }
  return value;
}

// x_first + x_second + .., each sum rounded to the type, as a ring or a chain adds.
std::vector<float> chain(const NcclCase& of, const Vectors& x,
                         const std::vector<std::size_t>& order) {
  std::vector<float> sum = x[order.front()];
  for (std::size_t i = 1; i < order.size(); ++i) {
    for (std::size_t k = 0; k < sum.size(); ++k) {
      sum[k] = in_type(of.type, sum[k] + x[order[i]][k]);
    }
  }
  return sum;
}

std::vector<float> part(const std::vector<float>& whole, std::size_t first, std::size_t count) {
  const auto begin = whole.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

} // namespace

TEST_CASE("nccl calls: sums are those of any order of additions in the type") {
  for (const NcclType& type : kNcclTypes) {
    for (const std::uint32_t ranks : {2, 3, 4, 8, 13, 64, 257, 300}) {
      const NcclCase of{NcclCall::allreduce, type, ranks, 40};
      const Vectors x = inputs(of);
      std::vector<std::size_t> order(ranks);
      std::iota(order.begin(), order.end(), std::size_t{0});
      const std::vector<float> forward = chain(of, x, order);
      std::ranges::reverse(order);
      std::rotate(order.begin(), order.begin() + 1, order.end());
      CHECK_MESSAGE(chain(of, x, order) == forward, of.text());
      CHECK_MESSAGE(nccl_expected(of, ranks - 1) == forward, of.text());
      for (const std::vector<float>& values : x) {
        CHECK(decoded(type, coded(type, values)) == values);
      }
    }
  }
}

TEST_CASE("nccl calls: sums of two ranks are rounded, up and down, where the type is short") {
  for (const NcclType& type : {kNcclTypes[1], kNcclTypes[2]}) {
    const NcclCase of{NcclCall::allreduce, type, 2, 17};
    const Vectors x = inputs(of);
    const std::vector<float> sums = nccl_expected(of, 0);
    int up = 0;
    int down = 0;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      up += sums[i] > x[0][i] + x[1][i] ? 1 : 0;
      down += sums[i] < x[0][i] + x[1][i] ? 1 : 0;
    }
    CHECK_MESSAGE(up > 0, of.text());
    CHECK_MESSAGE(down > 0, of.text());
  }
}

TEST_CASE("nccl calls: blocks go where the operation says") {
  constexpr std::uint32_t kRanks = 3;
  constexpr std::size_t kBlock = 5;
  for (const NcclType& type : kNcclTypes) {
    const auto of = [&](NcclCall call) { return NcclCase{call, type, kRanks, kRanks * kBlock}; };
    const Vectors gathered = inputs(of(NcclCall::allgather));
    const Vectors exchanged = inputs(of(NcclCall::alltoall));
    const Vectors shifted = inputs(of(NcclCall::sendrecv));
    CHECK(gathered[0].size() == kBlock);
    CHECK(exchanged[0] != exchanged[1]);
    CHECK(exchanged[1] != exchanged[2]);
    std::vector<float> all;
    for (const std::vector<float>& each : gathered) {
      all.insert(all.end(), each.begin(), each.end());
    }
    const std::vector<float> sums = nccl_expected(of(NcclCall::allreduce), 0);
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      CHECK(nccl_expected(of(NcclCall::allgather), rank) == all);
      CHECK(nccl_expected(of(NcclCall::reduce_scatter), rank) == part(sums, rank * kBlock, kBlock));
      CHECK(nccl_expected(of(NcclCall::broadcast), rank) == inputs(of(NcclCall::broadcast))[0]);
      CHECK(nccl_expected(of(NcclCall::sendrecv), rank) == shifted[(rank + 2) % kRanks]);
      CHECK(nccl_expected(of(NcclCall::reduce), rank) == (rank == 0 ? sums : std::vector<float>{}));
      std::vector<float> column;
      for (const std::vector<float>& from : exchanged) {
        const std::vector<float> mine = part(from, rank * kBlock, kBlock);
        column.insert(column.end(), mine.begin(), mine.end());
      }
      CHECK(nccl_expected(of(NcclCall::alltoall), rank) == column);
    }
  }
}

TEST_CASE("nccl calls: every element of a type is told apart, and normal ones have their value") {
  for (const NcclType& type : {kNcclTypes[1], kNcclTypes[2]}) {
    std::vector<std::byte> bytes;
    for (int bits = 0; bits < 1 << 16; ++bits) {
      bytes.push_back(static_cast<std::byte>(bits & 0xff));
      bytes.push_back(static_cast<std::byte>(bits >> 8));
    }
    const std::vector<float> values = decoded(type, bytes);
    CHECK(coded(type, values) == bytes);
    for (std::uint16_t bits = 0x0400; bits < 0x7c00 && type.name == "half"; ++bits) {
      CHECK(values[bits] == static_cast<float>(std::bit_cast<_Float16>(bits)));
    }
  }
}
