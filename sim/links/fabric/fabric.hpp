#pragma once
// A fabric: hosts and switches joined by directed links. A full-duplex cable is two links.
// `presets.hpp` builds the usual shapes, `routes.hpp` finds the paths.
//
//     host 0 --up--> leaf 4 --up--> spine 6          nodes: hosts first, then switches
//            <-down-        <-down-                  links: per host up, down; then per leaf and
//                                                    spine up, down (presets; PKT 3.6)
//
// Ids are indices in the lists; links 2c and 2c + 1 are the two directions of cable c. Units:
// seconds, bytes/s. Source: PKT 3.3, 3.6.
#include <cstdint>
#include <string>
#include <vector>

namespace stepsim::links {

using NodeId = std::uint32_t;
using LinkId = std::uint32_t;

struct FabricLink {
  NodeId from{};
  NodeId to{};
  double latency_s{};     // propagation
  double bandwidth_Bps{}; // >= 1
};

struct Fabric {
  std::uint32_t hosts{};    // node ids 0 .. hosts - 1
  std::uint32_t switches{}; // node ids hosts .. hosts + switches - 1
  std::vector<FabricLink> links;
  std::vector<std::string> node_names; // [node], unique
  std::vector<std::string> link_names; // [link], unique
  // Host of every rank if ranks are not on hosts 0, 1, ...; empty = the order of hosts.
  std::vector<NodeId> rank_hosts;
  // Whether hosts forward traffic of other hosts: in rings, in tori, on rails without spines.
  bool hosts_forward = false;
  // If every host is a GPU: number of consecutive GPUs, in rank order, that form a machine. 0 = a
  // host is a machine with all its GPUs (or, with rank_hosts, a GPU of a machine of unknown size).
  std::uint32_t gpus_per_machine{};

  [[nodiscard]] std::uint32_t nodes() const { return hosts + switches; }
  [[nodiscard]] bool is_host(NodeId node) const { return node < hosts; }
};

} // namespace stepsim::links
