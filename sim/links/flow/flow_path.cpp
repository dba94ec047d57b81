#include "links/flow/flow_path.hpp"

#include "base/collected.hpp"

#include <algorithm>
#include <cassert>
#include <map>

namespace stepsim::links {

FlowPath single_path(const Fabric& fabric, std::vector<LinkId> links) {
  FlowPath path{std::move(links), {}, 0};
  for (const LinkId link : path.links) {
    path.latency_s += fabric.links[link].latency_s;
  }
  return path;
}

// Every node splits what it gets evenly over its next hops; parts of a node that several branches
// reach add up. The latency is that of the slowest branch, as the last packet counts.
FlowPath sprayed_path(const Fabric& fabric, const Routes& routes, NodeId src, NodeId dst) {
  struct Visit {
    double part = 0;
    double latency_s = 0; // of the slowest branch up to here
  };
  FlowPath path;
  if (src == dst) {
    return path;
  }
  // All branches of shortest ways reach a node after the same number of links: level by level.
  std::map<NodeId, Visit> level{{src, {1, 0}}};
  for (std::uint32_t left = routes.distance(src, dst); left > 0; --left) {
    std::map<NodeId, Visit> next;
    for (const auto& [node, visit] : level) {
      const auto links = routes.next_links(node, dst);
      const double part = visit.part / static_cast<double>(links.size());
      for (const LinkId link : links) {
        path.links.push_back(link);
        path.parts.push_back(part);
        Visit& there = next[fabric.links[link].to];
        there.part += part;
        there.latency_s = std::max(there.latency_s, visit.latency_s + fabric.links[link].latency_s);
      }
    }
    level = std::move(next);
  }
  path.latency_s = level.at(dst).latency_s;
  return path;
}

std::vector<double> link_capacities(const Fabric& fabric) {
  return base::collected<double>(fabric.links, &FabricLink::bandwidth_Bps);
}

std::uint32_t PathTable::add(const FlowPath& path) {
  assert((path.parts.empty() || path.parts.size() == path.links.size()) && "one part per link");
  links_.insert(links_.end(), path.links.begin(), path.links.end());
  if (!path.parts.empty()) {
    parts_.resize(begin_.back(), 1);
    parts_.insert(parts_.end(), path.parts.begin(), path.parts.end());
  }
  begin_.push_back(links_.size());
  whole_.push_back(path.parts.empty() ? 1 : 0);
  latency_.push_back(path.latency_s);
  return static_cast<std::uint32_t>(size() - 1);
}

} // namespace stepsim::links
