#pragma once
// Lower bound of an operation on given links, for every algorithm: the largest of three times, each
// computed without the other two. Several nodes of several ranks use CLU 4, with latency between
// nodes only, unless links are listed pair by pair. Hosts of a fabric use lower_bound.hpp. All
// other ranks use COL 6. A parameter server and sums in switches have separate bounds, because they
// move fewer or other bytes than ranks that send to each other.

#include "base/collected.hpp"
#include "collectives/formula/uniform.hpp"
#include "collectives/schedule/partition.hpp"
#include "nccl/node_links.hpp"

#include <span>

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

// An end is a set of ranks that share their links to all others: a rank, or a host of a fabric.

// Least and most bytes that the ranks of an end own of the result of a reduce_scatter, the input of
// an allgather, or the send buffer of an alltoall: parts may be handed out in any order.
struct OwnBytes {
  double least{}, most{};
};
// Returns what the ranks, a range of their numbers, own.
template <class Ranks> OwnBytes own_bytes(const Collective& collective, const Ranks& ranks) {
  if (!collective.sizes.empty()) {
    const double own =
        base::sum_of<double>(ranks, [&](std::uint32_t rank) { return collective.sizes[rank]; });
    return {own, own};
  }
  const Partition parts =
      Partition::equal(total_bytes(collective), collective.ranks, collective.options);
  const auto count = static_cast<double>(std::size(ranks));
  return {count * parts.bytes(collective.ranks - 1, 1), count * parts.bytes(0, 1)};
}

struct BoundEnd {
  double count = 1; // so many equal ends
  double ranks = 1; // of each
  OwnBytes own{};
  bool root = false;
  double out_s_per_byte{}, in_s_per_byte{};
};
// Returns the largest of the times in which every end passes what it must, and in which all ends
// together send `all_bytes`, or the sum of what each must send:
//     broadcast, reduce   n into (out of) every other end, n out of (into) the root's
//     allreduce           n out of and into every end
//     reduce_scatter      n less its own parts out, its own parts in
//     allgather(v)        its own parts out, the others in
//     alltoall            n less its own parts out of each of its ranks, its own parts in from each
//                         of the others
[[nodiscard]] double ends_bound(const Collective& collective, std::span<const BoundEnd> ends,
                                std::optional<double> all_bytes);

// The lower bound of a collective on a fabric (derived from COL 6, with hosts in place of ranks).

// Returns the bound: hosts exchange what their ranks must exchange, at the rate of their own
// cables. The bound ignores the uplinks of switches, so that times on an oversubscribed fabric may
// be longer than the bound by the factor of the oversubscription. Needs `links.fabric`.
[[nodiscard]] LowerBound fabric_bound(const Collective& collective);

// The bandwidth bound of nodes with several ranks (CLU 4), which may differ in size. Node k has G_k
// ranks and min(R, G_k) cards; P ranks are on N nodes. The ports of a node are its cards and, if it
// has several ranks, their ports inside the node; own_k are the bytes that its ranks own. So many
// bytes must pass the cards of node k, and so many its ports:
//                                cards              ports
//     allreduce                  n                  G_k n         all nodes: 2 (N-1) n, 2 (P-1) n
//     broadcast, reduce          n                  G_k n         in the node of the root n
//     allgather, reduce_scatter  n - own_k          G_k n - own_k
//     alltoall                   G_k (P - G_k) n/P  (G_k - 1) n/P at each rank, inside the node

// Returns the seconds, and whether cards or the ports of GPUs set them. Needs several nodes, at
// least one of them with several ranks, and no separate links for pairs of ranks (none of it is
// checked).
[[nodiscard]] nccl::NodeBound node_level_bound(const Collective& collective);

} // namespace stepsim::collectives
