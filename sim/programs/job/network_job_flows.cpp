// A message is a flow from its hand-over to its last byte. Messages of one connection and queue
// share a channel and follow one another on it, as they would in one TCP connection.

#include "programs/job/network_job_flows.hpp"

#include "programs/job/network_job_program.hpp"

namespace stepsim::programs {

namespace {

// Queues in use become classes 0, 1, .. of the flow level: it costs memory per class.
std::vector<std::uint8_t> queues_of(std::span<const NetworkJob> jobs) {
  std::vector<std::uint8_t> queues;
  for (const NetworkJob& job : jobs) {
    for (const JobPiece& piece : job.pieces) {
      queues.push_back(piece.message_class.queue);
    }
  }
  std::sort(queues.begin(), queues.end());
  queues.erase(std::unique(queues.begin(), queues.end()), queues.end());
  return queues;
}

// Messages of jobs at the packet level, and the background load beside them.

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

std::uint32_t NetworkJob::communicators() const {
  return servers ? 1 : std::max<std::uint32_t>(1, exchange_streams(program->program).count);
}

std::vector<std::uint64_t> first_connections(std::span<const NetworkJob> jobs) {
  std::vector<std::uint64_t> first{0};
  for (const NetworkJob& job : jobs) {
    first.push_back(first.back() + job.communicators() * job.hosts.size() * job.hosts.size());
  }
  return first;
}

FlowMessages::FlowMessages(const JobNetwork& network, std::span<const NetworkJob> jobs)
    : network_(network), jobs_(jobs), first_connections_(first_connections(jobs)),
      queues_(queues_of(jobs)), level_(links::link_capacities(network.fabric->fabric),
                                       std::max(1U, static_cast<std::uint32_t>(queues_.size()))) {}

// Made at the first message: the path is that of the connection's number, as at the packet level.
std::uint32_t FlowMessages::channel(std::uint32_t job, const JobMessage& message) {
  const std::vector<links::NodeId>& hosts = jobs_[job].hosts;
  const std::uint64_t number =
      connection_number(jobs_[job].hosts.size(), first_connections_[job], message);
  const std::uint8_t queue = jobs_[job].pieces[message.piece].message_class.queue;
  const auto priority = static_cast<std::uint32_t>(
      std::lower_bound(queues_.begin(), queues_.end(), queue) - queues_.begin());
  const auto [found, is_new] = channel_of_.try_emplace(
      number * queues_.size() + priority, static_cast<std::uint32_t>(channels_.size()));
  if (is_new) {
    const links::RoutedFabric& on = *network_.fabric;
    const links::FlowPathOptions& options = network_.flow.paths;
    const links::NodeId from = hosts[message.src];
    const links::NodeId to = hosts[message.dst];
    const links::FlowPath path =
        options.spray
            ? links::sprayed_path(on.fabric, on.routes, from, to)
            : links::single_path(on.fabric, on.routes.ecmp_path(from, to, number, options.seed));
    channels_.push_back({level_.add_path(path), priority, path.latency_s});
  }
  return found->second;
}

// need / n, where the receiver stops the rest (PKT 6.4).
double FlowMessages::carried_part(std::uint32_t job, const JobMessage& message) const {
  const auto payload = static_cast<std::int64_t>(network_.early_stop_payload);
  if (payload == 0 || message.size_bytes == 0) {
    return 1;
  }
  const auto packets = static_cast<double>((message.size_bytes + payload - 1) / payload);
  return links::packets_needed(packets, loss_bound(jobs_[job], message)) / packets;
}

// Behind the message that is under way on its channel, if there is one.
std::uint32_t FlowMessages::hand_over(double now, std::uint32_t job, const JobMessage& message) {
  const auto id = static_cast<std::uint32_t>(messages_.size());
  const std::uint32_t on = channel(job, message);
  const double wire = network_.flow.headers.wire(static_cast<double>(message.size_bytes));
  messages_.push_back({wire * carried_part(job, message), message.stretch, now, on});
  const std::uint32_t before = std::exchange(channels_[on].last, id);
  if (before == kNone) {
    start(now, id);
  } else {
    messages_[before].next = id;
  }
  return id;
}

// Its first byte arrives when the latency is over since it was handed over, or now.
void FlowMessages::start(double now, std::uint32_t id) {
  const Underway& message = messages_[id];
  const Channel& channel = channels_[message.channel];
  const double latency_s = message.stretch * channel.latency_s;
  const double passed = std::min(now - message.handed_over_s, latency_s);
  level_.submit(now, {.id = id,
                      .path = channel.path,
                      .bytes = message.bytes,
                      .latency_s = latency_s - channel.latency_s - passed,
                      .priority = channel.priority,
                      .stretch = message.stretch});
}

// Whatever ends makes room for the next message of its channel.
double FlowMessages::advance(double until, std::vector<std::uint32_t>& done) {
  while (done.empty()) {
    const double next = level_.next_time();
    if (next > until) {
      return until;
    }
    level_.advance(next, done);
    for (const std::uint32_t id : done) {
      const Underway& message = messages_[id];
      if (message.next == kNone) {
        channels_[message.channel].last = kNone;
      } else {
        start(next, message.next);
      }
    }
    if (!done.empty()) {
      return next;
    }
  }
  return until;
}

// Nothing is lost at this level; what early stopping leaves out was never sent.
void FlowMessages::fill(std::uint32_t /*id*/, std::uint32_t job, JobMessage& message) const {
  constexpr double kRounding = 1e-6; // of a byte; a part of one counts as delivered
  const double bytes = static_cast<double>(message.size_bytes) * carried_part(job, message);
  message.delivered_bytes = std::llround(std::ceil(bytes - kRounding));
  message.lost_stopped_bytes = message.size_bytes - message.delivered_bytes;
}

void FlowMessages::fill(JobsResult& result) const {
  result.links = level_.link_use(result.elapsed_s);
  result.events = 2 * std::uint64_t{messages_.size()}; // begins and ends
}

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
                             .start = std::max(links::to_picoseconds(now), packets_.now()),
                             .stretch = message.stretch});
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
      std::erase_if(done,
                    [&](std::uint32_t id) { return std::ranges::binary_search(background_, id); });
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
