#pragma once
// A network that simulates every packet (PKT 3, 5). Messages are submitted on connections; the
// caller advances the network from completion to completion:
//
//   PacketNetwork network(fabric, routes, options);
//   const auto connection = network.open({.src = 0, .dst = 3, .number = 0});
//   const auto message = network.hand_over({.connection = connection, .size_bytes = 65536});
//   while (network.advance(kNeverPs, done)) { /* submit what depends on `done` */
//   }
//
// advance() stops at each completion, and at `until`, before ports start sending at that instant,
// so that messages submitted for `now` still take part (class 2 of PKT 3.4). The same input always
// gives the same result.

#include "links/packet/transport/dlcp.hpp"
#include "links/packet/transport/plain.hpp"
#include "links/packet/transport/reno.hpp"

namespace stepsim::links {

class PacketNetwork {
public:
  // Fabric and routes must outlive the network. Readers check the options.
  PacketNetwork(const Fabric& fabric, const Routes& routes, const PacketOptions& options);
  PacketNetwork(const PacketNetwork&) = delete;
  PacketNetwork& operator=(const PacketNetwork&) = delete;

  // Opens a connection, which keeps the state of its transport, such as a window, between messages.
  ConnectionId open(const ConnectionSpec& spec);
  // Submits a message, which must not start before now(). Empty messages and messages inside a host
  // are complete at their start.
  MessageId hand_over(const MessageSpec& spec);

  // Advances to the next completions (appended to `done`), at most to `until`. Returns false if no
  // message completes by then; now() is then the time of the last event, which may be before
  // `until`, and later messages may still be submitted. Throws SimulationError if messages can
  // never end (naming up to 10 of them), or if simulated time exceeds the limit (PKT A27, A28).
  bool advance(Picoseconds until, std::vector<MessageId>& done);
  // Does the same as advance(), except that it returns false, with next_time() = kNeverPs, if
  // messages can never end; the caller reports them.
  bool go_on(Picoseconds until, std::vector<MessageId>& done);
  [[nodiscard]] Picoseconds next_time(); // the next event; kNeverPs if none
  [[nodiscard]] Picoseconds now() const { return core_.now; }
  // Whether a message will never end, because a transport without recovery has lost one of its
  // packets. A caller that submits messages for as long as others are in flight should stop.
  [[nodiscard]] bool blocked() const { return blocked_; }

  [[nodiscard]] std::size_t messages() const { return core_.results.size(); } // submitted so far
  [[nodiscard]] const MessageResult& result(MessageId message) const {
    return core_.results[message];
  }
  [[nodiscard]] const MessageSpec& spec(MessageId message) const { return core_.specs[message]; }
  [[nodiscard]] const LinkCounters& link(LinkId link) const { return core_.ports[link].counters; }
  [[nodiscard]] const PacketCounts& data_counts(DropClass drop_class) const {
    return core_.data_counts(drop_class);
  }
  [[nodiscard]] std::uint64_t events() const { return core_.event_count; }
  [[nodiscard]] std::uint64_t packet_hops() const { return core_.packet_hops; }

private:
  // Calls use(transport) with the transport of a kind.
  template <class Use> void with_transport(TransportKind kind, const Use& use);
  void handle(const PacketEvent& event);
  void ready(MessageId message);
  void timer(const PacketEvent& event);
  void arrive(std::uint32_t packet);
  void delivered(const Packet& packet);
  void lost(const Packet& packet);
  void check_end() const;
  [[nodiscard]] std::string unfinished_names() const;

  PacketOptions options_;
  Picoseconds limit_;
  PacketCore core_;
  RawTransport raw_;
  WindowTransport window_;
  RenoTransport reno_;
  PfabricTransport pfabric_;
  DlcpTransport dlcp_;
  bool blocked_ = false;
};

// Runs a list of flows on the packet network. Each flow is one message on a separate connection,
// numbered by its index in the list (PKT 7.1).
//   fct = completion at the receiver - start; raw flows that lost packets: last delivery - start

struct PacketFlow {
  NodeId src{}, dst{};
  std::int64_t size_bytes{};
  double start_s{}; // from the start of the run
  std::uint8_t queue = 1;
  double loss_bound = 0; // used by dlcp (bounded-loss transport)
  DropRule drop_rule{};
  std::vector<LinkId> path{}; // for load balancing explicit_path; empty = ECMP
};

// The outcome of all flows and the use of the links, from 0 to `end`.
struct PacketFlowsResult {
  std::vector<MessageResult> flows;                 // [flow]
  std::vector<MessageResult> background;            // in the order of starts
  std::vector<LinkCounters> links;                  // [link]
  std::array<PacketCounts, kDropClasses> classes{}; // data packets, by drop class
  Picoseconds end{};                                // time of the last event
  std::uint64_t events{}, packet_hops{};
};

// Runs the flows. With a background load the run ends with the last flow of the list; connections
// of the background are numbered after the list. Throws SimulationError if a flow can never end, or
// if the time limit is exceeded, and as PacketNetwork does for invalid options.
[[nodiscard]] PacketFlowsResult run_packet_flows(const Fabric& fabric, const Routes& routes,
                                                 const PacketOptions& options,
                                                 std::span<const PacketFlow> flows,
                                                 const BackgroundOptions& background = {});

} // namespace stepsim::links
