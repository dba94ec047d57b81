#pragma once
// Sends the messages of jobs at the packet level, next to background flows. network_job_flows.hpp
// describes the interface.
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "links/packet/packet_network.hpp"
#include "programs/job/network_job.hpp"

namespace stepsim::programs {

class PacketMessages {
public:
  PacketMessages(const JobNetwork& network, std::span<const NetworkJob> jobs);

  std::uint32_t hand_over(double now, std::uint32_t job, const JobMessage& message);
  double advance(double until, std::vector<std::uint32_t>& done);
  [[nodiscard]] bool quiet() {
    return no_more_arrivals() && packets_.next_time() == links::kNeverPs;
  }
  // Simulates until no packet is in flight, so that the counters of links have every packet as
  // delivered or lost. Does nothing while background flows still arrive.
  void drain();
  void fill(std::uint32_t id, std::uint32_t job, JobMessage& message) const;
  void fill(JobsResult& result) const;

private:
  [[nodiscard]] links::ConnectionId connection(std::uint32_t job, const JobMessage& message);
  [[nodiscard]] bool no_more_arrivals() const { return arrivals_.none() || packets_.blocked(); }
  [[nodiscard]] links::Picoseconds next_arrival() const;
  void take_arrival();

  const JobNetwork& network_;
  std::span<const NetworkJob> jobs_;
  std::vector<std::uint64_t> first_connections_;
  links::PacketNetwork packets_;
  links::BackgroundArrivals arrivals_;
  // By the connection number of a message (network_job.hpp). Never iterated, because the order of
  // this container must not reach a result.
  std::unordered_map<std::uint64_t, links::ConnectionId> connections_;
  std::vector<links::MessageId> background_; // ascending
  std::uint64_t next_connection_;            // number of the next background flow
};

} // namespace stepsim::programs
