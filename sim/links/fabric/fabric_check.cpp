#include "links/fabric/fabric.hpp"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/connected_components.hpp>
#include <cmath>
#include <set>

#include "base/error.hpp"
#include "base/quantity.hpp"

namespace stepsim::links {

namespace {

// Component of each node, if only links count that `keep` wants.
template <class Keep> std::vector<int> components(const Fabric& fabric, Keep keep) {
  boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS> graph(fabric.nodes());
  for (const FabricLink& link : fabric.links) {
    if (keep(link)) {
      boost::add_edge(link.from, link.to, graph);
    }
  }
  std::vector<int> component(fabric.nodes());
  boost::connected_components(graph, component.data());
  return component;
}

std::string quoted(const Fabric& fabric, NodeId node) {
  const std::string name =
      node < fabric.node_names.size() ? fabric.node_names[node] : std::to_string(node);
  return "\"" + base::shown_value(name) + "\"";
}

std::string appears_twice(const std::string& name) {
  return "\"" + base::shown_value(name) + "\" appears twice";
}

void check_names(const Fabric& fabric, std::vector<FabricProblem>& problems) {
  std::set<std::string_view> seen;
  for (NodeId node = 0; node < fabric.node_names.size(); ++node) {
    if (!seen.insert(fabric.node_names[node]).second) {
      problems.push_back({.node = node, .message = appears_twice(fabric.node_names[node])});
    }
  }
  seen.clear();
  for (LinkId link = 0; link < fabric.link_names.size(); ++link) {
    if (!seen.insert(fabric.link_names[link]).second) {
      problems.push_back({.link = link, .message = appears_twice(fabric.link_names[link])});
    }
  }
}

std::string link_problem(const Fabric& fabric, LinkId id) {
  const FabricLink& link = fabric.links[id];
  if (link.from >= fabric.nodes() || link.to >= fabric.nodes()) {
    return "unknown node " + std::to_string(std::max(link.from, link.to));
  }
  if (link.from == link.to) {
    return "a link must join two different nodes, got " + quoted(fabric, link.from) + " twice";
  }
  if (!(link.bandwidth_Bps >= 1 && std::isfinite(link.bandwidth_Bps))) {
    return "bandwidth_Bps must be >= 1, got " +
           (std::isfinite(link.bandwidth_Bps) ? base::shortest(link.bandwidth_Bps) : "no number");
  }
  if (!(link.latency_s >= 0 && std::isfinite(link.latency_s))) {
    return "latency_s must be >= 0, got " +
           (std::isfinite(link.latency_s) ? base::shortest(link.latency_s) : "no number");
  }
  const LinkId other = id ^ 1U;
  if (other >= fabric.links.size() || fabric.links[other].from != link.to ||
      fabric.links[other].to != link.from) {
    return "links 2c and 2c + 1 must be the two directions of a cable";
  }
  return "";
}

std::string no_route(const Fabric& fabric, NodeId from, NodeId to, std::string_view rest = "") {
  return "no route from " + quoted(fabric, from) + " to " + quoted(fabric, to).append(rest);
}

// Two hosts that only others could join.
std::string host_problem(const Fabric& fabric) {
  const std::vector<int> component = components(fabric, [&](const FabricLink& l) {
    return !fabric.is_host(l.from) && !fabric.is_host(l.to);
  });
  std::vector<std::set<NodeId>> next(fabric.hosts);     // hosts and switches beside a host
  std::vector<std::set<int>> switches_of(fabric.hosts); // components beside it
  for (const FabricLink& link : fabric.links) {
    if (fabric.is_host(link.from)) {
      next[link.from].insert(link.to);
      if (!fabric.is_host(link.to)) {
        switches_of[link.from].insert(component[link.to]);
      }
    }
  }
  for (NodeId a = 0; a < fabric.hosts; ++a) {
    for (NodeId b = a + 1; b < fabric.hosts; ++b) {
      const bool met = std::any_of(switches_of[a].begin(), switches_of[a].end(),
                                   [&](int c) { return switches_of[b].contains(c); });
      if (!met && !next[a].contains(b)) {
        return no_route(fabric, a, b, " but through other hosts");
      }
    }
  }
  return "";
}

} // namespace

bool switches_join_hosts(const Fabric& fabric) {
  const std::vector<int> component = components(fabric, [&](const FabricLink& l) {
    return !fabric.is_host(l.from) && !fabric.is_host(l.to);
  });
  std::set<std::pair<int, NodeId>> beside; // (component of switches, host)
  for (const FabricLink& link : fabric.links) {
    if (fabric.is_host(link.from) && !fabric.is_host(link.to)) {
      beside.emplace(component[link.to], link.from);
    }
  }
  std::vector<std::uint32_t> hosts(fabric.nodes(), 0);
  for (const auto& [each, host] : beside) {
    ++hosts[static_cast<std::size_t>(each)];
  }
  return std::find(hosts.begin(), hosts.end(), fabric.hosts) != hosts.end();
}

std::vector<FabricProblem> fabric_problems(const Fabric& fabric) {
  std::vector<FabricProblem> problems;
  if (fabric.hosts == 0) {
    problems.push_back({.message = "needs at least one host"});
    return problems;
  }
  check_names(fabric, problems);
  for (LinkId link = 0; link < fabric.links.size(); ++link) {
    if (std::string message = link_problem(fabric, link); !message.empty()) {
      problems.push_back({.link = link, .message = std::move(message)});
    }
  }
  if (!problems.empty()) {
    return problems;
  }
  const std::vector<int> component = components(fabric, [](const FabricLink&) { return true; });
  for (NodeId node = 1; node < fabric.nodes(); ++node) {
    if (component[node] != component[0]) {
      problems.push_back({.node = node, .message = no_route(fabric, 0, node)});
      return problems;
    }
  }
  if (!fabric.hosts_forward && !switches_join_hosts(fabric)) {
    if (std::string message = host_problem(fabric); !message.empty()) {
      problems.push_back({.message = std::move(message)});
    }
  }
  return problems;
}

} // namespace stepsim::links
