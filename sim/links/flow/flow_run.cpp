#include "links/flow/flow_run.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/collected.hpp"
#include "base/random.hpp"

namespace stepsim::links {

namespace {

constexpr std::uint64_t kJitterStream = 3;
constexpr std::uint64_t kPermutationStream = 7;

FlowSpec flow(NodeId src, NodeId dst, FlowSpec like) {
  like.src = src;
  like.dst = dst;
  return like;
}

bool any_at_its_place(const std::vector<NodeId>& order) {
  for (NodeId host = 0; host < order.size(); ++host) {
    if (order[host] == host) {
      return true;
    }
  }
  return false;
}

// Runs a list of flows with given starts on one flow level: the next instant is the next start or
// the next event of the network, whichever is first.

std::string name(const Fabric& fabric, std::span<const FlowSpec> flows, std::size_t id) {
  return "flow " + std::to_string(id) + " (" + fabric.node_names[flows[id].src] + " -> " +
         fabric.node_names[flows[id].dst] + ")";
}

// The error that names the first of the flows concerned.
[[noreturn]] void refuse(const Fabric& fabric, std::span<const FlowSpec> flows,
                         std::span<const std::uint32_t> ids, const std::string& what) {
  const std::string text = base::listed(ids.first(std::min(ids.size(), kMostNamed)),
                                        [&](std::uint32_t id) { return name(fabric, flows, id); });
  throw SimulationError(what + ": " + text + (ids.size() > kMostNamed ? ", ..." : ""));
}

// Priorities in use, as classes 0, 1, ...
std::array<std::uint32_t, 256> classes_of(std::span<const FlowSpec> flows, std::uint32_t& count) {
  std::array<std::uint32_t, 256> used{};
  for (const FlowSpec& flow : flows) {
    used[flow.priority] = 1;
  }
  count = 0;
  for (std::uint32_t& entry : used) {
    entry = entry != 0 ? count++ : 0;
  }
  return used;
}

// The path through the `via`-th of several next hops, wherever there is a choice; empty if there
// are not so many.
std::vector<LinkId> via_path(const Fabric& fabric, const Routes& routes, const FlowSpec& flow) {
  std::vector<LinkId> path;
  NodeId node = flow.src;
  while (node != flow.dst) {
    const auto links = routes.next_links(node, flow.dst);
    if (links.size() > 1 && *flow.via >= links.size()) {
      return {};
    }
    path.push_back(links.size() > 1 ? links[*flow.via] : links[0]);
    node = fabric.links[path.back()].to;
  }
  return path;
}

// Whether the links join up from source to destination.
bool leads(const Fabric& fabric, std::span<const LinkId> path, NodeId src, NodeId dst) {
  NodeId node = src;
  for (const LinkId link : path) {
    if (link >= fabric.links.size() || fabric.links[link].from != node) {
      return false;
    }
    node = fabric.links[link].to;
  }
  return node == dst;
}

} // namespace

void add_incast(std::vector<FlowSpec>& flows, std::uint32_t senders, const FlowSpec& like) {
  for (NodeId host = 0; host < senders; ++host) {
    flows.push_back(flow(host, senders, like));
  }
}

// A random order without a host at its own place: shuffles are drawn until one has none, which
// takes e = 2.7 of them on average.
void add_permutation(std::vector<FlowSpec>& flows, std::uint32_t hosts, std::uint64_t seed,
                     const FlowSpec& like) {
  if (hosts < 2) {
    return;
  }
  std::vector<NodeId> order(hosts);
  std::uint64_t attempt = 0;
  do {
    std::iota(order.begin(), order.end(), 0U);
    for (std::uint32_t i = hosts - 1; i > 0; --i) {
      const std::uint64_t draw = base::hash(seed, kPermutationStream, attempt, i);
      std::swap(order[i], order[base::pick(draw, i + 1)]);
    }
    ++attempt;
  } while (any_at_its_place(order));
  for (NodeId host = 0; host < hosts; ++host) {
    flows.push_back(flow(host, order[host], like));
  }
}

void add_all_to_all(std::vector<FlowSpec>& flows, std::uint32_t hosts, const FlowSpec& like) {
  for (NodeId src = 0; src < hosts; ++src) {
    for (NodeId dst = 0; dst < hosts; ++dst) {
      if (src != dst) {
        flows.push_back(flow(src, dst, like));
      }
    }
  }
}

void add_start_jitter(std::vector<FlowSpec>& flows, double jitter_s, std::uint64_t seed) {
  for (std::size_t id = 0; id < flows.size(); ++id) {
    flows[id].start_s += base::u01(seed, kJitterStream, id) * jitter_s;
  }
}

double wire_bytes(double bytes, double payload_bytes, double header_bytes) {
  assert(payload_bytes > 0);
  return bytes + std::ceil(bytes / payload_bytes) * header_bytes;
}

std::vector<FlowPath> flow_paths(const Fabric& fabric, const Routes& routes,
                                 std::span<const FlowSpec> flows, const FlowPathOptions& options) {
  std::vector<FlowPath> paths;
  paths.reserve(flows.size());
  for (std::size_t id = 0; id < flows.size(); ++id) {
    const FlowSpec& flow = flows[id];
    if (options.spray && flow.path.empty() && !flow.via) {
      paths.push_back(sprayed_path(fabric, routes, flow.src, flow.dst));
      continue;
    }
    std::vector<LinkId> links = flow.path;
    if (links.empty()) {
      links = flow.via ? via_path(fabric, routes, flow)
                       : routes.ecmp_path(flow.src, flow.dst, id, options.seed);
    }
    if (!leads(fabric, links, flow.src, flow.dst)) {
      throw SimulationError(name(fabric, flows, id) + ": " +
                            (flow.path.empty()
                                 ? "no way through spine " + std::to_string(flow.via.value_or(0))
                                 : "its path does not lead from source to destination"));
    }
    paths.push_back(single_path(fabric, std::move(links)));
  }
  return paths;
}

FlowRun run_flows(const Fabric& fabric, std::span<const FlowPath> paths,
                  std::span<const FlowSpec> flows, const FlowRunOptions& options) {
  assert(paths.size() == flows.size());
  std::uint32_t classes = 0;
  const auto class_of = classes_of(flows, classes);
  FlowLevel level(link_capacities(fabric), std::max(1U, classes));
  FlowRun run;
  run.end_s.assign(flows.size(), std::numeric_limits<double>::infinity());
  std::vector<std::uint32_t> order; // by start, then id
  for (std::uint32_t id = 0; id < flows.size(); ++id) {
    if (flows[id].bytes > 0 && flows[id].src != flows[id].dst) {
      order.push_back(id);
    } else {
      run.end_s[id] = flows[id].start_s;
    }
  }
  std::ranges::stable_sort(
      order, [&](std::uint32_t a, std::uint32_t b) { return flows[a].start_s < flows[b].start_s; });
  const auto unfinished = [&] {
    std::vector<std::uint32_t> ids;
    for (std::uint32_t id = 0; id < flows.size(); ++id) {
      if (run.end_s[id] == std::numeric_limits<double>::infinity()) {
        ids.push_back(id);
      }
    }
    return ids;
  };

  std::size_t started = 0;
  std::vector<std::uint32_t> done;
  for (std::size_t ended = 0; ended < order.size();) {
    const double start = started < order.size() ? flows[order[started]].start_s
                                                : std::numeric_limits<double>::infinity();
    const double now = std::min(start, level.next_time());
    if (now == std::numeric_limits<double>::infinity()) {
      refuse(fabric, flows, unfinished(), "these flows stand still");
    }
    if (now > options.limit_s) {
      refuse(fabric, flows, unfinished(), "unfinished at the limit of simulated time");
    }
    done.clear();
    level.advance(now, done);
    for (const std::uint32_t id : done) {
      run.end_s[id] = now;
    }
    ended += done.size();
    for (; started < order.size() && flows[order[started]].start_s <= now; ++started) {
      const FlowSpec& flow = flows[order[started]];
      level.submit(now, {.id = order[started],
                         .path = level.add_path(paths[order[started]]),
                         .bytes = flow.bytes,
                         .priority = class_of[flow.priority],
                         .weight = flow.weight,
                         .cap_Bps = flow.cap_Bps});
    }
  }
  for (const double end : run.end_s) {
    run.finish_s = std::max(run.finish_s, end);
  }
  run.links = level.link_use(run.finish_s);
  run.solves = level.solves();
  run.full_solves = level.full_solves();
  run.events = 2 * order.size();
  return run;
}

} // namespace stepsim::links
