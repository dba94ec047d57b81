#pragma once
// State that all transports share: the ports, the packets in flight, the events, and the
// connections and messages. A transport passes packets to `send`; `arrive` moves one packet over
// the end of its link. PacketNetwork calls these functions of a transport, if it has them:
//
//   open         a connection is opened, once and before its messages
//   ready        a message starts; it has packets and leaves its host
//   delivered    a packet is at the end of its path: data at the receiver, ACKs at the sender
//   lost         a data packet was dropped by a port or vanished by a fault of a link
//   timer, ..    an event that the transport has requested is due
//
// The end of a transmission is an event only if something waits for it: a port whose transmission
// has ended removes the packet from its occupancy when the port is next used. Ports that may start
// at this instant are kept in a list, and start after all other events of the instant (class 3 of
// PKT 3.4).

#include "links/fabric/routes.hpp"
#include "links/packet/packet_event_queue.hpp"
#include "links/packet/ports.hpp"

namespace stepsim::links {

// The path of some packets of a connection.
struct Way {
  std::uint32_t path = kNone; // index of its first link in core.paths; kNone = sprayed
  std::uint16_t hops = 0;     // number of links; 0 inside a host
};

struct Connection {
  NodeId src{}, dst{};
  std::uint32_t number{}; // ConnectionSpec::number
  TransportKind kind{};
  Way data{};                 // data packets
  Way control{};              // control packets to the receiver: always ECMP
  Way back{};                 // ACKs and control packets from the receiver
  LinkId first_link{};        // link out of the source
  std::uint32_t lanes = 1;    // links out of the source that data packets take, more if sprayed
  std::uint32_t state{};      // index in the arrays of its transport
  std::uint32_t sent = 0;     // number of data packets sent
  std::uint32_t last_seq = 0; // seq of the last data packet that arrived
  // Sum over the links of the path: twice the latency, and the transmission of a full and a control
  // packet.
  Picoseconds base_rtt{};
  double stretch = 1; // MessageSpec::stretch of the newest message

  [[nodiscard]] Picoseconds stretched(Picoseconds time) const {
    return std::llround(stretch * static_cast<double>(time));
  }
  [[nodiscard]] Picoseconds stretched_rtt() const { return stretched(base_rtt); }
};

// A timer of a connection or message. Only its event at `event_at` counts, which is not after the
// deadline; other pending events of the timer are ignored when they come.
struct Timer {
  Picoseconds deadline = kNeverPs;
  Picoseconds event_at = kNeverPs; // time of the event that counts
};

enum class TimerKind : std::uint8_t { ready, retransmit, pace, probe, expiry };
// Bits of an event's id that hold the index of set_timer(); the bits above are the TimerKind.
inline constexpr int kTimerIndexBits = 29;

struct Arrival {
  enum class What : std::uint8_t { forwarded, delivered, lost };
  What what = What::forwarded;
  std::uint32_t packet = kNone; // packet that was delivered or lost; the caller frees it
};

// Number of packets by outcome: `dropped` by a port, `vanished` by a fault of a link.
struct PacketCounts {
  std::uint64_t sent{}, delivered{}, dropped{}, vanished{};
  [[nodiscard]] std::uint64_t ended() const { return delivered + dropped + vanished; }
};

class PacketCore {
public:
  // Fabric and routes must outlive the core. Options must be valid.
  PacketCore(const Fabric& fabric, const Routes& routes, const PacketOptions& options);

  // Returns a packet of the connection, without its place in a message; its size is set unless it
  // is data.
  [[nodiscard]] Packet packet(ConnectionId connection, PacketKind kind) const;
  // Returns the next data packet of the connection: packet `seq` of the message.
  [[nodiscard]] Packet next_data(MessageId message, std::uint32_t seq);
  // Appends a packet to the queue of its source host.
  void send(const Packet& packet);
  // Removes the data packets of the message that have not left the source; returns their number.
  std::uint32_t purge(MessageId message);
  // Sends all packets of the message at once. With `notify`, the transport is called when each
  // packet has left the host.
  void send_all(MessageId message, bool notify);
  // Moves a packet over the end of its link: it is delivered or lost, or waits at the next port.
  Arrival arrive(std::uint32_t packet);
  // Ends a transmission. Returns the packet that left if its sender asked to be notified, else
  // kNone.
  std::uint32_t end(LinkId link);
  // Starts the ports in `to_start`, by link, after all other events of the instant.
  void start_ports();

  // Sets a timer; `index` is the connection, or the message, of the timer.
  void set_timer(Timer& timer, TimerKind kind, ConnectionId connection, std::uint32_t index,
                 Picoseconds deadline);
  // Whether the deadline has come, at an event of the timer. If it was moved to later, sets the
  // next event.
  [[nodiscard]] bool expired(Timer& timer, TimerKind kind, ConnectionId connection,
                             std::uint32_t index);
  void push_timer(TimerKind kind, ConnectionId connection, std::uint32_t index, Picoseconds time);

  // Counts data that arrives for the first time.
  void deliver(const Packet& packet) {
    MessageResult& result = results[packet.message];
    ++result.delivered_packets;
    result.delivered_bytes += packet.payload;
    last_delivery = event_count;
  }
  void complete(MessageId message); // records that the receiver has enough of the message now
  // Ends a raw message that lost packets. The caller waits until none of its packets is in flight
  // (not checked). `last` is the time of its last delivery, kNeverPs if there was none.
  void settle(MessageId message, Picoseconds last);
  // Checks of debug builds (PKT 10).
  [[nodiscard]] bool conserved() const;         // per class, ended <= sent; the rest is in the pool
  [[nodiscard]] bool nothing_in_flight() const; // sent = delivered + dropped + vanished, per class
  [[nodiscard]] bool waiting_ports_busy() const; // no packet waits at an idle port, after class 3
  [[nodiscard]] const PacketCounts& data_counts(DropClass drop_class) const {
    return flights_[static_cast<std::size_t>(drop_class)];
  }

  const Fabric& fabric;
  const Routes& routes;
  const PacketOptions& options;
  Picoseconds now = 0;
  PacketPool pool;
  std::vector<MessageShape> shapes;    // [message]
  std::vector<MessageResult> results;  // [message]
  std::vector<MessageSpec> specs;      // [message]
  std::vector<Connection> connections; // [connection]
  std::vector<LinkId> paths;           // links of all paths
  Ports ports;
  PacketEventQueue events;
  std::vector<LinkId> to_start; // ports that may start at this instant
  std::vector<MessageId> done;  // messages that have ended and are not yet reported
  std::uint64_t unfinished = 0; // number of messages that have not ended
  std::uint64_t packet_hops = 0, event_count = 0;
  std::uint64_t last_delivery = 0; // the event that last delivered data for the first time
  bool stretches = false;          // whether a message had a stretch other than 1

private:
  [[nodiscard]] std::uint32_t enqueue(LinkId link, std::uint32_t packet);
  void mark_to_start(LinkId link);
  void start(LinkId link);
  [[nodiscard]] bool vanishes(LinkId link, const Packet& packet);

  static constexpr std::size_t kFlightClasses = kDropClasses + 2; // data by class, ACKs, control
  [[nodiscard]] PacketCounts& flight_of(const Packet& packet);
  std::array<PacketCounts, kFlightClasses> flights_{};
  std::vector<double> loss_;                // [link]; empty if no link loses packets
  std::vector<std::uint32_t> fault_counts_; // [drop_once]: matching transmissions so far
  std::uint32_t insertions_ = 0;            // timer events so far; orders equal ones
};

} // namespace stepsim::links
