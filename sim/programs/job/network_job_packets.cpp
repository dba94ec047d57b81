// Messages of jobs at the packet level, and the background load beside them.
#include "programs/job/network_job_flows.hpp"

namespace stepsim::programs {

namespace {

// One limit of simulated time for jobs and network.
links::PacketOptions options_of(const JobNetwork& network) {
  links::PacketOptions options = *network.packet;
  options.simulated_s = network.simulated_limit_s;
  return options;
}

// Which packets hold small values is drawn per iteration, worker and tensor, so that repeating a
// run drops the same ones.
links::DropRule drop_rule(const JobMessage& message, const MessageClass& of) {
  links::DropRule rule;
  const bool keep = of.keep_parameters && message.part == MessagePart::parameter;
  if (!keep &&
      (of.small != links::DropClass::protected_ || of.large != links::DropClass::protected_)) {
    rule.kind = links::DropRule::Kind::by_size;
    rule.small = of.small;
    rule.large = of.large;
    rule.large_fraction = of.large_fraction;
    rule.iteration = static_cast<std::uint64_t>(message.iteration);
    rule.worker = message.src;
    rule.tensor = message.piece;
  }
  return rule;
}

} // namespace

PacketMessages::PacketMessages(const JobNetwork& network, std::span<const NetworkJob> jobs)
    : network_(network), jobs_(jobs), first_connections_(first_connections(jobs)),
      packets_(network.fabric->fabric, network.fabric->routes, options_of(network)),
      arrivals_(network.fabric->fabric, network.background, network.packet->seed),
      next_connection_(first_connections_.back()) {}

// Opened at the first message; its window then lasts for the whole run.
links::ConnectionId PacketMessages::connection(std::uint32_t job, const JobMessage& message) {
  const std::vector<links::NodeId>& hosts = jobs_[job].hosts;
  const std::uint64_t number =
      connection_number(jobs_[job].hosts.size(), first_connections_[job], message);
  const auto [found, is_new] = connections_.try_emplace(number, 0);
  if (is_new) {
    found->second = packets_.open({.src = hosts[message.src],
                                   .dst = hosts[message.dst],
                                   .number = static_cast<std::uint32_t>(number)});
  }
  return found->second;
}

std::uint32_t PacketMessages::hand_over(double now, std::uint32_t job, const JobMessage& message) {
  const MessageClass& of = jobs_[job].pieces[message.piece].message_class;
  return packets_.hand_over({.connection = connection(job, message),
                             .size_bytes = message.size_bytes,
                             .queue = of.queue,
                             .loss_bound = loss_bound(jobs_[job], message),
                             .drop_rule = drop_rule(message, of),
                             .start = std::max(links::to_picoseconds(now), packets_.now())});
}

// The background ends with the jobs' limit, and when a message can never complete: it would go on
// for ever.
links::Picoseconds PacketMessages::next_arrival() const {
  return no_more_arrivals() || arrivals_.next_s() > network_.simulated_limit_s
             ? links::kNeverPs
             : links::to_picoseconds(arrivals_.next_s());
}

// Background flows have numbers behind those of all jobs: a path by hash is drawn for each anew.
void PacketMessages::take_arrival() {
  const links::BackgroundFlow flow = arrivals_.take();
  const links::ConnectionId connection =
      packets_.open({.src = flow.src,
                     .dst = flow.dst,
                     .number = static_cast<std::uint32_t>(next_connection_++),
                     .kind = network_.background.transport});
  background_.push_back(packets_.hand_over({.connection = connection,
                                            .size_bytes = flow.bytes,
                                            .start = links::to_picoseconds(flow.start_s)}));
}

// Completions of background flows are not the jobs' concern.
double PacketMessages::advance(double until, std::vector<std::uint32_t>& done) {
  const links::Picoseconds last = links::to_picoseconds(until);
  while (true) {
    const links::Picoseconds arrival = next_arrival();
    if (packets_.go_on(std::min(last, arrival), done)) {
      std::erase_if(done, [&](std::uint32_t id) {
        return std::binary_search(background_.begin(), background_.end(), id);
      });
      if (!done.empty()) {
        return packets_.now() == last ? until : links::to_seconds(packets_.now());
      }
    } else if (arrival <= last) {
      take_arrival();
    } else {
      return until;
    }
  }
}

// Packets that are still under way count as delivered or lost, so that the totals of links add up.
void PacketMessages::drain() {
  std::vector<links::MessageId> done;
  while (no_more_arrivals() && packets_.advance(links::kNeverPs, done)) {
    done.clear();
  }
}

void PacketMessages::fill(std::uint32_t id, std::uint32_t /*job*/, JobMessage& message) const {
  const links::MessageResult& result = packets_.result(id);
  message.start_s = links::to_seconds(result.start);
  message.end_s = links::to_seconds(result.end);
  message.delivered_bytes = result.delivered_bytes;
  message.lost_network_bytes = result.lost_network_bytes;
  message.lost_stopped_bytes = result.lost_stopped_bytes();
  message.wasted_bytes = result.wasted_bytes;
  message.packets = result.packets;
  message.delivered_packets = result.delivered_packets;
  message.retransmissions = result.retransmissions;
  message.timeouts = result.timeouts;
  message.duplicates = result.duplicates;
  message.probe_rounds = result.probe_rounds;
}

void PacketMessages::fill(JobsResult& result) const {
  for (links::LinkId link = 0; link < network_.fabric->fabric.links.size(); ++link) {
    const links::LinkCounters& counters = packets_.link(link);
    result.link_counters.push_back(counters);
    result.links.push_back({static_cast<double>(counters.bytes), links::to_seconds(counters.busy)});
  }
  result.events = packets_.events();
  result.packet_hops = packets_.packet_hops();
}

} // namespace stepsim::programs
