// Tables of next hops on all shortest paths, by one breadth-first search per destination. A host
// with a single cable needs no row of its own: whoever sends to it sends to its switch, and the
// last hop is its cable. So a fat tree with many hosts per switch has rows for its switches only.
#include "links/fabric/routes.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/filtered_graph.hpp>
#include <cassert>
#include <utility>

#include "base/error.hpp"
#include "base/random.hpp"

namespace stepsim::links {

namespace {

constexpr LinkId kNoLink = 0xffffffffU;
constexpr std::uint64_t kEcmpStream = 1;
constexpr std::uint64_t kMaxEntries = std::uint64_t{1} << 26;

// Links against their direction: a search from a destination finds who leads to it.
using Reversed = boost::compressed_sparse_row_graph<boost::directedS>;
using Edge = boost::graph_traits<Reversed>::edge_descriptor;

// Only the destination itself and nodes that pass traffic on may be left.
struct MayPass {
  const Reversed* graph = nullptr;
  const std::vector<char>* passes = nullptr; // [column]
  std::uint32_t destination{};

  bool operator()(const Edge& edge) const {
    const auto node = boost::source(edge, *graph);
    return node == destination || (*passes)[node] != 0;
  }
};

// Sorted by neighbour, so that a choice by number is the same whatever the order of cables.
std::vector<std::vector<LinkId>> links_out(const Fabric& fabric) {
  std::vector<std::vector<LinkId>> out(fabric.nodes());
  for (LinkId link = 0; link < fabric.links.size(); ++link) {
    out[fabric.links[link].from].push_back(link);
  }
  for (std::vector<LinkId>& links : out) {
    std::sort(links.begin(), links.end(), [&](LinkId a, LinkId b) {
      return std::pair(fabric.links[a].to, a) < std::pair(fabric.links[b].to, b);
    });
  }
  return out;
}

std::string name_of(const Fabric& fabric, NodeId node) {
  return node < fabric.node_names.size() ? fabric.node_names[node] : std::to_string(node);
}

} // namespace

Routes::Routes(const Fabric& fabric) : hosts_(fabric.hosts) {
  number_nodes(fabric);
  fill(fabric);
  require_ways(fabric);
}

// `root_` is where the routes to a host end: its switch, or itself if it has several cables. Rows
// are destinations, columns all nodes that are not behind a root.
void Routes::number_nodes(const Fabric& fabric) {
  up_.assign(hosts_, kNoLink);
  down_.assign(hosts_, kNoLink);
  root_.resize(hosts_);
  row_.resize(hosts_);
  std::vector<std::uint32_t> cables(hosts_, 0);
  to_.reserve(fabric.links.size());
  for (LinkId id = 0; id < fabric.links.size(); ++id) {
    const FabricLink& link = fabric.links[id];
    to_.push_back(link.to);
    if (fabric.is_host(link.from)) {
      ++cables[link.from];
      up_[link.from] = id;
    }
  }
  std::vector<std::uint32_t> row_of(fabric.nodes(), kNoWay);
  for (NodeId host = 0; host < hosts_; ++host) {
    if (cables[host] == 1 && !fabric.is_host(to_[up_[host]])) {
      root_[host] = to_[up_[host]];
      down_[host] = up_[host] ^ 1U;
      assert(down_[host] < to_.size() && to_[down_[host]] == host &&
             "links 2c and 2c + 1 are the directions of cable c");
    } else {
      root_[host] = host;
      up_[host] = kNoLink;
    }
    std::uint32_t& row = row_of[root_[host]];
    if (row == kNoWay) {
      row = static_cast<std::uint32_t>(roots_.size());
      roots_.push_back(root_[host]);
    }
    row_[host] = row;
  }
  column_.assign(fabric.nodes(), kNoWay);
  for (NodeId node = 0; node < fabric.nodes(); ++node) {
    if (!is_leaf(node)) {
      column_[node] = static_cast<std::uint32_t>(columns_.size());
      columns_.push_back(node);
    }
  }
}

// A link leads nearer to the destination iff its far end is one hop nearer. Hosts that do not
// forward may be an end of a path, never a node within it.
void Routes::fill(const Fabric& fabric) {
  const std::uint64_t columns = columns_.size();
  if (roots_.size() * columns > kMaxEntries) {
    throw SimulationError(fmt::format("the fabric is too large for routing tables: {} destinations "
                                      "x {} nodes, at most 2^26 = 67108864",
                                      roots_.size(), columns));
  }
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
  for (const FabricLink& link : fabric.links) {
    if (!is_leaf(link.from) && !is_leaf(link.to)) {
      edges.emplace_back(column_[link.to], column_[link.from]);
    }
  }
  const Reversed graph(boost::edges_are_unsorted_multi_pass, edges.begin(), edges.end(), columns);
  std::vector<char> passes(columns);
  for (std::size_t i = 0; i < columns; ++i) {
    passes[i] = fabric.hosts_forward || !fabric.is_host(columns_[i]) ? 1 : 0;
  }
  const std::vector<std::vector<LinkId>> out = links_out(fabric);
  distance_.assign(roots_.size() * columns, kNoWay);
  begin_.reserve(roots_.size() * columns + 1);
  begin_.push_back(0);
  for (std::size_t row = 0; row < roots_.size(); ++row) {
    const std::uint32_t root = column_[roots_[row]];
    std::uint32_t* distance = distance_.data() + row * columns;
    distance[root] = 0;
    boost::breadth_first_search(boost::filtered_graph(graph, MayPass{&graph, &passes, root}), root,
                                boost::visitor(boost::make_bfs_visitor(
                                    boost::record_distances(distance, boost::on_tree_edge()))));
    for (std::size_t i = 0; i < columns; ++i) {
      for (const LinkId link : out[columns_[i]]) {
        const std::uint32_t next = column_[to_[link]];
        if (next != kNoWay && distance[i] != kNoWay && distance[i] == distance[next] + 1 &&
            (next == root || passes[next] != 0)) {
          next_.push_back(link);
        }
      }
      begin_.push_back(static_cast<std::uint32_t>(next_.size()));
    }
  }
}

// A fabric in pieces is an error at once, not when the first flow finds no way.
void Routes::require_ways(const Fabric& fabric) const {
  for (std::size_t row = 0; row < roots_.size(); ++row) {
    for (NodeId src = 0; src < hosts_; ++src) {
      if (distance_[row * columns_.size() + column_[root_[src]]] == kNoWay) {
        const auto dst = std::find(root_.begin(), root_.end(), roots_[row]) - root_.begin();
        throw SimulationError("no route from " + name_of(fabric, src) + " to " +
                              name_of(fabric, static_cast<NodeId>(dst)));
      }
    }
  }
}

bool Routes::is_leaf(NodeId node) const { return node < hosts_ && up_[node] != kNoLink; }

std::size_t Routes::cell(NodeId node, NodeId dst) const {
  return row_[dst] * columns_.size() + column_[node];
}

std::span<const LinkId> Routes::next_links(NodeId node, NodeId dst) const {
  assert(node < column_.size() && dst < hosts_ && "nodes of the fabric, a host as destination");
  if (node == dst) {
    return {};
  }
  if (is_leaf(node)) {
    return {&up_[node], 1};
  }
  if (node == root_[dst]) {
    return {&down_[dst], 1};
  }
  const std::size_t at = cell(node, dst);
  return std::span(next_).subspan(begin_[at], begin_[at + 1] - begin_[at]);
}

std::uint32_t Routes::distance(NodeId node, NodeId dst) const {
  assert(node < column_.size() && dst < hosts_ && "nodes of the fabric, a host as destination");
  if (node == dst) {
    return 0;
  }
  const std::uint32_t between = distance_[cell(is_leaf(node) ? root_[node] : node, dst)];
  return between == kNoWay ? kNoWay : between + (is_leaf(node) ? 1 : 0) + (is_leaf(dst) ? 1 : 0);
}

// Every switch picks among its next hops by a hash of connection and switch, as hardware does by a
// hash of addresses and ports: a connection keeps its path, and connections spread.
std::vector<LinkId> Routes::ecmp_path(NodeId src, NodeId dst, std::uint64_t connection,
                                      std::uint64_t seed) const {
  std::vector<LinkId> path;
  for (NodeId node = src; node != dst; node = to_[path.back()]) {
    const std::span<const LinkId> next = next_links(node, dst);
    assert(!next.empty() && "every host is reached from every other");
    const std::uint64_t h = base::hash(seed, kEcmpStream, node, src, dst, connection);
    path.push_back(next[base::pick(h, next.size())]);
  }
  return path;
}

// Level by level towards the destination: the paths to a node are the sum over the nodes before it.
double Routes::path_count(NodeId src, NodeId dst) const {
  std::vector<std::pair<NodeId, double>> level{{src, 1}}; // nodes equally far from dst, ascending
  while (level.size() != 1 || level.front().first != dst) {
    std::vector<std::pair<NodeId, double>> reached;
    for (const auto& [node, paths] : level) {
      for (const LinkId link : next_links(node, dst)) {
        reached.emplace_back(to_[link], paths);
      }
    }
    assert(!reached.empty() && "every host is reached from every other");
    std::sort(reached.begin(), reached.end());
    level.clear();
    for (const auto& [node, paths] : reached) {
      if (!level.empty() && level.back().first == node) {
        level.back().second += paths;
      } else {
        level.emplace_back(node, paths);
      }
    }
  }
  return level.front().second;
}

} // namespace stepsim::links
