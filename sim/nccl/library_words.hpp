#pragma once
// The words of the library model (CLU 6): the operations, algorithms and protocols that a
// collective library may run, and what limits their time. The algorithms are not those of namespace
// coll: `ring` here is NCCL's estimate of a ring, the latencies of all hops plus the bytes at the
// slowest rate, whereas `ring` of coll is a schedule of messages.
#include <cstdint>

#include "base/words.hpp"

namespace stepsim::nccl {

// The operations of the library. Their `bytes` are the whole vector; the total buffer for
// reduce_scatter and allgather; the send buffer of one rank for alltoall.
enum class Operation : std::uint8_t {
  broadcast,
  reduce,
  allreduce,
  reduce_scatter,
  allgather,
  alltoall
};
inline constexpr auto kOperations = base::words<Operation>();

// p2p is always the algorithm of alltoall; the library does not choose it.
enum class Algorithm : std::uint8_t { ring, tree, nvls, nvls_tree, pat, collnet, p2p };
inline constexpr auto kAlgorithms = base::words<Algorithm>();

// ll sends 4 bytes of data with a flag of 4 bytes, ll128 sends 120 with 8; simple sends data
// without flags and synchronises by memory fences, which add latency.
enum class Protocol : std::uint8_t { ll, ll128, simple };
inline constexpr auto kProtocols = base::words<Protocol>();

// Generation of the GPU: the row of the published constants.
enum class Generation : std::uint8_t { volta, ampere, hopper, blackwell };
inline constexpr auto kGenerations = base::words<Generation>();

// Manufacturer of the host processors; `intel` stands for all but AMD.
enum class Host : std::uint8_t { intel, amd };
inline constexpr auto kHosts = base::words<Host>();

// The link between the GPUs of a node.
enum class InnerLink : std::uint8_t { nvlink, pcie };
inline constexpr auto kInnerLinks = base::words<InnerLink>();

// The estimate that picks algorithm and protocol: NCCL's own from published constants, or the
// calibrated cost.
enum class Choice : std::uint8_t { published, calibrated };
inline constexpr auto kChoices = base::words<Choice>();

// Whether the model is corrected by nearby measurements of a calibration (CLU 7.4).
enum class Residual : std::uint8_t { none, kriging };
inline constexpr auto kResiduals = base::words<Residual>();

// What sets the time of an operation:
//   nic            the network cards of a node
//   nvlink, pcie   the links inside a node
//   mix            the rate of a ring that leaves the node
//   protocol_cap   a published limit of the protocol or of its channels
//   latency        the latency, which is longer than the transfer
//   floor          the launch
//   bound          the lower bound (CLU 4), because the model gave less
enum class Limit : std::uint8_t { nic, nvlink, pcie, mix, protocol_cap, latency, floor, bound };
inline constexpr auto kLimits = base::words<Limit>();

// The largest term of the lower bound (CLU 4, COL 6): the network cards of a node, the ports of a
// GPU, latency, or additions (which the library model leaves out).
enum class BoundKind : std::uint8_t { nic, gpu, latency, reduction };
inline constexpr auto kBoundKinds = base::words<BoundKind>();

// Types of elements (CLU 7.6). They differ in size, and in whether the switch of a node adds them.
enum class ElementType : std::uint8_t { fp32, fp16, bf16, fp8_e4m3, fp8_e5m2, int8, fp64, int64 };
inline constexpr auto kElementTypes = base::words<ElementType>();

// Returns the bytes of one element.
[[nodiscard]] constexpr int element_bytes(ElementType type) {
  switch (type) {
  case ElementType::fp32:
    return 4;
  case ElementType::fp16:
  case ElementType::bf16:
    return 2;
  case ElementType::fp8_e4m3:
  case ElementType::fp8_e5m2:
  case ElementType::int8:
    return 1;
  case ElementType::fp64:
  case ElementType::int64:
    return 8;
  }
  return 0;
}

// Whether NVLS adds the type: it adds 32- and 64-bit integers, fp16, bf16, fp32 and fp64 (CLU 5.1),
// and no type of one byte.
[[nodiscard]] constexpr bool switch_adds(ElementType type) { return element_bytes(type) > 1; }

} // namespace stepsim::nccl
