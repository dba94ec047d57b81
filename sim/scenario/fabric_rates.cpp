#include "scenario/scenario_conditions.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "links/fabric/placement.hpp"
#include "scenario/node_counts.hpp"

namespace stepsim::study {

namespace {

// The machine of every host: of those without ranks, a number that no machine with ranks has.
std::vector<std::uint32_t> machines_of_hosts(const Cluster& cluster) {
  const links::Fabric& fabric = cluster.fabric->fabric();
  const std::uint32_t size = std::max(1U, fabric.gpus_per_machine);
  const auto idle = static_cast<std::uint32_t>(cluster.nodes);
  std::vector<std::uint32_t> machine_of(fabric.hosts);
  for (links::NodeId host = 0; host < fabric.hosts; ++host) {
    machine_of[host] = idle + host / size;
  }
  for (std::int64_t node = 0; node < cluster.nodes; ++node) {
    const auto machine = static_cast<std::uint32_t>(node / cluster.nvlink_domain_nodes);
    for (std::uint32_t rank = first_rank(cluster, node); rank < first_rank(cluster, node + 1);
         ++rank) {
      const links::NodeId first = cluster.fabric->hosts[rank] / size * size;
      std::fill_n(machine_of.begin() + first, size, machine);
    }
  }
  return machine_of;
}

links::MachineLinks machine_links_of(const Cluster& cluster) {
  return links::machine_links(cluster.fabric->fabric(), machines_of_hosts(cluster));
}

// The fabric with the rates that `rate_of` gives each link.
template <class RateOf> auto with_rates(const links::RankFabric& ranks, const RateOf& rate_of) {
  links::Fabric fabric = ranks.fabric();
  for (links::LinkId link = 0; link < fabric.links.size(); ++link) {
    double& rate = fabric.links[link].bandwidth_Bps;
    rate = std::max(1.0, rate_of(link, rate));
  }
  links::RankFabric out = ranks;
  out.network = std::make_shared<const links::RoutedFabric>(std::move(fabric), ranks.routes());
  return std::make_shared<const links::RankFabric>(std::move(out));
}

} // namespace

double rate_out_of_machine(const Cluster& cluster) { return machine_links_of(cluster).out_Bps; }

void scale_links(double into_machine, double inside, Cluster& cluster) {
  const links::MachineLinks machines = machine_links_of(cluster);
  cluster.fabric = with_rates(*cluster.fabric, [&](links::LinkId link, double rate) {
    const links::LinkPlace place = machines.places[link];
    return rate * (place == links::LinkPlace::border   ? into_machine
                   : place == links::LinkPlace::inside ? inside
                                                       : 1);
  });
}

void set_link_rates(double rate_Bps, Cluster& cluster) {
  cluster.fabric =
      with_rates(*cluster.fabric, [rate_Bps](links::LinkId, double) { return rate_Bps; });
}

} // namespace stepsim::study
