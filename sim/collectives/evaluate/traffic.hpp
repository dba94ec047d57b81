#pragma once
// Counts the bytes and messages of a collective on the wire. They depend on link costs only if the
// best size of blocks or number of chunks is searched (Options::block or Options::pipeline_chunks
// is empty). The schedule is counted, so that unequal parts are exact.
#include <cstdint>
#include <vector>

#include "collectives/collective.hpp"

namespace stepsim::collectives {

struct Traffic {
  double min_per_rank{}; // bytes sent by the rank that sends least
  double max_per_rank{}; // bytes sent by the rank that sends most
  double total{};        // bytes
  std::int64_t steps{};  // rounds on the critical path
  std::uint64_t messages{};
};
// Returns the traffic of the ranks. The sends of dedicated parameter servers are counted in `total`
// and `messages` only.
[[nodiscard]] Traffic traffic(const Collective& collective);

// Returns traffic(collective).max_per_rank, without asking every rank where all send the same.
[[nodiscard]] double most_sent(const Collective& collective);

struct RankTraffic {
  double bytes{};
  std::uint64_t messages{};
};
// Returns the least, the most and the sums of what ranks send, without `steps`.
[[nodiscard]] Traffic traffic_of(const std::vector<RankTraffic>& ranks);
// Returns what every rank sends, [P]. Throws SimulationError for parameter_server and for sums in
// switches, which have no schedule.
[[nodiscard]] std::vector<RankTraffic> traffic_by_rank(const Collective& collective);

} // namespace stepsim::collectives
