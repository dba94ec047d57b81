// The loop over events, and the dispatch to transports: a connection has one kind for life, which
// is looked up at every event instead of called through a table.

#include "links/packet/packet_network.hpp"

#include "base/error.hpp"
#include "links/packet/connections.hpp"

#include <fmt/core.h>

namespace stepsim::links {

namespace {

// Events without new data after which packets are taken to drop each other for ever.
constexpr std::uint64_t kMostInVain = 20'000'000;

// Runs a list of flows as messages of one network, each on a connection of its own. Background
// flows are drawn while the run lasts, since nobody knows beforehand for how long they are needed.

// Hands over one arrival after the other, each when the network has come to the one before. The run
// ends with the last flow of the list, so that background flows may be left unfinished.
void run_with_background(PacketNetwork& network, BackgroundArrivals& arrivals,
                         const PacketOptions& options, const BackgroundOptions& background,
                         std::size_t flows) {
  std::size_t left = flows;
  std::vector<MessageId> done;
  auto number = static_cast<std::uint32_t>(flows);
  while (left > 0) {
    Picoseconds until = kNeverPs;
    if (arrivals.next_s() <= options.simulated_s && !network.blocked()) {
      const BackgroundFlow flow = arrivals.take();
      until = to_picoseconds(flow.start_s);
      const ConnectionId connection = network.open(
          {.src = flow.src, .dst = flow.dst, .number = number++, .kind = background.transport});
      network.hand_over({.connection = connection, .size_bytes = flow.bytes, .start = until});
    }
    // Messages of the list were added first, so that smaller ids are theirs.
    while (left > 0 && network.advance(until, done)) {
      left -= static_cast<std::size_t>(
          std::ranges::count_if(done, [&](MessageId message) { return message < flows; }));
      done.clear();
    }
  }
}

} // namespace

PacketNetwork::PacketNetwork(const Fabric& fabric, const Routes& routes,
                             const PacketOptions& options)
    : options_(options), limit_(to_picoseconds(options.simulated_s)),
      core_(fabric, routes, options_) {}

template <class Use> void PacketNetwork::with_transport(TransportKind kind, const Use& use) {
  switch (kind) {
  case TransportKind::raw:
    return use(raw_);
  case TransportKind::window:
    return use(window_);
  case TransportKind::reno:
  case TransportKind::dctcp:
    return use(reno_);
  case TransportKind::pfabric:
    return use(pfabric_);
  case TransportKind::dlcp:
    return use(dlcp_);
  }
}

ConnectionId PacketNetwork::open(const ConnectionSpec& spec) {
  const ConnectionId id = open_connection(core_, spec);
  with_transport(core_.connections[id].kind, [&](auto& transport) {
    if constexpr (requires { transport.open(core_, id); }) {
      transport.open(core_, id);
    }
  });
  return id;
}

// The start is an event of its own, so that messages handed over ahead of time start in order.
MessageId PacketNetwork::hand_over(const MessageSpec& spec) {
  const MessageId id = add_message(core_, spec);
  core_.push_timer(TimerKind::ready, spec.connection, id, spec.start);
  return id;
}

Picoseconds PacketNetwork::next_time() {
  if (!core_.to_start.empty()) {
    return core_.now;
  }
  return core_.events.empty() ? kNeverPs : core_.events.next_time();
}

bool PacketNetwork::advance(Picoseconds until, std::vector<MessageId>& done) {
  const bool any = go_on(until, done);
  if (!any && next_time() == kNeverPs) {
    check_end();
  }
  return any;
}

// At each instant: all events, in the order of their keys, then the ports that may start sending. A
// port that starts makes events of later instants only.
bool PacketNetwork::go_on(Picoseconds until, std::vector<MessageId>& done) {
  while (true) {
    if (!core_.events.any_at(core_.now)) {
      if (!core_.to_start.empty() && core_.now < until) {
        core_.start_ports();
        continue;
      }
      if (core_.events.empty() || !core_.to_start.empty()) {
        return false;
      }
      const Picoseconds time = core_.events.next_time();
      assert(time > core_.now && "nothing of this instant is forgotten");
      if (time > until) {
        return false;
      }
      if (time > limit_ && core_.unfinished > 0) {
        throw SimulationError(fmt::format("the simulated time passed the limit of {} s: {}",
                                          options_.simulated_s, unfinished_names()));
      }
      if (core_.event_count - core_.last_delivery > kMostInVain && core_.unfinished > 0) {
        throw SimulationError("nothing new was delivered in " + std::to_string(kMostInVain) +
                              " events, because packets drop each other: " + unfinished_names());
      }
      core_.now = time;
    }
    const PacketEvent event = core_.events.pop();
    assert(event.time == core_.now && "time never decreases");
    handle(event);
    if (!core_.done.empty()) {
      done.insert(done.end(), core_.done.begin(), core_.done.end());
      core_.done.clear();
      return true;
    }
  }
}

void PacketNetwork::handle(const PacketEvent& event) {
  ++core_.event_count;
  switch (class_of(event.key)) {
  case EventClass::end: {
    const std::uint32_t left = core_.end(event.id);
    if (left != kNone) {
      const Packet packet = core_.pool[left];
      dlcp_.transmitted(core_, packet);
    }
    break;
  }
  case EventClass::arrival:
    arrive(event.id);
    break;
  case EventClass::timer:
    timer(event);
    break;
  }
}

void PacketNetwork::timer(const PacketEvent& event) {
  const std::uint32_t index = event.id & ((1U << kTimerIndexBits) - 1);
  switch (static_cast<TimerKind>(event.id >> kTimerIndexBits)) {
  case TimerKind::ready:
    ready(index);
    break;
  case TimerKind::retransmit:
    reno_.timer(core_, index);
    break;
  case TimerKind::expiry:
    pfabric_.timer(core_, index);
    break;
  case TimerKind::pace:
    dlcp_.pace(core_, index);
    break;
  case TimerKind::probe:
    dlcp_.probe_again(core_, index);
    break;
  }
}

// A message without packets, or within one host, is complete at once.
void PacketNetwork::ready(MessageId message) {
  const Connection& connection = core_.connections[core_.specs[message].connection];
  if (core_.results[message].packets == 0 || connection.src == connection.dst) {
    MessageResult& result = core_.results[message];
    result.delivered_packets = result.packets;
    result.delivered_bytes = result.size_bytes;
    core_.complete(message);
    return;
  }
  with_transport(connection.kind, [&](auto& transport) { transport.ready(core_, message); });
}

// A packet that has ended gives its place back before its transport may send others.
void PacketNetwork::arrive(std::uint32_t index) {
  const Arrival arrival = core_.arrive(index);
  if (arrival.what == Arrival::What::forwarded) {
    return;
  }
  const Packet packet = core_.pool[arrival.packet];
  core_.pool.give_back(arrival.packet);
  if (arrival.what == Arrival::What::delivered) {
    delivered(packet);
  } else if (packet.kind == PacketKind::data) {
    lost(packet);
  }
}

void PacketNetwork::delivered(const Packet& packet) {
  with_transport(core_.connections[packet.connection].kind,
                 [&](auto& transport) { transport.delivered(core_, packet); });
}

// Of the reliable transports nobody learns of a loss but by waiting.
void PacketNetwork::lost(const Packet& packet) {
  const TransportKind kind = core_.connections[packet.connection].kind;
  with_transport(kind, [&](auto& transport) {
    if constexpr (requires { transport.lost(core_, packet); }) {
      transport.lost(core_, packet);
    }
  });
  blocked_ = blocked_ || kind == TransportKind::window;
}

// Nothing will happen any more. What is not complete now never will be.
void PacketNetwork::check_end() const {
  assert(core_.nothing_in_flight() && "sent = delivered + dropped + vanished");
  assert(core_.waiting_ports_busy() && "no packet waits at an idle port");
  if (core_.unfinished > 0) {
    throw SimulationError("nothing is left to happen, but " + unfinished_names());
  }
}

// The first ten of them, with how far they came.
std::string PacketNetwork::unfinished_names() const {
  std::string text = fmt::format("{} messages are not complete:", core_.unfinished);
  std::uint64_t named = 0;
  for (MessageId id = 0; id < core_.results.size() && named < 10; ++id) {
    const MessageResult& result = core_.results[id];
    if (!result.settled) {
      const Connection& connection = core_.connections[core_.specs[id].connection];
      text += fmt::format("{} message {} from host {} to host {} ({} of {} packets)",
                          named++ == 0 ? "" : ",", id, connection.src, connection.dst,
                          result.delivered_packets, result.packets);
    }
  }
  return text + (core_.unfinished > named ? ", ..." : "");
}

// Flows of the list are added before anything runs, with their starts in the future.
PacketFlowsResult run_packet_flows(const Fabric& fabric, const Routes& routes,
                                   const PacketOptions& options, std::span<const PacketFlow> flows,
                                   const BackgroundOptions& background) {
  PacketNetwork network(fabric, routes, options);
  for (std::uint32_t number = 0; number < flows.size(); ++number) {
    const PacketFlow& flow = flows[number];
    const ConnectionId connection =
        network.open({.src = flow.src, .dst = flow.dst, .number = number, .path = flow.path});
    network.hand_over({.connection = connection,
                       .size_bytes = flow.size_bytes,
                       .queue = flow.queue,
                       .loss_bound = flow.loss_bound,
                       .drop_rule = flow.drop_rule,
                       .start = to_picoseconds(flow.start_s)});
  }
  BackgroundArrivals arrivals(fabric, background, options.seed);
  if (arrivals.none()) {
    std::vector<MessageId> done;
    while (network.advance(kNeverPs, done)) {
      done.clear();
    }
  } else {
    run_with_background(network, arrivals, options, background, flows.size());
  }
  PacketFlowsResult result;
  for (MessageId message = 0; message < network.messages(); ++message) {
    (message < flows.size() ? result.flows : result.background).push_back(network.result(message));
  }
  for (LinkId link = 0; link < fabric.links.size(); ++link) {
    result.links.push_back(network.link(link));
  }
  for (std::size_t each = 0; each < kDropClasses; ++each) {
    result.classes[each] = network.data_counts(static_cast<DropClass>(each));
  }
  result.end = network.now();
  result.events = network.events();
  result.packet_hops = network.packet_hops();
  return result;
}

} // namespace stepsim::links
