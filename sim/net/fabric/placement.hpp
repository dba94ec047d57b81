#pragma once
// Which host each rank is on. Ranks are numbered machine by machine: rank = node * gpus_per_node +
// local. On a fabric whose hosts are machines all ranks of a node share its host; on one whose
// hosts are GPUs every rank has its own.
//
//     leaf-spine, 2 leaves x 4 hosts, 4 nodes      packed: hosts 0 1 2 3
//                                                  spread: hosts 0 4 1 5
//
// packed takes machines in the order of the fabric; spread takes one machine from each switch in
// turn, where a machine belongs to the first switch of its first host.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "net/fabric/fabric.hpp"

namespace stepsim::net {

enum class PlacementRule { packed, spread };
// A rule, or a list of hosts: one per rank, or, where hosts are machines, one per node.
using Placement = std::variant<PlacementRule, std::vector<NodeId>>;

// [rank]: host of each rank. There must be no placement_problem (asserted).
[[nodiscard]] std::vector<NodeId> place_ranks(const Fabric& fabric, std::uint32_t nodes,
                                              std::uint32_t gpus_per_node,
                                              const Placement& placement);

// Why the ranks cannot be placed so, in words for the user; empty if they can. nodes and
// gpus_per_node are >= 1.
[[nodiscard]] std::string placement_problem(const Fabric& fabric, std::uint32_t nodes,
                                            std::uint32_t gpus_per_node,
                                            const Placement& placement);

// Empty if no host has that name.
[[nodiscard]] std::optional<NodeId> host_named(const Fabric& fabric, std::string_view name);

} // namespace stepsim::net
