#pragma once
// The flow level as a NetworkModel for collectives: a transfer between two ranks is a flow on the
// path of their connection, which placement.hpp numbers. The latency of the path is added to the
// transfer's own, and 1 / per_byte_s is the cap of the flow, so a collective whose links cost
// nothing takes the time of the fabric alone.
//
// Transfers between ranks of one host take only their own latency and time per byte. The others
// also carry headers if RankFabric::headers is set. Memory O(connections used x links on their
// paths).
#include <unordered_map>

#include "links/fabric/placement.hpp"
#include "links/network_model.hpp"

namespace stepsim::links {

// Returns the path of the connection of two ranks; without links if both are on one host.
[[nodiscard]] FlowPath rank_path(const RankFabric& ranks, std::uint32_t src, std::uint32_t dst);

class FlowNetwork {
public:
  explicit FlowNetwork(RankFabric ranks);

  void submit(double now, const Transfer& transfer);
  // Returns the time of the next change. Throws SimulationError naming up to 10 transfers if some
  // will never end.
  [[nodiscard]] double next_time();
  void advance(double now, std::vector<std::uint32_t>& done) { level_.advance(now, done); }

  // Returns the seconds until the first byte of a transfer flows: its own latency and that of the
  // path.
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
  std::unordered_map<std::uint64_t, std::uint32_t> paths_; // [connection] path; never iterated
  std::vector<Ranks> ranks_;                               // [path]
  struct LastPath {
    std::uint32_t dst = ~std::uint32_t{0}, path{};
  };
  std::vector<LastPath> last_; // [src]: a rank often sends to the same rank again
};

static_assert(NetworkModel<FlowNetwork>);

} // namespace stepsim::links
