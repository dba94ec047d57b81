// Values repeat after kPeriod elements, and so do their sums.
#include "calibrate/cuda/nccl_calls.hpp"

#include <bit>
#include <cmath>
#include <cstring>

namespace stepsim::calibrate::gpu {

namespace {

constexpr std::int64_t kPeriod = 17;
constexpr std::uint32_t kHalfBias = (127U - 15U) << 10; // of exponents, in the place of a half

bool adds(NcclCall call) {
  return call == NcclCall::allreduce || call == NcclCall::reduce ||
         call == NcclCall::reduce_scatter;
}

// Whole numbers up to 2^digits are exact. Ranks beyond that many add nothing.
float value_of(const NcclCase& of, std::uint32_t rank, std::int64_t i) {
  const std::int64_t exact = std::int64_t{1} << of.type.digits;
  const bool rounds = !adds(of.call) || of.ranks == 2;
  const std::int64_t most = rounds ? exact : std::max<std::int64_t>(1, exact / of.ranks);
  return adds(of.call) && rank >= exact
             ? 0.0F
             : static_cast<float>(997 * (i % kPeriod + 1) * (std::int64_t{rank} + 1) % most + 1);
}

double rounded(double value, int digits) {
  int exponent = 0;
  (void)std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(value, digits - exponent)), exponent - digits);
}

} // namespace

std::string NcclCase::text() const {
  return "nccl " + std::string(kNcclCalls[call]) + " " + std::string(type.name) +
         " P=" + std::to_string(ranks) + " n=" + std::to_string(elements);
}

std::vector<float> nccl_input(const NcclCase& of, std::uint32_t rank) {
  const bool block = of.call == NcclCall::allgather;
  std::vector<float> values(static_cast<std::size_t>(of.elements / (block ? of.ranks : 1)));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = value_of(of, rank, static_cast<std::int64_t>(i));
  }
  return values;
}

std::vector<float> nccl_expected(const NcclCase& of, std::uint32_t rank) {
  if (of.call == NcclCall::reduce && rank != 0) {
    return {};
  }
  std::array<float, kPeriod> sums{};
  for (std::int64_t i = 0; i < kPeriod; ++i) {
    double sum = 0;
    for (std::uint32_t from = 0; from < of.ranks; ++from) {
      sum += value_of(of, from, i);
    }
    sums[static_cast<std::size_t>(i)] = static_cast<float>(rounded(sum, of.type.digits));
  }
  const std::int64_t block = std::max<std::int64_t>(1, of.elements / of.ranks);
  const std::int64_t own = block * rank;
  const auto result = [&](std::int64_t i) {
    const auto from = static_cast<std::uint32_t>(i / block);
    switch (of.call) {
    case NcclCall::broadcast:
      return value_of(of, 0, i);
    case NcclCall::reduce_scatter:
      return sums[static_cast<std::size_t>((own + i) % kPeriod)];
    case NcclCall::allgather:
      return value_of(of, from, i % block);
    case NcclCall::alltoall:
      return value_of(of, from, own + i % block);
    case NcclCall::sendrecv:
      return value_of(of, (rank + of.ranks - 1) % of.ranks, i);
    default:
      return sums[static_cast<std::size_t>(i % kPeriod)];
    }
  };
  const bool scatters = of.call == NcclCall::reduce_scatter;
  std::vector<float> values(static_cast<std::size_t>(scatters ? block : of.elements));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = result(static_cast<std::int64_t>(i));
  }
  return values;
}

std::vector<std::byte> coded(const NcclType& type, std::span<const float> values) {
  std::vector<std::byte> bytes(values.size() * static_cast<std::size_t>(type.bytes));
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint32_t bits = std::bit_cast<std::uint32_t>(values[i]);
    if (type.name == "bfloat16") {
      bits >>= 16;
    } else if (type.name == "half" && bits != 0) {
      bits = (bits >> 13) - kHalfBias;
    } // little-endian: the low bytes come first
    const auto size = static_cast<std::size_t>(type.bytes);
    std::memcpy(&bytes[i * size], &bits, size);
  }
  return bytes;
}

std::vector<float> decoded(const NcclType& type, std::span<const std::byte> bytes) {
  const auto size = static_cast<std::size_t>(type.bytes);
  std::vector<float> values(bytes.size() / size);
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &bytes[i * size], size);
    if (type.name == "bfloat16") {
      bits <<= 16;
    } else if (type.name == "half" && bits != 0) {
      bits = (bits + kHalfBias) << 13;
    }
    values[i] = std::bit_cast<float>(bits);
  }
  return values;
}

} // namespace stepsim::calibrate::gpu
