#pragma once
// Transfers that share ports (network interfaces, server ports). A transfer waits for its latency
// without using a port; then its bytes flow at the max-min fair rate over its ports (max_min.hpp),
// at most 1 / per_byte_s. Rates change whenever the bytes of a transfer begin or end. A transfer
// ends when all of its bytes are sent. If one transfer ends now, so do all others whose remaining
// time is at most 1e-12 of the time that their bytes take, because they differ by rounding only.
#include <cstddef>
#include <vector>

#include "engine/event_queue.hpp"
#include "net/network_model.hpp"

namespace stepsim::net {

class FairPorts {
public:
  explicit FairPorts(std::vector<double> capacity_Bps) : capacities_(std::move(capacity_Bps)) {}

  void submit(double now, const Transfer& transfer);
  [[nodiscard]] double next_time(); // computes rates if transfers began or ended
  void advance(double now, std::vector<std::uint32_t>& done);

private:
  struct Flow {
    Transfer transfer;
    double begin{};     // when its bytes begin
    double since{};     // time at which `remaining` was right
    double remaining{}; // bytes
    double rate_Bps{};
    double finish{};
  };
  void begin_bytes(double now, const Transfer& transfer);
  void solve();

  std::vector<double> capacities_;    // bytes/s
  engine::EventQueue<double> begins_; // ends of latencies; ids are indices in waiting_
  std::vector<Transfer> waiting_;
  std::vector<std::uint32_t> free_places_;
  std::vector<Flow> flows_; // transfers whose bytes flow
  bool stale_ = false;      // rates must be recomputed for flows_
  double now_ = 0;
  double next_finish_ = kNever;
};

static_assert(NetworkModel<FairPorts>);

} // namespace stepsim::net
