#pragma once
// Transfers that share ports (network interfaces, server ports). A transfer waits for its latency
// without using a port; then its bytes flow at the max-min fair rate over its ports (max_min.hpp),
// at most 1 / per_byte_s. Rates change whenever the bytes of a transfer begin or end, and
// are computed again for those transfers alone that the change can reach over shared ports. A
// transfer ends when all of its bytes are sent. If one transfer ends now, so do all others whose
// remaining time is at most 1e-12 of the time that their bytes take, because they differ by
// rounding only.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/event_queue.hpp"
#include "net/network_model.hpp"

namespace stepsim::net {

class FairPorts {
public:
  explicit FairPorts(std::vector<double> capacity_Bps);

  void submit(double now, const Transfer& transfer);
  [[nodiscard]] double next_time(); // computes rates if transfers began or ended
  void advance(double now, std::vector<std::uint32_t>& done);

private:
  struct Flow {
    Transfer transfer;
    std::uint64_t number{}; // 1, 2, .. in the order in which bytes began; 0 = the place is free
    double begin{};         // when its bytes begin
    double since{};         // time at which `remaining` was right
    double remaining{};     // bytes
    double rate_Bps{};
    double finish{};
  };
  // When a flow ends at its present rate; out of date if the flow has another number or finish.
  struct End {
    double finish{};
    std::uint64_t number{};
    std::uint32_t flow{};
  };
  void begin_bytes(double now, const Transfer& transfer);
  void end_bytes(std::uint32_t flow);
  void end_flows(double now, std::vector<std::uint32_t>& done);
  void solve();
  void gather(std::uint32_t flow);
  void gather_changed();
  void set_rates(std::span<const double> rates);
  [[nodiscard]] bool is_current(const End& end) const;
  template <class Action> void for_ports(const Transfer& transfer, const Action& action) {
    for (const std::uint32_t port : {transfer.send_port, transfer.receive_port}) {
      if (port != kNoPort) {
        action(port);
      }
    }
  }

  std::vector<double> capacities_;    // bytes/s
  engine::EventQueue<double> begins_; // ends of latencies; ids are indices in waiting_
  std::vector<Transfer> waiting_;
  std::vector<std::uint32_t> free_places_;
  std::vector<Flow> flows_; // transfers whose bytes flow, and free places
  std::vector<std::uint32_t> free_flows_;
  std::vector<std::vector<std::uint32_t>> flows_at_; // [ports] indices in flows_
  std::vector<End> ends_;                            // heap, the earliest end first
  std::uint64_t begun_ = 0;
  // Where flows began or ended since rates were computed: ports, and flows without a port.
  std::vector<std::uint32_t> changed_ports_, changed_flows_;
  // What solve() reaches from there over shared ports; the stamps say what it has seen already.
  std::vector<std::uint32_t> reached_ports_, reached_flows_, local_port_;
  std::vector<std::uint64_t> port_seen_, flow_seen_;
  std::uint64_t solved_ = 0;
  double now_ = 0;
  double next_finish_ = kNever;
};

static_assert(NetworkModel<FairPorts>);

} // namespace stepsim::net
