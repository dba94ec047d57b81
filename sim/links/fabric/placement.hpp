#pragma once
// Places ranks on hosts. Ranks are numbered machine by machine: rank = node * gpus_per_node +
// local. If the hosts of a fabric are machines, all ranks of a node share its host; if they are
// GPUs, every rank has its own host.
//
//     leaf-spine, 2 leaves x 4 hosts, 4 nodes      packed: hosts 0 1 2 3
//                                                  spread: hosts 0 4 1 5
//
// packed uses machines in the order of the fabric; spread takes one machine from each switch in
// turn. A machine belongs to the first switch of its first host.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "links/fabric/fabric.hpp"

namespace stepsim::links {

enum class PlacementRule { packed, spread };
// A rule, or a list of hosts: one per rank, or one per node if hosts are machines.
using Placement = std::variant<PlacementRule, std::vector<NodeId>>;

// Returns [rank] the host of each rank. There must be no placement_problem() (asserted).
[[nodiscard]] std::vector<NodeId> place_ranks(const Fabric& fabric, std::uint32_t nodes,
                                              std::uint32_t gpus_per_node,
                                              const Placement& placement);

// Returns why the ranks cannot be placed so, as a text for the user; empty if they can. nodes and
// gpus_per_node must be >= 1.
[[nodiscard]] std::string placement_problem(const Fabric& fabric, std::uint32_t nodes,
                                            std::uint32_t gpus_per_node,
                                            const Placement& placement);

// Returns the host; empty if no host has this name.
[[nodiscard]] std::optional<NodeId> host_named(const Fabric& fabric, std::string_view name);

} // namespace stepsim::links
