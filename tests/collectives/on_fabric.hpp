#pragma once
// A collective of tests put on a fabric: rank r on hosts[r], links that cost nothing beside.
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "collectives/collective.hpp"
#include "links/fabric/placement.hpp"
#include "links/fabric/topology.hpp"

namespace stepsim::collectives::test {

inline Collective on_fabric(Collective collective, links::Fabric fabric,
                            std::vector<links::NodeId> hosts, links::FlowPathOptions paths = {},
                            links::Headers headers = {}) {
  auto routed = std::make_shared<const links::RoutedFabric>(std::move(fabric));
  collective.links.all = {};
  collective.links.fabric = std::make_shared<const links::RankFabric>(
      links::RankFabric{std::move(routed), std::move(hosts), paths, headers});
  return collective;
}

inline std::vector<links::NodeId> hosts_in_order(std::uint32_t count) {
  std::vector<links::NodeId> hosts(count);
  std::iota(hosts.begin(), hosts.end(), 0U);
  return hosts;
}

} // namespace stepsim::collectives::test
