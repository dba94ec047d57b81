#pragma once
// A collective of tests put on a fabric: rank r on hosts[r], links that cost nothing beside.
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "coll/collective.hpp"
#include "net/fabric/presets.hpp"
#include "net/fabric/rank_fabric.hpp"

namespace stepsim::coll::test {

inline Collective on_fabric(Collective collective, net::Fabric fabric,
                            std::vector<net::NodeId> hosts, net::FlowPathOptions paths = {},
                            net::Headers headers = {}) {
  auto routed = std::make_shared<const net::RoutedFabric>(std::move(fabric));
  collective.links.all = {};
  collective.links.fabric = std::make_shared<const net::RankFabric>(
      net::RankFabric{std::move(routed), std::move(hosts), paths, headers});
  return collective;
}

inline std::vector<net::NodeId> hosts_in_order(std::uint32_t count) {
  std::vector<net::NodeId> hosts(count);
  std::iota(hosts.begin(), hosts.end(), 0U);
  return hosts;
}

} // namespace stepsim::coll::test
