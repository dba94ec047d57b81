#pragma once
// The messages of jobs at the flow level: each is a flow through the fabric. Both levels have one
// interface (network_job_packets.hpp is the other):
//   hand_over(now, job, message)   gives a message to the network and returns its id; the message
//                                  may wait for earlier ones of its connection
//   advance(until, done)           goes on to the next completions, at most to `until`; writes the
//                                  ids of the messages into `done`, which must be empty, and
//                                  returns the time
//   quiet()                        whether nothing will happen any more
//   drain()                        after the run, carries what is still under way to its end
//   fill(id, job, message)         sets delivered and lost bytes of a message, after the run
//   fill(result)                   sets the use of links and the counts of events
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "net/flow/flow_level.hpp"
#include "net/network_model.hpp"
#include "train/job/network_job.hpp"

namespace stepsim::train {

// Messages of one connection and queue share a channel and flow one after the other, without a gap:
// the bytes of a message that has waited for longer than the latency of the path flow at once.
class FlowMessages {
public:
  // Both outlive this.
  FlowMessages(const JobNetwork& network, std::span<const NetworkJob> jobs);

  std::uint32_t hand_over(double now, std::uint32_t job, const JobMessage& message);
  double advance(double until, std::vector<std::uint32_t>& done);
  [[nodiscard]] bool quiet() { return level_.next_time() == net::kNever; }
  void drain() {} // no flow outlives the jobs: there are no background flows, ACKs or duplicates
  void fill(std::uint32_t id, std::uint32_t job, JobMessage& message) const;
  void fill(JobsResult& result) const;

private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct Channel { // one connection and queue
    std::uint32_t path{}, priority{};
    double latency_s{};
    std::uint32_t last = kNone; // message handed over and not complete
  };
  struct Underway { // [message]
    double bytes{}, handed_over_s{};
    std::uint32_t channel{}, next = kNone; // the message behind it on the channel
  };
  [[nodiscard]] std::uint32_t channel(std::uint32_t job, const JobMessage& message);
  [[nodiscard]] double carried_part(std::uint32_t job, const JobMessage& message) const;
  void start(double now, std::uint32_t id);

  const JobNetwork& network_;
  std::span<const NetworkJob> jobs_;
  std::vector<std::uint64_t> first_connections_;
  std::vector<std::uint8_t> queues_; // in use, ascending: the classes of the level
  net::FlowLevel level_;
  std::vector<Channel> channels_;
  // By connection number and class; looked up only, so its order reaches no output.
  std::unordered_map<std::uint64_t, std::uint32_t> channel_of_;
  std::vector<Underway> messages_;
};

} // namespace stepsim::train
