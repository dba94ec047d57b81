#pragma once
// Output ports: one per directed link, with non-preemptive strict priority over its queues, queue 0
// first. Occupancy counts data packets and ACKs, including the packet in service, but no control
// packets. The first rule that applies to an arriving packet decides (with the occupancy before it;
// PKT 3.5):
//
//   control                                                  accepted (with control_lossy only if
//                                                            the buffer has room)
//   port cap or shared pool full                             buffer drop
//   data, not ECN-capable and its queue >= K_drop[class]     threshold drop
//   data, ECN-capable and its queue >= K_mark                marked and accepted
//   all other packets                                        accepted
//
// thresholds.hpp gives K_drop and K_mark. With pfabric, at most 24 data packets wait; one more
// drops the packet whose message has the most packets left. Ports of hosts accept everything. Order
// within a queue: first in first out, or one packet per connection in turn, or (pfabric) the
// message with the fewest packets left.

#include "links/packet/background.hpp"

namespace stepsim::links {

enum class DropCause : std::uint8_t { buffer, threshold, fault };
inline constexpr std::size_t kDropCauses = 3;

struct LinkCounters {
  std::uint64_t packets{};                        // transmissions, of any kind
  std::uint64_t bytes{};                          // on the wire
  Picoseconds busy{};                             // sum of transmission times
  std::uint32_t max_queue{};                      // packets: data and ACKs, with the one in service
  std::uint64_t marks{};                          // packets that the port marked
  std::array<std::uint64_t, kDropCauses> drops{}; // by DropCause
};

// The fields that every transmission uses come first: they share two cache lines.
struct alignas(64) Port {
  std::uint32_t in_service = kNone; // packet, if its sender waits for the end
  std::uint32_t packets = 0;        // occupancy
  Picoseconds busy_until = 0;
  Picoseconds latency = 0;    // propagation, plus switch_latency_s if the link ends at a switch
  Picoseconds usual_time = 0; // transmission time of full packets, computed once
  std::uint16_t usual_wire = 0;
  std::uint16_t service_wire = 0;
  std::uint8_t service_queue = 0;
  std::uint8_t waiting = 0; // bit per queue that has packets
  bool service_counted = false;
  bool busy = false;
  bool to_start = false;    // in the list of ports that may start at this instant
  bool end_pending = false; // the end of its transmission is an event
  bool limited = false;     // port of a switch: the rules above apply
  bool always_ends = false; // every end of transmission is an event (shared pools)
  bool faulty = false;
  std::uint32_t cap_packets = kNoThreshold;
  std::uint32_t mark = kNoThreshold;
  std::uint32_t pool = kNone; // index of its switch's pool
  LinkCounters counters{};
  std::int64_t rate_Bps = 0;
  std::int64_t bytes = 0;                         // occupancy; counted at switches only
  std::array<std::uint32_t, kDropClasses> drop{}; // thresholds per class
};

struct Dropped {
  std::uint32_t packet = kNone;
  DropCause cause = DropCause::buffer;
};

class Ports {
public:
  // Options must be valid. `pool` and `shapes` must outlive the ports.
  Ports(const Fabric& fabric, const PacketOptions& options, PacketPool& pool,
        const std::vector<MessageShape>& shapes);

  [[nodiscard]] Port& operator[](LinkId link) { return ports_[link]; }
  [[nodiscard]] const Port& operator[](LinkId link) const { return ports_[link]; }
  [[nodiscard]] std::size_t size() const { return ports_.size(); }

  // Appends a packet to its queue. The packet, or another one to make room, may be dropped; the
  // caller frees the dropped packet.
  Dropped enqueue(LinkId link, std::uint32_t packet);
  // Removes the packet to be served from its queue and returns it; the occupancy still includes it.
  std::uint32_t take(LinkId link);
  // Removes the packet in service from the occupancy.
  void finish(LinkId link);
  // Removes the waiting data packets of the message from the port of a host; returns their number.
  std::uint32_t purge(LinkId link, std::uint32_t message);
  [[nodiscard]] Picoseconds time_of(const Port& port, std::uint16_t wire) const {
    return wire == port.usual_wire ? port.usual_time : transmission(wire, port.rate_Bps);
  }

private:
  struct Queue {
    std::uint32_t head = kNone, tail = kNone; // packets; with round robin, turns
    std::uint32_t packets = 0;                // occupancy
  };
  // Round robin: the packets of a connection in a queue, and the next connection in turn.
  struct Turn {
    std::uint32_t connection{}, head = kNone, tail = kNone, next = kNone;
  };

  void set_limits(Port& port, const FabricLink& link, std::uint32_t switch_index);
  [[nodiscard]] bool admit(LinkId link, Packet& packet, DropCause& cause);
  [[nodiscard]] bool fits(LinkId link, const Packet& packet) const;
  [[nodiscard]] bool within_cap(const Port& port, const Packet& packet) const;
  void add_bytes(LinkId link, std::uint8_t queue, std::int64_t bytes);
  void append(Queue& queue, std::uint32_t packet);
  std::uint32_t split(std::uint32_t train);
  std::uint32_t first_of(std::uint32_t& head, std::uint32_t& tail);
  std::uint32_t take_turn(Queue& queue);
  std::uint32_t take_smallest(Queue& queue);
  Dropped make_room(LinkId link, std::uint32_t packet);
  void unlink(std::uint32_t& head, std::uint32_t& tail, std::uint32_t before, std::uint32_t packet);
  std::uint32_t purge_list(std::uint32_t& head, std::uint32_t& tail, std::uint32_t message);
  [[nodiscard]] Queue& queue_of(LinkId link, std::uint8_t queue) {
    return queues_[link * queue_count_ + queue];
  }

  const PacketOptions& options_;
  PacketPool& pool_;
  const std::vector<MessageShape>& shapes_;
  std::uint32_t queue_count_;
  bool pfabric_, round_robin_;
  std::vector<Port> ports_;
  std::vector<Queue> queues_;             // [port * queues + queue]
  std::vector<std::int64_t> queue_bytes_; // [port * queues + queue] occupancy; shared pools only
  std::vector<std::int64_t> used_;        // [switch] bytes in the shared pool
  std::vector<Turn> turns_;
  std::uint32_t free_turn_ = kNone;
};

} // namespace stepsim::links
