#pragma once
// Lists of flows, read from files or generated, for the flow level and the packet level (PKT 7.1).
// The id of a flow is its index in the list; generators append flows.
//
//     incast       hosts 0 .. senders - 1 send to host `senders`
//     permutation  every host sends to one other host and receives from one
//     all_to_all   every ordered pair of hosts, by source, then destination

#include "links/flow/flow_level.hpp"

namespace stepsim::links {

struct FlowSpec {
  NodeId src{}, dst{};
  double bytes{};            // whole number
  double start_s = 0;        // from the start of the run
  std::uint8_t priority = 1; // class and queue; smaller is served first
  double weight = 1;         // used at the flow level
  double cap_Bps = std::numeric_limits<double>::infinity(); // used at the flow level
  std::vector<LinkId> path{}; // links from src to dst; empty = by routing
  // Number of the spine of a leaf-spine fabric that the flow passes, from 0. On other fabrics the
  // index of the next link at every node that has several equal-cost next links.
  std::optional<std::uint32_t> via{};
  // Packet level: packets whose number mod `every` is `offset` are protected.
  struct Protect {
    std::uint32_t every = 1, offset = 0;
  };
  std::optional<Protect> protect{};
};

// Generators append flows that differ from `like` in their hosts.

// An incast. The fabric must have more than `senders` hosts.
void add_incast(std::vector<FlowSpec>& flows, std::uint32_t senders, const FlowSpec& like);
// A permutation: a seeded shuffle, repeated until no host sends to itself; nothing for one
// host. Random numbers are pick(hash(seed, 7, attempt, i), i + 1) for i = hosts - 1 .. 1.
void add_permutation(std::vector<FlowSpec>& flows, std::uint32_t hosts, std::uint64_t seed,
                     const FlowSpec& like);
void add_all_to_all(std::vector<FlowSpec>& flows, std::uint32_t hosts, const FlowSpec& like);

// Adds u01(seed, 3, flow) x jitter_s to the start of every flow.
void add_start_jitter(std::vector<FlowSpec>& flows, double jitter_s, std::uint64_t seed);

// Returns the bytes with headers: ceil(bytes / payload_bytes) packets have one header each.
[[nodiscard]] double wire_bytes(double bytes, double payload_bytes, double header_bytes);

// Headers of messages at the flow level (`count_headers`).
struct Headers {
  double payload_bytes = 0; // bytes in a full packet; 0 = headers are ignored
  double header_bytes = 0;  // bytes per packet
  [[nodiscard]] double wire(double bytes) const {
    return payload_bytes > 0 ? wire_bytes(bytes, payload_bytes, header_bytes) : bytes;
  }
  // Returns the least number of bytes on the wire per byte of data.
  [[nodiscard]] double per_byte() const {
    return payload_bytes > 0 ? 1 + header_bytes / payload_bytes : 1;
  }
};

// Runs a list of flows at the flow level, from the first start to the last end (PKT 6).

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
};

// Runs the flows. Throws SimulationError naming up to 10 flows that are stalled, or unfinished at
// the limit.
[[nodiscard]] FlowRun run_flows(const Fabric& fabric, std::span<const FlowPath> paths,
                                std::span<const FlowSpec> flows,
                                const FlowRunOptions& options = {});

} // namespace stepsim::links
