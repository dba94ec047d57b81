#pragma once
// Sends the messages of jobs at the flow level: each message is a flow through the fabric. The
// class for the packet level below has the same interface:
//   hand_over(now, job, message)   gives a message to the network and returns its id; the message
//                                  may wait for earlier ones of its connection
//   advance(until, done)           simulates to the next completions, at most to `until`; writes
//                                  the ids of the messages into `done`, which must be empty, and
//                                  returns the time
//   quiet()                        whether no further event will happen
//   drain()                        after the run, simulates to the end of all traffic in flight
//   fill(id, job, message)         sets delivered and lost bytes of a message, after the run
//   fill(result)                   sets the use of links up to result.elapsed_s, and the counts of
//                                  events
#include <unordered_map>

#include "links/network_model.hpp"
#include "links/packet/packet_network.hpp"
#include "programs/job/network_job.hpp"

namespace stepsim::programs {

// Messages of one connection and queue share a channel and flow one after the other. There is no
// gap between them: if a message has waited for longer than the latency of the path, its bytes flow
// at once.
class FlowMessages {
public:
  // Both arguments must outlive the object.
  FlowMessages(const JobNetwork& network, std::span<const NetworkJob> jobs);

  std::uint32_t hand_over(double now, std::uint32_t job, const JobMessage& message);
  double advance(double until, std::vector<std::uint32_t>& done);
  [[nodiscard]] bool quiet() { return level_.next_time() == kNever; }
  void drain() {} // no flow remains: there are no background flows, ACKs or duplicates
  void fill(std::uint32_t id, std::uint32_t job, JobMessage& message) const;
  void fill(JobsResult& result) const;

private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct Channel { // one connection and queue
    std::uint32_t path{}, priority{};
    double latency_s{};
    std::uint32_t last = kNone; // the newest message that is not complete
  };
  struct Underway { // [message]
    double bytes{}, stretch{}, handed_over_s{};
    std::uint32_t channel{}, next = kNone; // next: the following message on the channel
  };
  [[nodiscard]] std::uint32_t channel(std::uint32_t job, const JobMessage& message);
  [[nodiscard]] double carried_part(std::uint32_t job, const JobMessage& message) const;
  void start(double now, std::uint32_t id);

  const JobNetwork& network_;
  std::span<const NetworkJob> jobs_;
  std::vector<std::uint64_t> first_connections_;
  std::vector<std::uint8_t> queues_; // queues in use, ascending; their indices are the classes
  links::FlowLevel level_;
  std::vector<Channel> channels_;
  // Key: connection number and class. Never iterated, so that its order affects no output.
  std::unordered_map<std::uint64_t, std::uint32_t> channel_of_;
  std::vector<Underway> messages_;
};

// Sends the messages of jobs at the packet level, next to background flows. network_job_flows.hpp
// describes the interface.

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
