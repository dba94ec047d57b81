#pragma once
// How many bytes and messages a collective puts on the wire, whatever the links cost. Counted from
// the schedule, so that the short parts of a message that does not divide are in.
#include <cstdint>
#include <vector>

#include "coll/collective.hpp"

namespace stepsim::coll {

struct Traffic { // bytes that ranks send
  double min_per_rank{};
  double max_per_rank{};
  double total{};
  std::int64_t steps{}; // rounds on the critical path
  std::uint64_t messages{};
};
// Of dedicated parameter servers only `total` and `messages` count what the servers send.
[[nodiscard]] Traffic traffic(const Collective& collective);

struct RankTraffic {
  double bytes{};
  std::uint64_t messages{};
};
// What every rank sends, [P]. Throws SimulationError for parameter_server and for sums in switches,
// which have no schedule.
[[nodiscard]] std::vector<RankTraffic> traffic_by_rank(const Collective& collective);

} // namespace stepsim::coll
