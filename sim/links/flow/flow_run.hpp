#pragma once
// Runs a list of flows at the flow level, from the first start to the last end (PKT 6).
#include <cstdint>
#include <span>
#include <vector>

#include "links/fabric/fabric.hpp"
#include "links/fabric/routes.hpp"
#include "links/flow/flow_level.hpp"
#include "links/flow/flow_list.hpp"
#include "links/flow/flow_path.hpp"

namespace stepsim::links {

struct FlowPathOptions {
  std::uint64_t seed = 1;
  bool spray = false; // flows take all shortest paths; else one path by ECMP
};

// Returns the path of every flow: its own path, the path through the spine `via`, or by routing
// with the id of the flow as its connection, so that the flow and the packet level use the same
// path. Throws SimulationError naming a flow whose path does not lead from src to dst, or whose
// spine cannot be reached.
[[nodiscard]] std::vector<FlowPath> flow_paths(const Fabric& fabric, const Routes& routes,
                                               std::span<const FlowSpec> flows,
                                               const FlowPathOptions& options);

struct FlowRunOptions {
  double limit_s = std::numeric_limits<double>::infinity(); // maximum simulated time
};

struct FlowRun {
  std::vector<double> end_s;   // [flow] from time 0; start_s if it has no bytes or src = dst
  std::vector<LinkUse> links;  // [link]
  double finish_s{};           // the last end
  std::uint64_t solves{};      // number of times that rates were computed
  std::uint64_t full_solves{}; // number of times that all rates of a class were recomputed
  std::uint64_t events{};      // begins and ends of flows
  // Returns the fraction of the link's capacity used until finish_s; 0 if finish_s is 0.
  [[nodiscard]] double utilization(const Fabric& fabric, LinkId link) const;
};

// Runs the flows. Throws SimulationError naming up to 10 flows that are stalled, or unfinished at
// the limit.
[[nodiscard]] FlowRun run_flows(const Fabric& fabric, std::span<const FlowPath> paths,
                                std::span<const FlowSpec> flows,
                                const FlowRunOptions& options = {});

} // namespace stepsim::links
