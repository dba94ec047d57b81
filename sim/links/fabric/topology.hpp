#pragma once
// Builds a fabric from a topology file. The table of presets lists the parameters that a file may
// give. bandwidth_Bps and latency_s hold for every cable, the longer names for one kind of cable:
//
//     leaf_spine     uplink_bandwidth_Bps                       leaf to spine
//     dragonfly      global_bandwidth_Bps, global_latency_s     between groups
//     gpu_node, rail_optimised   nvlink_*, pcie_*               inside a machine
//     rail_optimised uplink_bandwidth_Bps                       rail to spine
//
// Sources: PKT 3.6, 3.8.

#include "links/fabric/fabric.hpp"
#include "links/profile/profile.hpp"

namespace stepsim::links {

// A key of a topology file; scenario/files/keys/topology_keys.hpp describes its value.
struct PresetParameter {
  std::string_view name;
  bool required{};
};
struct Preset {
  std::string_view name;
  std::span<const PresetParameter> parameters;
};
[[nodiscard]] std::span<const Preset> presets();

// A parameter whose value cannot be used: an odd number of ports, or more network interfaces than
// GPUs. `parameter` is "preset" if all parameters together make more than 2^20 hosts or 2^21
// cables.
struct ParameterProblem {
  std::string_view parameter;
  std::string message;
};
[[nodiscard]] std::optional<ParameterProblem> preset_problem(const Topology& topology);

// Returns the fabric of a preset without preset_problem(), or of a graph whose links join known
// nodes. Cable c of a file is links 2c (a to b) and 2c + 1, named "a>b" and "b>a". If the file
// gives an id, or if the cable is not the first one between a and b, they are named "ID>b" and
// "ID>a". To a name that is already used, "#" and the number of the link are appended. Hosts of a
// graph forward if no connected set of switches joins all of them.
[[nodiscard]] Fabric fabric_of(const Topology& topology);

// The usual shapes of fabrics (PKT 3.8), named by the key /cluster/topology/preset. Host h of a
// leaf-spine fabric is connected to leaf floor(h / hosts_per_leaf). All links of a kind are equal;
// every cable is two links.
//
// Ids number hosts first, then switches level by level, away from the hosts. Links are in the same
// order: per host up, down; then per lower switch and upper switch up, down.

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
