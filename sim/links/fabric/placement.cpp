#include "links/fabric/placement.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "base/error.hpp"

namespace stepsim::links {

namespace {

bool hosts_are_gpus(const Fabric& fabric) {
  return fabric.gpus_per_machine > 0 || !fabric.rank_hosts.empty();
}

// Hosts in rank order.
std::vector<NodeId> ordered_hosts(const Fabric& fabric) {
  std::vector<NodeId> hosts = fabric.rank_hosts;
  for (NodeId host = 0; fabric.rank_hosts.empty() && host < fabric.hosts; ++host) {
    hosts.push_back(host);
  }
  return hosts;
}

// Hosts per machine, in rank order.
std::size_t machine_size(const Fabric& fabric, std::uint32_t gpus_per_node) {
  if (!hosts_are_gpus(fabric)) {
    return 1;
  }
  return fabric.gpus_per_machine > 0 ? fabric.gpus_per_machine : gpus_per_node;
}

// First host of each machine, going round the switches that first hosts hang on.
std::vector<std::size_t> spread_order(const Fabric& fabric, const std::vector<NodeId>& hosts,
                                      std::size_t size) {
  std::vector<NodeId> first_switch(fabric.hosts, fabric.nodes());
  for (const FabricLink& link : fabric.links) {
    if (fabric.is_host(link.from) && !fabric.is_host(link.to) &&
        first_switch[link.from] == fabric.nodes()) {
      first_switch[link.from] = link.to;
    }
  }
  std::map<NodeId, std::size_t> turn; // machines seen at a switch so far
  std::vector<std::pair<std::size_t, std::size_t>> order;
  for (std::size_t at = 0; at + size <= hosts.size(); at += size) {
    order.emplace_back(turn[first_switch[hosts[at]]]++, at);
  }
  std::ranges::stable_sort(order, [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::size_t> result;
  for (const auto& [round, at] : order) {
    result.push_back(at);
  }
  return result;
}

std::string list_problem(const Fabric& fabric, std::uint32_t nodes, std::uint32_t gpus_per_node,
                         const std::vector<NodeId>& list) {
  const std::uint64_t ranks = std::uint64_t{nodes} * gpus_per_node;
  const bool per_rank = list.size() == ranks;
  if (!per_rank && (list.size() != nodes || hosts_are_gpus(fabric))) {
    return "must name " +
           (hosts_are_gpus(fabric) || nodes == ranks
                ? std::to_string(ranks) + " hosts, one per rank"
                : fmt::format("{} hosts (one per node) or {} (one per rank)", nodes, ranks)) +
           ", got " + std::to_string(list.size());
  }
  std::vector<std::uint32_t> ranks_on(fabric.hosts, 0);
  const std::uint32_t most = hosts_are_gpus(fabric) ? 1 : gpus_per_node;
  for (const NodeId host : list) {
    if (host >= fabric.hosts) {
      return fmt::format("no host {}, the topology has {}", host, fabric.hosts);
    }
    ranks_on[host] += per_rank ? 1 : gpus_per_node;
    if (ranks_on[host] > most) {
      return fmt::format("more than {} {} on host \"{}\"", most, most == 1 ? "rank" : "ranks",
                         base::shown_value(fabric.node_names[host]));
    }
  }
  return "";
}

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

std::string placement_problem(const Fabric& fabric, std::uint32_t nodes,
                              std::uint32_t gpus_per_node, const Placement& placement) {
  if (const auto* list = std::get_if<std::vector<NodeId>>(&placement)) {
    return list_problem(fabric, nodes, gpus_per_node, *list);
  }
  if (fabric.gpus_per_machine > 0 && gpus_per_node > fabric.gpus_per_machine) {
    return fmt::format("{} GPUs per node, but machines of the topology have {}", gpus_per_node,
                       fabric.gpus_per_machine);
  }
  const std::size_t hosts = fabric.rank_hosts.empty() ? fabric.hosts : fabric.rank_hosts.size();
  const std::size_t size = machine_size(fabric, gpus_per_node);
  if (nodes > hosts / size) {
    return fmt::format("{} nodes{}, but the topology has {}", nodes,
                       size > 1 ? fmt::format(" of {} GPUs", size) : "", hosts / size);
  }
  return "";
}

std::vector<NodeId> place_ranks(const Fabric& fabric, std::uint32_t nodes,
                                std::uint32_t gpus_per_node, const Placement& placement) {
  assert(placement_problem(fabric, nodes, gpus_per_node, placement).empty() &&
         "the ranks fit on the hosts");
  std::vector<NodeId> result;
  if (const auto* list = std::get_if<std::vector<NodeId>>(&placement)) {
    const std::size_t repeats = list->size() == nodes ? gpus_per_node : 1;
    for (const NodeId host : *list) {
      result.insert(result.end(), repeats, host);
    }
    return result;
  }
  const std::vector<NodeId> hosts = ordered_hosts(fabric);
  const std::size_t size = machine_size(fabric, gpus_per_node);
  const bool spread = std::get<PlacementRule>(placement) == PlacementRule::spread;
  const std::vector<std::size_t> order =
      spread ? spread_order(fabric, hosts, size) : std::vector<std::size_t>{};
  for (std::size_t node = 0; node < nodes; ++node) {
    const std::size_t first = spread ? order[node] : node * size;
    for (std::size_t local = 0; local < gpus_per_node; ++local) {
      result.push_back(hosts[hosts_are_gpus(fabric) ? first + local : first]);
    }
  }
  return result;
}

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
