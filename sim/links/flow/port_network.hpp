#pragma once
// The flow level as a NetworkModel of ports (network interfaces, server ports): every port is a
// link without latency, and a transfer is a flow over its ports, at most at 1 / per_byte_s.
#include <unordered_map>

#include "links/flow/flow_level.hpp"
#include "links/network_model.hpp"

namespace stepsim::links {

class PortNetwork {
public:
  // Transfers end together if the time between their ends is at most 1e-12 of the time that their
  // bytes take, because they differ by rounding only.
  explicit PortNetwork(std::vector<double> capacity_Bps)
      : level_(std::move(capacity_Bps), 1, kSimultaneous) {}

  void submit(double now, const Transfer& transfer) {
    level_.submit(now, {.id = transfer.id,
                        .path = path(transfer.send_port, transfer.receive_port),
                        .bytes = transfer.bytes,
                        .latency_s = transfer.latency_s,
                        .cap_Bps = transfer.per_byte_s > 0 ? 1 / transfer.per_byte_s : kNever});
  }
  [[nodiscard]] double next_time() { return level_.next_time(); }
  void advance(double now, std::vector<std::uint32_t>& done) { level_.advance(now, done); }

private:
  static constexpr double kSimultaneous = 1e-12;

  [[nodiscard]] std::uint32_t path(std::uint32_t send_port, std::uint32_t receive_port) {
    const auto [found, is_new] =
        paths_.try_emplace(std::uint64_t{send_port} << 32U | receive_port, 0);
    if (is_new) {
      FlowPath path;
      for (const std::uint32_t port : {send_port, receive_port}) {
        if (port != kNoPort) {
          path.links.push_back(port);
        }
      }
      found->second = level_.add_path(path);
    }
    return found->second;
  }

  FlowLevel level_;
  std::unordered_map<std::uint64_t, std::uint32_t> paths_; // [ports]; never iterated
};

static_assert(NetworkModel<PortNetwork>);

} // namespace stepsim::links
