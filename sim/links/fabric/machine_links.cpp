#include "links/fabric/machine_links.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace stepsim::links {

namespace {

constexpr std::uint32_t kOfNoMachine = 0xffffffffU;
constexpr std::uint32_t kNotReached = 0xfffffffeU;

bool has_gpus_as_hosts(std::span<const std::uint32_t> machine_of) {
  std::vector<std::uint32_t> sorted(machine_of.begin(), machine_of.end());
  std::ranges::sort(sorted);
  return std::ranges::adjacent_find(sorted) != sorted.end();
}

// A switch belongs to the machine of all its nearest hosts: levels of nodes are reached one after
// the other, and a node that two machines reach at once belongs to neither.
void claim_switches(const Fabric& fabric, std::vector<std::uint32_t>& machine) {
  for (bool reached = true; reached;) {
    reached = false;
    std::vector<std::uint32_t> next = machine;
    for (const FabricLink& link : fabric.links) {
      if (machine[link.from] == kNotReached || machine[link.to] != kNotReached) {
        continue;
      }
      std::uint32_t& claimed = next[link.to];
      claimed = claimed == kNotReached || claimed == machine[link.from] ? machine[link.from]
                                                                        : kOfNoMachine;
      reached = true;
    }
    machine = std::move(next);
  }
}

} // namespace

MachineLinks machine_links(const Fabric& fabric, std::span<const std::uint32_t> machine_of) {
  assert(machine_of.size() == fabric.hosts && "one machine per host");
  const bool gpus = has_gpus_as_hosts(machine_of);
  std::vector<std::uint32_t> machine(fabric.nodes(), gpus ? kNotReached : kOfNoMachine);
  std::ranges::copy(machine_of, machine.begin());
  if (gpus) {
    claim_switches(fabric, machine);
  }
  MachineLinks out;
  for (const FabricLink& link : fabric.links) {
    const std::uint32_t from = machine[link.from];
    const std::uint32_t to = machine[link.to];
    out.places.push_back(from != to             ? LinkPlace::border
                         : from == kOfNoMachine ? LinkPlace::outside
                                                : LinkPlace::inside);
    out.out_Bps += from == 0 && to != 0 ? link.bandwidth_Bps : 0;
  }
  return out;
}

} // namespace stepsim::links
