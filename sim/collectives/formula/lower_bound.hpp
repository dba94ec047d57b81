#pragma once
// Lower bound of an operation on given links, for every algorithm: the largest of three times, each
// computed without the other two. Several nodes of several ranks use CLU 4, with latency between
// nodes only, unless links are listed pair by pair. Hosts of a fabric use fabric_bound.hpp. All
// other ranks use COL 6. A parameter server and sums in switches have separate bounds, because they
// move fewer or other bytes than ranks that send to each other.
#include <cstdint>

#include "collectives/collective.hpp"
#include "nccl/library_words.hpp"

namespace stepsim::collectives {

struct LowerBound {
  // Time of the messages that must follow one another without their bytes: ceil(log2 P) latencies
  // if links have no delay; one for an alltoall.
  double latency_s{};
  double bandwidth_s{}; // time of the bytes that the busiest rank, or all ranks, must move
  double reduction_s{}; // time of the additions, spread over all ranks
  // The ports that set bandwidth_s: network cards, or the ports of ranks inside a node.
  nccl::BoundKind bandwidth_kind = nccl::BoundKind::nic;
  [[nodiscard]] double seconds() const;
  [[nodiscard]] nccl::BoundKind kind() const; // kind of the largest term
};
// Returns the operation in the words of the library model (NCCL's). It has no allgatherv, for which
// this returns allgather.
[[nodiscard]] nccl::Operation operation_of(Op op);
// Returns the bound of the duration, without entry times. All 0 for one rank or nothing to send.
[[nodiscard]] LowerBound lower_bound(const Collective& collective);

// Returns the least time in which data of one rank can reach `ranks` ranks, or data of all can
// reach one. Messages hold their ports for `latency_s` and arrive `startup_s` >= latency_s after
// their start. With startup_s = latency_s it is ceil(log2 ranks) latencies.
[[nodiscard]] double spread_seconds(std::uint32_t ranks, double latency_s, double startup_s);

} // namespace stepsim::collectives
