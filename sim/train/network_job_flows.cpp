// Messages of jobs at the flow level.
#include <algorithm>
#include <cmath>

#include "net/flow_path.hpp"
#include "train/network_job_messages.hpp"

namespace stepsim::train {

namespace {

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

} // namespace

std::vector<std::uint64_t> first_connections(std::span<const NetworkJob> jobs) {
  std::vector<std::uint64_t> first{0};
  for (const NetworkJob& job : jobs) {
    first.push_back(first.back() + job.hosts.size() * job.hosts.size());
  }
  return first;
}

FlowMessages::FlowMessages(const JobNetwork& network, std::span<const NetworkJob> jobs)
    : network_(network), jobs_(jobs), first_connections_(first_connections(jobs)),
      queues_(queues_of(jobs)), level_(net::link_capacities(network.fabric->fabric),
                                       std::max(1U, static_cast<std::uint32_t>(queues_.size()))) {}

std::uint32_t FlowMessages::path(std::uint32_t job, std::uint32_t src, std::uint32_t dst) {
  const std::vector<net::NodeId>& hosts = jobs_[job].hosts;
  const std::uint64_t number = first_connections_[job] + std::uint64_t{src} * hosts.size() + dst;
  const auto [found, is_new] = paths_.try_emplace(number, 0);
  if (is_new) {
    const net::RoutedFabric& on = *network_.fabric;
    const net::FlowPathOptions& options = network_.flow.paths;
    found->second = level_.add_path(
        options.spray ? net::sprayed_path(on.fabric, on.routes, hosts[src], hosts[dst])
                      : net::single_path(on.fabric, on.routes.ecmp_path(hosts[src], hosts[dst],
                                                                        number, options.seed)));
  }
  return found->second;
}

// Without headers: size need / n where the receiver stops the rest (PKT 6.4).
double FlowMessages::carried_bytes(std::uint32_t job, const JobMessage& message) const {
  const auto size = static_cast<double>(message.size_bytes);
  const auto payload = static_cast<std::int64_t>(network_.early_stop_payload);
  if (payload == 0) {
    return size;
  }
  const auto packets = static_cast<std::uint32_t>((message.size_bytes + payload - 1) / payload);
  return size * net::packets_needed(packets, loss_bound(jobs_[job], message)) / packets;
}

std::uint32_t FlowMessages::hand_over(double now, std::uint32_t job, const JobMessage& message) {
  const std::uint8_t queue = jobs_[job].pieces[message.piece].message_class.queue;
  const auto place = std::lower_bound(queues_.begin(), queues_.end(), queue) - queues_.begin();
  level_.submit(now, {.id = messages_,
                      .path = path(job, message.src, message.dst),
                      .bytes = carried_bytes(job, message) * network_.flow.wire_per_payload,
                      .priority = static_cast<std::uint32_t>(place)});
  return messages_++;
}

double FlowMessages::advance(double until, std::vector<std::uint32_t>& done) {
  while (done.empty()) {
    const double next = level_.next_time();
    if (next > until) {
      return until;
    }
    level_.advance(next, done);
    if (!done.empty()) {
      return next;
    }
  }
  return until;
}

void FlowMessages::fill(std::uint32_t /*id*/, std::uint32_t job, JobMessage& message) const {
  message.delivered_bytes = std::llround(carried_bytes(job, message));
  message.lost_stopped_bytes = message.size_bytes - message.delivered_bytes;
}

void FlowMessages::fill(JobsResult& result) const {
  result.links = level_.link_use(result.elapsed_s);
  result.events = 2 * std::uint64_t{messages_}; // begins and ends
}

} // namespace stepsim::train
