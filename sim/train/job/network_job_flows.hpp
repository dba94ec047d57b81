#pragma once
// The messages of jobs at the flow level: each is a flow through the fabric. Both levels have one
// interface (network_job_packets.hpp is the other):
//   hand_over(now, job, message)   it starts; the id of the message
//   advance(until, done)           on to the next completions (ids), at most to `until`; the time
//   quiet()                        nothing will happen any more
//   fill(id, job, message)         what became of it, after the run
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "net/flow/flow_level.hpp"
#include "net/network_model.hpp"
#include "train/job/network_job.hpp"

namespace stepsim::train {

// The messages of a connection and queue flow one after the other, without a gap: the latency of
// the path is that of the first byte.
class FlowMessages {
public:
  // Both outlive this.
  FlowMessages(const JobNetwork& network, std::span<const NetworkJob> jobs);

  std::uint32_t hand_over(double now, std::uint32_t job, const JobMessage& message);
  double advance(double until, std::vector<std::uint32_t>& done);
  [[nodiscard]] bool quiet() { return level_.next_time() == net::kNever; }
  void drain() {}
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
    std::uint32_t channel{}, next = kNone; // of the channel
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
  std::unordered_map<std::uint64_t, std::uint32_t> channel_of_; // connection and class; looked up
  std::vector<Underway> messages_;
};

} // namespace stepsim::train
