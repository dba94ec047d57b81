#pragma once
// The operations and element types of NCCL that are measured, the vectors with which a result is
// verified, and what must come out (CAL 7.2); plain C++.
//
// A vector has n elements; an operation on blocks cuts it into one of n / P for each of P ranks.
// The bytes of a call are the bytes of the whole vector, as in nccl-tests:
//
//     reduce_scatter   n in, n / P out: block r of the sums on rank r
//     allgather        n / P in, n out: the vectors of all ranks one after the other
//     alltoall         n in, n out: block b of rank r becomes block r of rank b
//     sendrecv         n in, n out: rank r sends to rank r + 1, the last one to rank 0
#include <cstdint>
#include <string>
#include <vector>

#include "base/words.hpp"

namespace stepsim::calibrate::gpu {

enum class NcclCall { allreduce, broadcast, reduce, reduce_scatter, allgather, alltoall, sendrecv };
inline constexpr auto kNcclCalls = base::words<NcclCall>();
[[nodiscard]] constexpr bool has_blocks(NcclCall call) {
  return call == NcclCall::reduce_scatter || call == NcclCall::allgather ||
         call == NcclCall::alltoall;
}

struct NcclType {
  std::string_view name; // as nccl-tests calls it
  int number;            // ncclDataType_t
  std::int64_t bytes;
  int digits; // significant bits of a value
};
inline constexpr std::array kNcclTypes{NcclType{"float", 7, 4, 24}, NcclType{"bfloat16", 9, 2, 8},
                                       NcclType{"half", 6, 2, 11}};
inline constexpr NcclType kNcclFloat = kNcclTypes.front();

// A call among `ranks` ranks on vectors of `elements`, a multiple of `ranks` for blocks.
struct NcclCase {
  NcclCall call{};
  NcclType type = kNcclFloat;
  std::uint32_t ranks = 1;
  std::int64_t elements{};
  [[nodiscard]] std::string text() const; // "nccl reduce_scatter bfloat16 P=8 n=1000"
};

// The values of a rank before the call, whole numbers that the type holds, and those after it.
// Sums of more than two ranks are exact in the type in any order of additions. A sum of two is
// rounded once, to nearest, ties to even, where it has more digits than the type.
[[nodiscard]] std::vector<float> nccl_input(const NcclCase& of, std::uint32_t rank);
// Empty where the rank has no result, which in a reduce is every rank but 0.
[[nodiscard]] std::vector<float> nccl_expected(const NcclCase& of, std::uint32_t rank);

// Values as elements of the type, and back. Coded values must be 0 or normal, positive numbers of
// the type; any other element is decoded to a value that differs from all of these.
[[nodiscard]] std::vector<std::byte> coded(const NcclType& type, std::span<const float> values);
[[nodiscard]] std::vector<float> decoded(const NcclType& type, std::span<const std::byte> bytes);

} // namespace stepsim::calibrate::gpu
