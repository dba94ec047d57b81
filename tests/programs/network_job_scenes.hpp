#pragma once
// Small networks and jobs for the tests of training on networks. 10 Gbit/s: a full packet of 1500
// bytes takes tau = 1.2 us and carries 1460.
#include <doctest/doctest.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "links/fabric/presets.hpp"
#include "programs/job/network_job.hpp"
#include "testing/tolerance.hpp"

namespace stepsim::programs {

using stepsim::testing::within;

inline constexpr double kRate = 1.25e9;
inline constexpr double kTauS = 1.2e-6;
inline constexpr std::int64_t kPayload = 1460;

inline JobNetwork on_flows(links::Fabric fabric) {
  JobNetwork network;
  network.fabric = std::make_shared<const links::RoutedFabric>(std::move(fabric));
  return network;
}

// Unlimited buffers, whole fp32 values in packets.
inline JobNetwork on_packets(links::Fabric fabric, links::TransportKind kind) {
  JobNetwork network = on_flows(std::move(fabric));
  network.packet.emplace();
  network.packet->value_bytes = 4;
  network.packet->transport.kind = kind;
  network.packet->buffer.scope = links::BufferScope::unlimited;
  return network;
}

inline JobNetwork star_of_flows(std::uint32_t hosts, double latency_s = 0) {
  return on_flows(links::star(hosts, {latency_s, kRate}));
}

inline JobNetwork star_of_packets(std::uint32_t hosts, double latency_s,
                                  links::TransportKind kind = links::TransportKind::raw) {
  return on_packets(links::star(hosts, {latency_s, kRate}), kind);
}

// One piece per layer with bytes, the last layer first, hosts 0, 1, ...
inline NetworkJob job_of(std::uint32_t workers, std::vector<double> forward_s,
                         std::vector<double> backward_s, const std::vector<std::int64_t>& bytes) {
  NetworkJob job;
  job.forward_s = std::move(forward_s);
  job.backward_s = std::move(backward_s);
  for (std::size_t l = bytes.size(); l-- > 0;) {
    const auto layer = static_cast<std::uint32_t>(l);
    job.pieces.push_back({.first_layer = layer, .last_layer = layer, .bytes = bytes[l]});
  }
  for (const std::int64_t of_layer : bytes) {
    job.gradient_bytes.push_back(static_cast<double>(of_layer));
  }
  job.workers = workers;
  job.hosts.resize(workers);
  std::iota(job.hosts.begin(), job.hosts.end(), 0U);
  return job;
}

// Dedicated servers take the hosts after the workers'.
inline NetworkJob
with_servers(NetworkJob job, std::uint32_t count,
             collectives::Placement placement = collectives::Placement::dedicated) {
  job.servers = JobServers{.count = count, .placement = placement};
  if (placement == collectives::Placement::dedicated) {
    for (std::uint32_t s = 0; s < count; ++s) {
      job.hosts.push_back(job.workers + s);
    }
  }
  return job;
}

inline JobsResult run_job(const JobNetwork& network, const NetworkJob& job) {
  return run_network_jobs(network, {&job, 1});
}

} // namespace stepsim::programs
