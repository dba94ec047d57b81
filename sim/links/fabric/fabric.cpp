#include "links/fabric/fabric.hpp"

#include "base/collected.hpp"
#include "base/quantity.hpp"
#include "links/fabric/routes.hpp"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/connected_components.hpp>
#include <boost/graph/push_relabel_max_flow.hpp>
#include <cmath>
#include <set>

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

using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
using FlowEdge = Traits::edge_descriptor;
struct Pipe {
  std::int64_t capacity{}, residual{};
  FlowEdge reverse{};
};
using FlowGraph =
    boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property, Pipe>;

// The algorithm wants a reverse edge without capacity for each edge.
void add_pipe(FlowGraph& graph, NodeId a, NodeId b, std::int64_t capacity) {
  const FlowEdge there = boost::add_edge(a, b, Pipe{capacity, 0, {}}, graph).first;
  const FlowEdge back = boost::add_edge(b, a, Pipe{0, 0, {}}, graph).first;
  graph[there].reverse = back;
  graph[back].reverse = there;
}

constexpr NodeId kNoNode = 0xffffffffU;

// [host] the switch of a host with one cable, kNoNode for others.
std::vector<NodeId> only_switch(const Fabric& fabric) {
  std::vector<std::uint32_t> cables(fabric.hosts, 0);
  std::vector<NodeId> neighbour(fabric.hosts, kNoNode);
  for (const FabricLink& link : fabric.links) {
    if (fabric.is_host(link.from)) {
      ++cables[link.from];
      neighbour[link.from] = link.to;
    }
  }
  for (NodeId host = 0; host < fabric.hosts; ++host) {
    if (cables[host] != 1 || fabric.is_host(neighbour[host])) {
      neighbour[host] = kNoNode;
    }
  }
  return neighbour;
}

// Hosts with one cable become part of source and sink: their cables are one pipe per switch. The
// flow is counted in whole bytes/s, or in units of 2^e where the sum would not be exact.
double bisection(const Fabric& fabric) {
  if (fabric.hosts < 2) {
    return 0;
  }
  const double total = base::sum_of<double>(fabric.links, &FabricLink::bandwidth_Bps);
  const double unit = std::exp2(std::max(0, std::ilogb(total) - 52));
  const auto units = [unit](double rate) { return std::llround(rate / unit); };
  const std::int64_t unlimited = units(total) + static_cast<std::int64_t>(fabric.links.size());
  const NodeId source = fabric.nodes();
  const NodeId sink = source + 1;
  const std::vector<NodeId> leaf = only_switch(fabric);
  std::vector<std::int64_t> in(fabric.nodes(), 0);
  std::vector<std::int64_t> out(fabric.nodes(), 0);
  FlowGraph graph(fabric.nodes() + 2);
  for (std::size_t i = 0; i < fabric.links.size(); i += 2) {
    const bool upwards = fabric.is_host(fabric.links[i].from);
    const FabricLink& link = fabric.links[upwards ? i : i + 1];
    const FabricLink& back = fabric.links[upwards ? i + 1 : i];
    if (!fabric.is_host(link.from) || leaf[link.from] == kNoNode) {
      add_pipe(graph, link.from, link.to, units(link.bandwidth_Bps));
      add_pipe(graph, link.to, link.from, units(back.bandwidth_Bps));
    } else if (link.from < fabric.hosts / 2) {
      in[link.to] += units(link.bandwidth_Bps);
    } else {
      out[link.to] += units(back.bandwidth_Bps);
    }
  }
  for (NodeId node = 0; node < fabric.nodes(); ++node) {
    if (fabric.is_host(node) && leaf[node] == kNoNode) {
      (node < fabric.hosts / 2 ? in : out)[node] = unlimited;
    }
    if (in[node] > 0) {
      add_pipe(graph, source, node, in[node]);
    }
    if (out[node] > 0) {
      add_pipe(graph, node, sink, out[node]);
    }
  }
  return unit * static_cast<double>(boost::push_relabel_max_flow(
                    graph, source, sink, boost::get(&Pipe::capacity, graph),
                    boost::get(&Pipe::residual, graph), boost::get(&Pipe::reverse, graph),
                    boost::get(boost::vertex_index, graph)));
}

