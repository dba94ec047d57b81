#pragma once
// A packet in flight, and the pool that stores packets. Packets are named by their index in the
// pool; a freed index is used again. Packets have sizes but no payload.
//
// A *train* is a run of packets of one message in the queue of a host, which are created one by one
// when they are sent: a message of a million packets, submitted at once, takes one entry. Source:
// PKT 3.2.

#include <cassert>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace stepsim::links {

// Time of the packet level in signed 64-bit picoseconds, so that results are exact and independent
// of the platform. 1500 bytes take 1,200,000 ps at 10 Gbit/s, 120,000 ps at 100 Gbit/s.
//   transmission = ceil(bytes 10^12 / B), B in whole bytes/s: a link is never faster than its rate
// Source: PKT 3.1.

using Picoseconds = std::int64_t;

inline constexpr Picoseconds kNeverPs = std::numeric_limits<Picoseconds>::max();

inline constexpr double kMostSeconds = 9e6; // largest time that can be converted

[[nodiscard]] inline Picoseconds to_picoseconds(double seconds) {
  assert(seconds >= 0 && seconds <= kMostSeconds && "times are between 0 and 9e6 s");
  return std::llround(seconds * 1e12);
}

[[nodiscard]] inline double to_seconds(Picoseconds time) {
  return static_cast<double>(time) * 1e-12;
}

// Returns the transmission time. Needs bytes < 2^23, so that the product with 10^12 fits.
[[nodiscard]] constexpr Picoseconds transmission(std::int64_t bytes, std::int64_t bytes_per_s) {
  return (bytes * 1'000'000'000'000 + bytes_per_s - 1) / bytes_per_s;
}

inline constexpr std::uint32_t kNone = 0xffffffff;

// Events are in the order control < data < ack; control are all kinds before data.
enum class PacketKind : std::uint8_t { probe, bitmap, stop, feedback, data, ack };
// `protected` alone is a keyword. NOLINTNEXTLINE(readability-identifier-naming)
enum class DropClass : std::uint8_t { protected_, middle, droppable, not_ect };
inline constexpr std::size_t kDropClasses = 4;

struct Packet {
  std::uint32_t next = kNone;      // in its queue, or in the list of free packets
  std::uint32_t connection{};      // index
  std::uint32_t message{};         // index
  std::uint32_t seq{};             // number in the message; reno, dctcp: in the connection
  std::uint32_t tx_index{};        // 1, 2, ... over the data packets of the connection
  std::uint32_t path{};            // index of its first link in core.paths; kNone = sprayed
  std::uint32_t link{};            // link that it waits for or is on
  std::uint16_t wire{}, payload{}; // bytes with and without headers
  std::uint16_t hop{}, hops{};     // number of links travelled, and on the path
  PacketKind kind = PacketKind::data;
  std::uint8_t queue{};
  DropClass drop_class = DropClass::protected_;
  bool ect : 1 = false, ce : 1 = false; // ECN: capable, congestion experienced (marked)
  bool retransmission : 1 = false, vanishes : 1 = false;
  bool train : 1 = false;
  bool notify : 1 = false; // its sender is called when it has left the host
  // Packets left in a train; pfabric: packets of the message that are not acknowledged; feedback
  // and ACK: number of packets that have arrived.
  std::uint32_t count{};
  std::uint32_t marked{}; // feedback: marked arrivals
  Picoseconds sent_at{};  // when the sender emitted it; copied into feedback
  std::uint64_t order{};  // key of its arrival events
};
static_assert(sizeof(Packet) == 64, "a packet fills one cache line");

// Keys of events, which order events at the same time (PKT 3.4): the class; then, for arrivals and
// timers, host (24 bits), connection (32 bits) and kind (control < data < ACK).
enum class EventClass : std::uint8_t { end, arrival, timer };

[[nodiscard]] constexpr std::uint64_t event_key(EventClass event_class, std::uint64_t host = 0,
                                                std::uint64_t connection = 0,
                                                std::uint64_t kind = 0) {
  return static_cast<std::uint64_t>(event_class) << 62 | host << 38 | connection << 6 | kind << 4;
}
[[nodiscard]] constexpr EventClass class_of(std::uint64_t key) {
  return static_cast<EventClass>(key >> 62);
}
[[nodiscard]] constexpr std::uint64_t host_of(std::uint64_t key) { return key >> 38 & 0xffffff; }

[[nodiscard]] constexpr bool is_control(PacketKind kind) { return kind < PacketKind::data; }
// Returns the kind as used in keys.
[[nodiscard]] constexpr std::uint64_t order_of(PacketKind kind) {
  return is_control(kind) ? 0 : kind == PacketKind::data ? 1 : 2;
}

// All packets of a network in one array. Freed entries form a list, so that take() costs O(1).
class PacketPool {
public:
  // References stay valid until the next take().
  [[nodiscard]] Packet& operator[](std::uint32_t index) { return packets_[index]; }
  [[nodiscard]] const Packet& operator[](std::uint32_t index) const { return packets_[index]; }

  [[nodiscard]] std::uint32_t take(const Packet& value) {
    ++live_;
    if (free_ == kNone) {
      packets_.push_back(value);
      return static_cast<std::uint32_t>(packets_.size() - 1);
    }
    const std::uint32_t index = free_;
    free_ = packets_[index].next;
    packets_[index] = value;
    return index;
  }
  void give_back(std::uint32_t index) {
    assert(live_ > 0 && "only packets that were taken are given back");
    --live_;
    packets_[index].next = free_;
    free_ = index;
  }
  [[nodiscard]] std::uint64_t live() const { return live_; }

private:
  std::vector<Packet> packets_;
  std::uint32_t free_ = kNone;
  std::uint64_t live_ = 0;
};

} // namespace stepsim::links
