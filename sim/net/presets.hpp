#pragma once
// The usual shapes of fabrics (PKT 3.8, interface `topology preset`). Host h of a leaf-spine hangs
// on leaf floor(h / hosts_per_leaf). All links of a kind are equal; every cable is two links.
#include <cstdint>
#include <vector>

#include "net/fabric.hpp"

namespace stepsim::net {

struct LinkSpeed {
  double latency_s{};
  double bandwidth_Bps{};
};

// One switch.
[[nodiscard]] Fabric star(std::uint32_t hosts, LinkSpeed link);

struct LeafSpine {
  std::uint32_t leaves{}, hosts_per_leaf{}, spines{};
  LinkSpeed host;   // host to leaf
  LinkSpeed uplink; // leaf to spine; oversubscription = hosts_per_leaf host / (spines uplink)
};
[[nodiscard]] Fabric leaf_spine(const LeafSpine& shape);

// Hosts that are their own switches: neighbours in a ring, or in a grid of any dimensions.
[[nodiscard]] Fabric ring(std::uint32_t hosts, LinkSpeed link);
[[nodiscard]] Fabric torus(const std::vector<std::uint32_t>& sizes, LinkSpeed link);

// Three levels of switches with k ports: k^3/4 hosts (Al-Fares et al., SIGCOMM 2008).
[[nodiscard]] Fabric fat_tree(std::uint32_t ports, LinkSpeed link);

// Groups of `routers` fully joined routers with `hosts` each, every pair of groups joined by one
// cable at least (Kim et al., ISCA 2008).
struct Dragonfly {
  std::uint32_t groups{}, routers{}, hosts{};
  LinkSpeed host, local, global;
};
[[nodiscard]] Fabric dragonfly(const Dragonfly& shape);

// One node of GPUs: an NVLink switch between them, PCIe to the network interfaces, a switch
// outside. Hosts are the GPUs.
struct GpuNodes {
  std::uint32_t nodes{}, gpus{}, nics{};
  LinkSpeed nvlink, pcie, network;
  bool rails = false; // NIC i of every node on rail switch i, rails joined by a spine
};
[[nodiscard]] Fabric gpu_nodes(const GpuNodes& shape);

} // namespace stepsim::net
