#pragma once
// Where the links of a fabric lie, seen from the machines: inside one, or between a machine and
// what is outside. A machine is a host, or several hosts that are GPUs; then the switches that are
// nearer to its GPUs than to those of any other machine belong to it.
//
//     gpu 0 --inside-- nic 4 --border-- switch 6 --border-- nic 5 --inside-- gpu 2
#include <cstdint>
#include <span>
#include <vector>

#include "links/fabric/fabric.hpp"

namespace stepsim::links {

enum class LinkPlace { inside, border, outside }; // outside: between two switches of no machine

struct MachineLinks {
  std::vector<LinkPlace> places; // [link]
  double out_Bps{};              // sum of the rates of the links out of machine 0
};

// `machine_of` gives each host its machine. Takes O(nodes + links).
[[nodiscard]] MachineLinks machine_links(const Fabric& fabric,
                                         std::span<const std::uint32_t> machine_of);

} // namespace stepsim::links
