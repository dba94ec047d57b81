#pragma once
// A message: the unit that is submitted to a transport for one (sender, receiver): a flow, or a
// tensor, shard or chunk of a training job. Messages of one connection share its congestion state.
//
//   n = ceil(size / payload of a full packet); the last packet is short
//   need = ceil((1 - p) n - 1e-9) packets complete a message of loss bound p (PKT 5.6, A3)

#include "links/packet/options.hpp"
#include "links/packet/packet.hpp"

namespace stepsim::links {

using ConnectionId = std::uint32_t;
using MessageId = std::uint32_t;

// Arguments for opening a connection.
struct ConnectionSpec {
  NodeId src{}, dst{};
  std::uint32_t number{};              // identifies it in hashes, faults and the order of events
  std::optional<TransportKind> kind{}; // transport; empty = that of PacketOptions
  std::vector<LinkId> path{};          // explicit_path: links from src to dst; empty = ECMP
};

// Decides which packets of a message may be dropped first.
struct DropRule {
  enum class Kind : std::uint8_t { all_protected, every, by_size };
  Kind kind = Kind::all_protected;
  std::uint32_t every = 1, offset = 0;           // every: seq mod every = offset is protected
  DropClass small = DropClass::droppable;        // by_size: classes of packets with small and
  DropClass large = DropClass::protected_;       // large values; a packet is large if
  double large_fraction = 0.5;                   //   u01(seed, 4, iteration, worker, tensor,
  std::uint64_t iteration{}, worker{}, tensor{}; //       seq) < large_fraction
};

struct MessageSpec {
  ConnectionId connection{};
  std::int64_t size_bytes{};
  std::uint8_t queue = 1; // 1 .. queues - 1, the smallest is served first
  double loss_bound = 0;  // p in [0, 1), used by dlcp
  DropRule drop_rule{};
  Picoseconds start{}; // not before now
  // Links take this many times as long, in transmission and latency, for the packets of the
  // connection from this message to the next.
  double stretch = 1;
};

// The outcome of a message. Times count from the start of the run.
struct MessageResult {
  Picoseconds start{};
  // Completion at the receiver; kNeverPs = never, or not yet. For a raw message that lost packets
  // the last delivery, kNeverPs if there was none.
  Picoseconds end = kNeverPs;
  Picoseconds sender_done = kNeverPs; // dlcp: STOP has arrived
  std::uint32_t packets{}, need{};
  std::uint32_t delivered_packets{};
  std::int64_t size_bytes{}, delivered_bytes{};
  std::int64_t lost_network_bytes{}; // payload dropped or vanished, and never delivered
  std::int64_t wasted_bytes{};       // dlcp: payload that arrived after completion
  std::uint32_t sent_packets{};      // transmissions begun at the sender's host
  std::uint32_t retransmissions{}, timeouts{}, duplicates{}, wasted_packets{}, probe_rounds{};
  std::uint32_t fast_retransmits{}; // reno, dctcp: recoveries that began without a timeout
  std::uint32_t inversions{};       // arrivals with a smaller seq than the previous one

  bool settled = false; // complete, or (raw) nothing more will arrive

  // Whether the message has ended. True also for a settled raw message that lost packets, if any
  // packet was delivered.
  [[nodiscard]] bool complete() const { return end != kNeverPs; }
  // The flow completion time; needs complete().
  [[nodiscard]] Picoseconds fct() const { return end - start; }
  // Bytes that had not been sent, or were in flight, when the message was complete.
  [[nodiscard]] std::int64_t lost_stopped_bytes() const {
    return size_bytes - delivered_bytes - lost_network_bytes;
  }
};

// Returns the packets that complete a message. The tolerance keeps a loss bound of 0.18 on 150
// packets, (1 - 0.18) * 150 = 123.00000000000001, from requiring a 124th packet.
[[nodiscard]] inline double packets_needed(double packets, double loss_bound) {
  return std::ceil((1 - loss_bound) * packets - 1e-9);
}

} // namespace stepsim::links
