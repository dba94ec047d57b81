#pragma once
// Ranks on a fabric: the fabric with its routes, shared by everything that runs on it, and the host
// of every rank. Dedicated servers count as ranks. The connection from rank src to rank dst has
// number src x hosts.size() + dst at the flow level, and for the first job at the packet level, so
// that it has the same path at both levels (PKT 3.6, 6.3).
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "links/fabric/fabric.hpp"
#include "links/fabric/routes.hpp"
#include "links/flow/flow_run.hpp"

namespace stepsim::links {

struct RoutedFabric {
  // Throws SimulationError if two hosts have no path, or if the fabric is too large (Routes).
  explicit RoutedFabric(Fabric with) : fabric(std::move(with)), routes(fabric) {}
  // The same nodes and cables with other rates.
  RoutedFabric(Fabric with, const Routes& known) : fabric(std::move(with)), routes(known) {}
  RoutedFabric(const RoutedFabric&) = delete;
  RoutedFabric& operator=(const RoutedFabric&) = delete;

  const Fabric fabric;
  const Routes routes;
};

struct RankFabric {
  std::shared_ptr<const RoutedFabric> network;
  std::vector<NodeId> hosts; // [rank], then one per dedicated server
  FlowPathOptions paths;     // `spray` is used at the flow level only, `seed` by ECMP
  Headers headers{};         // used at the flow level only

  [[nodiscard]] const Fabric& fabric() const { return network->fabric; }
  [[nodiscard]] const Routes& routes() const { return network->routes; }
};

} // namespace stepsim::links
