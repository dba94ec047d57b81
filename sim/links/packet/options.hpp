#pragma once
// The options of a packet network (PKT 3.8): sizes, buffers, thresholds, choice of paths, queue
// discipline, faults and the transport. Thresholds are in packets; kNoThreshold = none. An empty
// threshold follows from the bandwidth of the link; drop_protected is then none (thresholds.hpp).
#include <limits>

#include "base/words.hpp"
#include "links/fabric/fabric.hpp"

namespace stepsim::links {

enum class TransportKind : std::uint8_t { raw, window, reno, dctcp, pfabric, dlcp };
enum class LoadBalancing : std::uint8_t { ecmp, spray_random, spray_round_robin, explicit_path };
// Whether the packets of one connection take different paths.
[[nodiscard]] constexpr bool is_sprayed(LoadBalancing balancing) {
  return balancing == LoadBalancing::spray_random || balancing == LoadBalancing::spray_round_robin;
}
// spray_round_robin: packet i of a connection, from 0, takes link (i + offset) mod n of the n that
// lead on, offset = number of the source host, or 0.
enum class SprayOffset : std::uint8_t { host, zero };
enum class QueueDiscipline : std::uint8_t { fifo, flow_round_robin };
enum class BufferScope : std::uint8_t { port, shared, unlimited };
enum class RateControl : std::uint8_t { none, dctcp, timely };
inline constexpr auto kTransportKinds = base::words<TransportKind>();
inline constexpr auto kLoadBalancings =
    base::words<LoadBalancing>({{LoadBalancing::explicit_path, "explicit"}});
inline constexpr auto kSprayOffsets = base::words<SprayOffset>();
inline constexpr auto kQueueDisciplines = base::words<QueueDiscipline>();
inline constexpr auto kBufferScopes = base::words<BufferScope>();
inline constexpr auto kRateControls = base::words<RateControl>();

inline constexpr std::uint32_t kNoThreshold = std::numeric_limits<std::uint32_t>::max();

// How much waits at the ports of a switch before packets are dropped.
struct BufferOptions {
  BufferScope scope = BufferScope::port;
  std::uint32_t packets = 100; // scope port: cap of a port; kNoThreshold = `bytes` is the cap
  std::int64_t bytes = 0;      // cap of a port without cap in packets, or size of the shared pool
  double alpha = 1;            // shared: a queue may hold alpha x the free bytes of the pool
};

struct TcpOptions {           // reno and dctcp
  double initial_window = 10; // packets
  std::uint32_t duplicate_acks = 3;
  double rto_min_s = 0.010, rto_initial_s = 0.010;
  bool sack = false;               // selective acknowledgements
  bool restart_after_idle = false; // a window above the initial one shrinks to it after an idle RTO
  double g = 1.0 / 16, alpha0 = 1; // dctcp: gain and first value of alpha (transport/reno.hpp)
  bool retransmissions_ect = true; // dctcp: ECN-capable; if not, dropped above the mark threshold
};

// Options of bounded-loss delivery (dlcp).
struct DlcpOptions {
  // Whether a message ends as soon as `need` of its packets (message.hpp) have arrived. Otherwise
  // it ends when all have arrived, or when the PROBE that follows the last packet
  // (transport/dlcp.hpp) finds that `need` have.
  bool early_stop = true;
  RateControl rate_control = RateControl::dctcp;
  // The receiver sends feedback to the rate control after this many data packets, or with the
  // first one that arrives a base round trip after the last feedback.
  std::uint32_t feedback_packets = 8;
  double rate_floor = 1.0 / 64;    // least sending rate, as a fraction of the line rate
  double g = 1.0 / 16, alpha0 = 1; // dctcp: gain and first value of alpha (transport/dlcp_rate.hpp)
  bool control_lossy = false; // full buffers can drop control packets; probes are then repeated
};

// The transport and the options of every transport; each transport reads only its own.
struct TransportOptions {
  TransportKind kind = TransportKind::raw;
  std::uint32_t window_packets = 32; // window: packets of a connection without an ACK
  TcpOptions tcp;                    // reno, dctcp
  DlcpOptions dlcp;                  // dlcp
};

// Every transmission of data or an ACK on the link is lost with this probability; control packets
// never are.
struct LinkLoss {
  LinkId link{};
  double probability{}; // in [0, 1)
};

// On the link, the nth transmission of a data packet of the connection with this seq vanishes.
// Under reno and dctcp seq counts the packets of the connection. Otherwise it counts the packets of
// each message, and transmissions of all messages of the connection are counted together.
struct DropOnce {
  LinkId link{};
  std::uint32_t connection{}; // ConnectionSpec::number
  std::uint32_t seq{};        // from 0
  std::uint32_t nth = 1;      // from 1
};

// The default sizes, which the keys of scenarios show, too.
struct PacketDefaults {
  std::uint32_t mtu_wire_bytes = 1500, header_bytes = 40, wire_overhead_bytes = 0;
  std::uint32_t control_bytes = 64, ack_bytes = 40;
  std::uint32_t queues = 8;
  double switch_latency_s = 0;
};
inline constexpr PacketDefaults kPacketSizes{};

struct PacketOptions {
  // A full packet: mtu_wire_bytes with its header; wire_overhead_bytes come on top of every packet.
  std::uint32_t mtu_wire_bytes = kPacketSizes.mtu_wire_bytes;
  std::uint32_t header_bytes = kPacketSizes.header_bytes;
  std::uint32_t wire_overhead_bytes = kPacketSizes.wire_overhead_bytes;
  std::uint32_t control_bytes = kPacketSizes.control_bytes, ack_bytes = kPacketSizes.ack_bytes;
  std::uint32_t value_bytes = 1;              // size of a value; a packet holds only whole values
  std::uint32_t queues = kPacketSizes.queues; // number of queues of a port; queue 0 is for control
  // Added to the latency of every link that leads into a switch.
  double switch_latency_s = kPacketSizes.switch_latency_s;
  BufferOptions buffer;
  // Thresholds at which a port marks, and drops each class; empty = as thresholds.hpp derives them.
  std::optional<std::uint32_t> mark_packets;
  std::optional<std::uint32_t> drop_droppable, drop_middle, drop_protected;
  LoadBalancing load_balancing = LoadBalancing::ecmp;
  SprayOffset spray_offset = SprayOffset::host;
  QueueDiscipline queue_discipline = QueueDiscipline::fifo;
  std::vector<LinkLoss> link_loss;
  std::vector<DropOnce> drop_once;
  TransportOptions transport;
  double simulated_s = 1000; // limit of simulated time; a longer run is an error
  std::uint64_t seed = 1;

  // Returns the bytes of data in a full packet, a multiple of value_bytes.
  [[nodiscard]] std::uint32_t full_payload() const {
    return (mtu_wire_bytes - header_bytes) / value_bytes * value_bytes;
  }
};

} // namespace stepsim::links
