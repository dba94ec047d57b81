#pragma once
// The usual shapes of fabrics (PKT 3.8), named by the key /cluster/topology/preset. Host h of a
// leaf-spine fabric is connected to leaf floor(h / hosts_per_leaf). All links of a kind are equal;
// every cable is two links.
//
// Ids number hosts first, then switches level by level, away from the hosts. Links are in the same
// order: per host up, down; then per lower switch and upper switch up, down.
#include <cstdint>
#include <vector>

#include "links/fabric/fabric.hpp"

namespace stepsim::links {

struct LinkSpeed {
  double latency_s{};
  double bandwidth_Bps{};
};

// Returns hosts around one switch.
[[nodiscard]] Fabric star(std::uint32_t hosts, LinkSpeed link);

struct LeafSpine {
  std::uint32_t leaves{}, hosts_per_leaf{}, spines{};
  LinkSpeed host; // host to leaf
  // Link from leaf to spine. The oversubscription of a leaf is (hosts_per_leaf x host bandwidth) /
  // (spines x uplink bandwidth).
  LinkSpeed uplink;
};
[[nodiscard]] Fabric leaf_spine(const LeafSpine& shape);

// Return hosts that forward like switches: in a ring, or in a grid of any dimensions, the first of
// which varies fastest. In a dimension of size 2, the two neighbours are joined by one cable.
[[nodiscard]] Fabric ring(std::uint32_t hosts, LinkSpeed link);
[[nodiscard]] Fabric torus(const std::vector<std::uint32_t>& sizes, LinkSpeed link);

// Returns three levels of switches with k = `ports` ports, k even: k pods of k/2 edge and k/2
// aggregation switches, k^2/4 core switches, k^3/4 hosts (Al-Fares et al., SIGCOMM 2008).
// Aggregation switch a of every pod is connected to core switches a k/2 .. a k/2 + k/2 - 1.
[[nodiscard]] Fabric fat_tree(std::uint32_t ports, LinkSpeed link);

// Groups of `routers` fully connected routers with `hosts` hosts each, and one cable between any
// two groups (Kim et al., ISCA 2008). A router has at most h = ceil((groups - 1) / routers) global
// cables; the cable to the d-th group after a group is at its router floor((d - 1) / h).
struct Dragonfly {
  std::uint32_t groups{}, routers{}, hosts{};
  LinkSpeed host, local, global;
};
[[nodiscard]] Fabric dragonfly(const Dragonfly& shape);

// Machines of GPUs. Hosts are the GPUs, machine by machine; local GPU l uses network interface
// (NIC) l mod nics. The PCIe switch next to each GPU keeps traffic inside a machine on NVLink,
// which takes two links, whereas the path through a shared NIC takes four.
//
//     gpu --nvlink-- nvswitch            one per machine
//     gpu --pcie-- pcie switch --pcie-- nic --network-- outside
//
// Outside is one switch, or with `rails` switch i for NIC i of every machine, joined by `spines`.
// Without spines, a transfer between two rails uses the NVLink of a machine and passes through one
// of its GPUs, so hosts forward. Only a single machine may have nics = 0 (asserted): NVLink alone.
struct GpuMachines {
  std::uint32_t machines{}, gpus{}, nics{}; // gpus and nics per machine; nics <= gpus
  LinkSpeed nvlink, pcie, network;
  bool rails = false;
  std::uint32_t spines{}; // with rails
  LinkSpeed uplink;       // rail to spine
};
[[nodiscard]] Fabric gpu_machines(const GpuMachines& shape);

} // namespace stepsim::links
