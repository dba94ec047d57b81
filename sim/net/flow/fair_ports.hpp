#pragma once
// Transfers that share ports (network interfaces, server ports): latency first, without holding
// anything, then the bytes at the max-min fair rate over the ports on the path. Rates change
// whenever a transfer begins or ends its bytes; the solver is `max_min`. A transfer ends when its
// bytes are through; ends that lie within 1e-12 of a transfer's duration after the current time
// count as now, so that symmetric transfers end together.
#include <cstddef>
#include <vector>

#include "engine/event_queue.hpp"
#include "net/network_model.hpp"

namespace stepsim::net {

class FairPorts {
public:
  explicit FairPorts(std::vector<double> capacity_Bps) : capacities_(std::move(capacity_Bps)) {}

  void submit(double now, const Transfer& transfer);
  [[nodiscard]] double next_time(); // solves for the rates if transfers came or went
  void advance(double now, std::vector<std::uint32_t>& done);

private:
  struct Flow {
    Transfer transfer;
    double begin{};     // of its bytes
    double since{};     // `remaining` is as of then
    double remaining{}; // bytes
    double rate_Bps{};
    double finish{};
  };
  void begin_bytes(double now, const Transfer& transfer);
  void solve();

  std::vector<double> capacities_;    // bytes/s
  engine::EventQueue<double> begins_; // ends of latencies, by place in waiting_
  std::vector<Transfer> waiting_;
  std::vector<std::uint32_t> free_places_;
  std::vector<Flow> flows_; // whose bytes are under way
  bool stale_ = false;      // rates do not fit flows_
  double now_ = 0;
  double next_finish_ = kNever;
};

static_assert(NetworkModel<FairPorts>);

} // namespace stepsim::net
