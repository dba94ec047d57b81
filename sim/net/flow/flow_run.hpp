#pragma once
// A list of flows at the flow level, from the first start to the last end (PKT 6).
#include <cstdint>
#include <span>
#include <vector>

#include "net/fabric/fabric.hpp"
#include "net/fabric/routes.hpp"
#include "net/flow/flow_level.hpp"
#include "net/flow/flow_list.hpp"
#include "net/flow/flow_path.hpp"

namespace stepsim::net {

struct FlowPathOptions {
  std::uint64_t seed = 1;
  bool spray = false; // over all shortest paths; else the path of the connection (ECMP)
};

// The path of every flow: the path it gives, or over the spine `via`, or by routing with the id of
// the flow as its connection, so that the flow and the packet level use the same path. Throws
// SimulationError naming a flow whose path does not lead from src to dst, or that asks for a spine
// it cannot reach.
[[nodiscard]] std::vector<FlowPath> flow_paths(const Fabric& fabric, const Routes& routes,
                                               std::span<const FlowSpec> flows,
                                               const FlowPathOptions& options);

struct FlowRunOptions {
  double limit_s = std::numeric_limits<double>::infinity(); // of simulated time
};

struct FlowRun {
  std::vector<double> end_s;   // [flow], from time 0; its start_s if it has no bytes or src = dst
  std::vector<LinkUse> links;  // [link]
  double finish_s{};           // the last end
  std::uint64_t solves{};      // how often rates were computed
  std::uint64_t full_solves{}; // how often all rates of a class were computed from scratch
  std::uint64_t events{};      // begins and ends
  // Part of the capacity of the link used until finish_s; 0 if finish_s is 0.
  [[nodiscard]] double utilization(const Fabric& fabric, LinkId link) const;
};

// Throws SimulationError naming up to 10 flows that stand still or are unfinished at the limit.
[[nodiscard]] FlowRun run_flows(const Fabric& fabric, std::span<const FlowPath> paths,
                                std::span<const FlowSpec> flows,
                                const FlowRunOptions& options = {});

} // namespace stepsim::net