std::optional<double> worst_oversubscription(const Fabric& fabric) {
  std::vector<double> to_hosts(fabric.nodes(), 0);
  std::vector<double> to_switches(fabric.nodes(), 0);
  for (const FabricLink& link : fabric.links) {
    (fabric.is_host(link.to) ? to_hosts : to_switches)[link.from] += link.bandwidth_Bps;
  }
  std::optional<double> worst;
  for (NodeId node = fabric.hosts; node < fabric.nodes(); ++node) {
    if (to_hosts[node] > 0 && to_switches[node] > 0) {
      worst = std::max(worst.value_or(0), to_hosts[node] / to_switches[node]);
    }
  }
  return worst;
}

// Of the hosts with one cable, the first `per_switch` of each switch: the others are as far away.
std::vector<NodeId> representatives(const Fabric& fabric, std::uint32_t per_switch) {
  const std::vector<NodeId> leaf = only_switch(fabric);
  std::vector<std::uint32_t> seen(fabric.nodes(), 0);
  std::vector<NodeId> hosts;
  for (NodeId host = 0; host < fabric.hosts; ++host) {
    if (leaf[host] == kNoNode || ++seen[leaf[host]] <= per_switch) {
      hosts.push_back(host);
    }
  }
  return hosts;
}

void find_farthest(const Routes& routes, const std::vector<NodeId>& hosts, FabricSummary& summary) {
  for (const NodeId a : hosts) {
    for (const NodeId b : hosts) {
      if (routes.distance(a, b) > summary.diameter) {
        summary.diameter = routes.distance(a, b);
        summary.far_a = a;
        summary.far_b = b;
      }
    }
  }
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

std::string fabric_problem(const Fabric& fabric) {
  if (fabric.hosts == 0) {
    return "needs at least one host";
  }
  const std::vector<int> component = components(fabric, [](const FabricLink&) { return true; });
  for (NodeId node = 1; node < fabric.nodes(); ++node) {
    if (component[node] != component[0]) {
      return no_route(fabric, 0, node);
    }
  }
  return fabric.hosts_forward || switches_join_hosts(fabric) ? "" : host_problem(fabric);
}

FabricSummary summary_of(const Fabric& fabric) {
  const Routes routes(fabric);
  FabricSummary summary;
  summary.hosts = fabric.hosts;
  summary.switches = fabric.switches;
  summary.cables = static_cast<std::uint32_t>(fabric.links.size() / 2);
  summary.bisection_Bps = bisection(fabric);
  for (const FabricLink& link : fabric.links) {
    summary.half_Bps += link.from < fabric.hosts / 2 ? link.bandwidth_Bps : 0;
  }
  summary.oversubscription = worst_oversubscription(fabric);
  find_farthest(routes, representatives(fabric, 1), summary);
  if (summary.diameter < 2) { // else no two hosts of one switch are farther apart
    find_farthest(routes, representatives(fabric, 2), summary);
  }
  summary.paths = routes.path_count(summary.far_a, summary.far_b);
  return summary;
}

std::vector<std::uint32_t> levels(const Fabric& fabric) {
  std::vector<std::vector<NodeId>> next(fabric.nodes());
  for (const FabricLink& link : fabric.links) {
    next[link.from].push_back(link.to);
  }
  constexpr std::uint32_t kUnknown = 0xffffffffU;
  std::vector<std::uint32_t> level(fabric.nodes(), kUnknown);
  std::vector<NodeId> open(fabric.hosts);
  for (NodeId host = 0; host < fabric.hosts; ++host) {
    open[host] = host;
    level[host] = 0;
  }
  for (std::size_t i = 0; i < open.size(); ++i) {
    for (const NodeId node : next[open[i]]) {
      if (level[node] == kUnknown) {
        level[node] = level[open[i]] + 1;
        open.push_back(node);
      }
    }
  }
  return level;
}

} // namespace stepsim::links
