#pragma once
// The flow level as the network that collectives pull: a transfer between two ranks is a flow on
// the path of their connection. The latency of the path comes on top of the transfer's own, and
// 1 / per_byte_s is the flow's cap, so a collective whose links cost nothing sees the fabric alone.
//
// The connection from rank src to rank dst has the number that rank_fabric.hpp tells. Transfers
// between ranks of one host take their own latency and per-byte cost only; other transfers also
// carry headers, where the fabric counts them. Memory O(connections used x links on their paths).
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "net/fabric/rank_fabric.hpp"
#include "net/flow/flow_level.hpp"
#include "net/network_model.hpp"

namespace stepsim::net {

// The path of the connection of two ranks; without links where they share a host.
[[nodiscard]] FlowPath rank_path(const RankFabric& ranks, std::uint32_t src, std::uint32_t dst);

class FlowNetwork {
public:
  explicit FlowNetwork(RankFabric ranks);

  void submit(double now, const Transfer& transfer);
  // Throws SimulationError naming up to 10 transfers if some will never end.
  [[nodiscard]] double next_time();
  void advance(double now, std::vector<std::uint32_t>& done) { level_.advance(now, done); }

  // Time until the first byte of a transfer flows, s: its own latency and that of the path.
  [[nodiscard]] double latency_s(const Transfer& transfer);
  [[nodiscard]] std::size_t paths() const { return ranks_.size(); } // connections used so far
  [[nodiscard]] const FlowLevel& level() const { return level_; }

private:
  struct Ranks {
    std::uint32_t src, dst;
  };
  [[nodiscard]] std::uint32_t path(Ranks ranks);
  void refuse_stalled();

  RankFabric fabric_;
  FlowLevel level_;
  std::unordered_map<std::uint64_t, std::uint32_t> paths_; // by connection; looked up only
  std::vector<Ranks> ranks_;                               // [path]
  struct LastPath {
    std::uint32_t dst = ~std::uint32_t{0}, path{};
  };
  std::vector<LastPath> last_; // [src]: a rank often sends to the same one again
};

static_assert(NetworkModel<FlowNetwork>);

} // namespace stepsim::net
