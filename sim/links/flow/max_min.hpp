#pragma once
// Max-min fair rates: no flow can get more without taking from a flow whose rate is not higher. In
// progressive filling, the rates of all flows rise together until a port is full or a flow reaches
// its limit. The flows of this port, or this flow, keep their rates while the others continue. In
// the end every flow has its limit, or crosses a full port on which no flow has a higher rate
// (Bertsekas, Gallager: Data Networks, 6.5.2).
#include <cstdint>
#include <span>

namespace stepsim::links {

// Flow f crosses the ports path[path_begin[f]] .. path[path_begin[f + 1] - 1], each once.
struct FlowPaths {
  std::span<const std::uint32_t> path_begin; // [flows + 1]
  std::span<const std::uint32_t> path;
  std::span<const double> limit_Bps; // [flows], infinity = no limit
};

// Writes one rate per flow (bytes/s; infinity for a flow without port and limit). Capacities must
// be > 0. Time O(rounds * (ports + paths)).
void max_min(std::span<const double> capacity_Bps, const FlowPaths& flows,
             std::span<double> rate_Bps);

} // namespace stepsim::links
