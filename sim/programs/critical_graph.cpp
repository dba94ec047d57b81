#include "programs/steady_state.hpp"

#include "base/collected.hpp"

#include <cmath>

namespace stepsim::programs {
namespace {

constexpr std::uint32_t kUnseen = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kSearchedArcs = 20'000'000;

// The arcs of `graph` for which `keep(node, arc)` holds.
template <class Keep> CycleGraph filtered(const CycleGraph& graph, Keep keep) {
  CycleGraph result;
  result.first.reserve(graph.first.size());
  result.from.reserve(graph.from.size());
  result.distance.reserve(graph.from.size());
  for (std::uint32_t node = 0; node < graph.nodes(); ++node) {
    for (std::uint32_t arc = graph.first[node]; arc < graph.first[node + 1]; ++arc) {
      if (keep(node, arc)) {
        result.from.push_back(graph.from[arc]);
        result.distance.push_back(graph.distance[arc]);
      }
    }
    result.first.push_back(static_cast<std::uint32_t>(result.from.size()));
  }
  return result;
}

// The nodes of a shortest cycle that ends with the arc out of `start`'s predecessor: breadth first
// against the arcs from `start` until `start` comes again. Empty if it has at least `limit` nodes.
class BackwardSearch {
public:
  explicit BackwardSearch(const CycleGraph& graph)
      : graph_(graph), seen_(graph.nodes(), kUnseen), towards_(graph.nodes()) {}

  std::vector<std::uint32_t> run(std::uint32_t start, std::size_t limit, std::uint64_t& budget) {
    std::vector<std::uint32_t> level = {start};
    std::vector<std::uint32_t> next;
    seen_[start] = start;
    for (std::size_t length = 1; length < limit && !level.empty(); ++length, level.swap(next)) {
      next.clear();
      for (const std::uint32_t node : level) {
        for (std::uint32_t arc = graph_.first[node]; arc < graph_.first[node + 1]; ++arc) {
          if (budget == 0) {
            return {};
          }
          --budget;
          const std::uint32_t from = graph_.from[arc];
          if (from == start) {
            return path(start, node);
          }
          if (seen_[from] != start) {
            seen_[from] = start;
            towards_[from] = node;
            next.push_back(from);
          }
        }
      }
    }
    return {};
  }

private:
  [[nodiscard]] std::vector<std::uint32_t> path(std::uint32_t start, std::uint32_t node) const {
    std::vector<std::uint32_t> cycle = {start};
    for (; node != start; node = towards_[node]) {
      cycle.push_back(node);
    }
    return cycle;
  }

  const CycleGraph& graph_;
  std::vector<std::uint32_t> seen_; // the last start that reached the node
  std::vector<std::uint32_t> towards_;
};

// Begins with the node of the smallest rank.
void rotate_to_first(std::vector<std::uint32_t>& cycle, std::span<const std::uint32_t> rank) {
  std::ranges::rotate(
      cycle, std::ranges::min_element(cycle, {}, [&](std::uint32_t node) { return rank[node]; }));
}

} // namespace

CycleGraph critical_arcs(const CycleGraph& graph, std::span<const double> weight,
                         const CycleRatio& solution) {
  const double scale = base::greatest<double>(weight, std::abs(solution.ratio),
                                              [](double w) { return std::abs(w); });
  const CycleGraph tight = filtered(graph, [&](std::uint32_t node, std::uint32_t arc) {
    const std::uint32_t from = graph.from[arc];
    const double reached =
        solution.potential[from] + (weight[from] - solution.ratio * graph.distance[arc]);
    return solution.potential[node] - reached <= 1e-12 * scale;
  });
  const std::vector<std::uint32_t> component = components(tight);
  return filtered(tight, [&](std::uint32_t node, std::uint32_t arc) {
    return component[node] == component[tight.from[arc]];
  });
}

// Tarjan's algorithm with its own stack; it walks against the arcs, which gives the same
// components.
std::vector<std::uint32_t> components(const CycleGraph& graph) {
  const std::uint32_t count = graph.nodes();
  std::vector<std::uint32_t> component(count, kUnseen);
  std::vector<std::uint32_t> number(count, kUnseen);
  std::vector<std::uint32_t> low(count, 0);
  std::vector<std::uint32_t> next_arc(graph.first.begin(), graph.first.end() - 1);
  std::vector<std::uint32_t> walk;
  std::vector<std::uint32_t> open;
  std::uint32_t numbers = 0;
  std::uint32_t found = 0;
  const auto enter = [&](std::uint32_t node) {
    number[node] = low[node] = numbers++;
    walk.push_back(node);
    open.push_back(node);
  };
  for (std::uint32_t root = 0; root < count; ++root) {
    if (number[root] == kUnseen) {
      enter(root);
    }
    while (!walk.empty()) {
      const std::uint32_t node = walk.back();
      if (next_arc[node] < graph.first[node + 1]) {
        const std::uint32_t from = graph.from[next_arc[node]++];
        if (number[from] == kUnseen) {
          enter(from);
        } else if (component[from] == kUnseen) {
          low[node] = std::min(low[node], number[from]);
        }
        continue;
      }
      walk.pop_back();
      if (!walk.empty()) {
        low[walk.back()] = std::min(low[walk.back()], low[node]);
      }
      if (low[node] == number[node]) {
        while (component[node] == kUnseen) {
          component[open.back()] = found;
          open.pop_back();
        }
        ++found;
      }
    }
  }
  return component;
}

// Every cycle has an arc of positive distance, so starts are the nodes that such arcs lead to.
std::vector<std::uint32_t> shortest_cycle(const CycleGraph& critical,
                                          std::span<const std::uint32_t> rank,
                                          std::vector<std::uint32_t> first) {
  std::vector<std::uint32_t> best = std::move(first);
  rotate_to_first(best, rank);
  std::vector<std::uint32_t> starts;
  for (std::uint32_t node = 0; node < critical.nodes(); ++node) {
    for (std::uint32_t arc = critical.first[node]; arc < critical.first[node + 1]; ++arc) {
      if (critical.distance[arc] > 0) {
        starts.push_back(node);
        break;
      }
    }
  }
  std::ranges::sort(starts, {}, [&](std::uint32_t node) { return rank[node]; });
  BackwardSearch search(critical);
  std::uint64_t budget = kSearchedArcs;
  for (const std::uint32_t start : starts) {
    std::vector<std::uint32_t> found = search.run(start, best.size() + 1, budget);
    if (found.empty()) {
      continue;
    }
    rotate_to_first(found, rank);
    if (found.size() < best.size() || rank[found.front()] < rank[best.front()]) {
      best = std::move(found);
    }
  }
  return best;
}

} // namespace stepsim::programs
