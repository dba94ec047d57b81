// Binding arcs: parent[i] is the arc that raised node i last. A cycle of parents has a ratio above
// the present one, because every one of its arcs improved something; following it replaces the
// ratio, until no arc improves anything.
#include "programs/steady_state.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace stepsim::programs {
namespace {

constexpr std::uint32_t kNoArc = std::numeric_limits<std::uint32_t>::max();

class RatioSearch {
public:
  RatioSearch(const CycleGraph& graph, std::span<const double> weight)
      : graph_(graph), weight_(weight), parent_(graph.nodes(), kNoArc), mark_(graph.nodes(), 0) {}

  std::optional<CycleRatio> run() {
    if (!start()) {
      return std::nullopt;
    }
    best_.potential.assign(graph_.nodes(), 0);
    std::ranges::fill(parent_, kNoArc);
    double largest = 0;
    for (const double w : weight_) {
      largest = std::max(largest, std::abs(w));
    }
    // Rounding moves a potential by a few units in its last place; noise that goes around a cycle
    // shows as a cycle that is not better, and then the threshold grows.
    double threshold = 1e-16 * largest;
    while (improve(threshold)) {
      if (const std::optional<CycleRatio> found = best_parent_cycle()) {
        if (found->ratio > best_.ratio) {
          take(*found);
        } else {
          threshold = 4 * threshold + std::numeric_limits<double>::denorm_min();
        }
        std::ranges::fill(parent_, kNoArc);
      }
    }
    return std::move(best_);
  }

private:
  // A cycle to begin with: the heaviest arc into each node leads back to a cycle, because the node
  // that an arc leaves has an arc in.
  bool start() {
    for (std::uint32_t node = 0; node < graph_.nodes(); ++node) {
      for (std::uint32_t arc = graph_.first[node]; arc < graph_.first[node + 1]; ++arc) {
        if (parent_[node] == kNoArc || weight_[graph_.from[arc]] >= weight_of(parent_[node])) {
          parent_[node] = arc;
        }
      }
    }
    const std::optional<CycleRatio> found = best_parent_cycle();
    if (found) {
      take(*found);
    }
    return found.has_value();
  }

  [[nodiscard]] double weight_of(std::uint32_t arc) const { return weight_[graph_.from[arc]]; }

  void take(const CycleRatio& found) {
    best_.ratio = found.ratio;
    best_.cycle = found.cycle;
    best_.distance = found.distance;
  }

  // One pass; true if a potential rose by more than the threshold.
  bool improve(double threshold) {
    bool changed = false;
    std::vector<double>& potential = best_.potential;
    for (std::uint32_t node = 0; node < graph_.nodes(); ++node) {
      double highest = potential[node] + threshold;
      for (std::uint32_t arc = graph_.first[node]; arc < graph_.first[node + 1]; ++arc) {
        const std::uint32_t from = graph_.from[arc];
        const double reached =
            potential[from] + (weight_[from] - best_.ratio * graph_.distance[arc]);
        if (reached > highest) {
          highest = reached;
          potential[node] = reached;
          parent_[node] = arc;
          changed = true;
        }
      }
    }
    return changed;
  }

  // The best of the cycles of parents. Every node has at most one parent: O(nodes).
  std::optional<CycleRatio> best_parent_cycle() {
    std::optional<CycleRatio> best;
    std::ranges::fill(mark_, 0);
    std::uint32_t walk = 0;
    for (std::uint32_t node = 0; node < graph_.nodes(); ++node) {
      if (mark_[node] != 0) {
        continue;
      }
      ++walk;
      std::uint32_t at = node;
      while (mark_[at] == 0 && parent_[at] != kNoArc) {
        mark_[at] = walk;
        at = graph_.from[parent_[at]];
      }
      if (mark_[at] == walk && parent_[at] != kNoArc) {
        CycleRatio found = cycle_of(at);
        if (!best || found.ratio > best->ratio) {
          best = std::move(found);
        }
      } else if (mark_[at] == 0) {
        mark_[at] = walk; // a node without a parent ends the walk
      }
    }
    return best;
  }

  [[nodiscard]] CycleRatio cycle_of(std::uint32_t node) const {
    CycleRatio found;
    double sum = 0;
    std::uint32_t at = node;
    do {
      found.cycle.push_back(at);
      found.distance += graph_.distance[parent_[at]];
      sum += weight_[at];
      at = graph_.from[parent_[at]];
    } while (at != node);
    found.ratio = sum / static_cast<double>(found.distance);
    std::ranges::reverse(found.cycle);
    std::ranges::rotate(found.cycle, std::ranges::min_element(found.cycle));
    return found;
  }

  const CycleGraph& graph_;
  std::span<const double> weight_;
  std::vector<std::uint32_t> parent_;
  std::vector<std::uint32_t> mark_; // the walk that came by, 0 if none
  CycleRatio best_;
};

} // namespace

std::optional<CycleRatio> maximum_cycle_ratio(const CycleGraph& graph,
                                              std::span<const double> weight) {
  return RatioSearch(graph, weight).run();
}

} // namespace stepsim::programs
