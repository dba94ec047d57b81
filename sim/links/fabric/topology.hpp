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
#include <optional>
#include <span>
#include <string>
#include <string_view>

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

} // namespace stepsim::links
