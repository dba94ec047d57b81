#pragma once
// Which host each rank is on. Ranks are numbered machine by machine: rank = node * gpus_per_node +
// local. On a fabric whose hosts are machines all ranks of a node share its host; on one whose
// hosts are GPUs every rank has its own.
//
//     leaf-spine, 2 leaves x 4 hosts, 4 nodes      packed: hosts 0 1 2 3
//                                                  spread: hosts 0 4 1 5
//
// packed takes machines in the order of the fabric, spread goes round their first switches.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "net/fabric/fabric.hpp"

namespace stepsim::net {

enum class PlacementRule { packed, spread };
// A rule, or hosts: one per node, or one per rank.
using Placement = std::variant<PlacementRule, std::vector<NodeId>>;

// Host of each rank. There must be no placement_problem.
[[nodiscard]] std::vector<NodeId> place_ranks(const Fabric& fabric, std::uint32_t nodes,
                                              std::uint32_t gpus_per_node,
                                              const Placement& placement);

// Why it cannot be done, in words for the user; empty if it can. nodes, gpus_per_node >= 1.
[[nodiscard]] std::string placement_problem(const Fabric& fabric, std::uint32_t nodes,
                                            std::uint32_t gpus_per_node,
                                            const Placement& placement);

[[nodiscard]] std::optional<NodeId> host_named(const Fabric& fabric, std::string_view name);

} // namespace stepsim::net
