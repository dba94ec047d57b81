// Runs a list of flows as messages of one network, each on a connection of its own. Background
// flows are drawn while the run lasts, since nobody knows beforehand for how long they are needed.
#include "links/packet/packet_flows.hpp"

namespace stepsim::links {

namespace {

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
