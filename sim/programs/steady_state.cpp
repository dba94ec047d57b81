#include "programs/steady_state.hpp"

#include "base/collected.hpp"
#include "programs/recurrence.hpp"

#include <cassert>
#include <cmath>
#include <iterator>

namespace stepsim::programs {

namespace {

struct ConstraintGraph {
  CycleGraph graph;
  std::vector<std::uint32_t> order;   // operation of each node
  std::vector<std::uint32_t> node_of; // node of each operation
  std::vector<double> seconds;        // per node
};

// Arcs into an operation: its waits, then the one before it on its stream. Searches look at arcs in
// this order, so that of two cycles that are equally good the one along waits is shown.
ConstraintGraph constraint_graph(const Program& program) {
  ConstraintGraph result;
  result.order = issue_order(program).order;
  const std::size_t count = result.order.size();
  result.node_of.resize(count);
  result.seconds.resize(count);
  for (std::uint32_t node = 0; node < count; ++node) {
    result.node_of[result.order[node]] = node;
    result.seconds[node] = program.operations[result.order[node]].duration_s();
  }
  const std::vector<Wait> on_streams = waits_on_streams(program);
  CycleGraph& graph = result.graph;
  graph.first.reserve(count + 1);
  graph.from.reserve(program.waits.size() + count);
  graph.distance.reserve(program.waits.size() + count);
  const auto add_arc = [&](const Wait& wait) {
    if (wait.until == kAlways) {
      graph.from.push_back(result.node_of[wait.operation]);
      graph.distance.push_back(static_cast<std::uint32_t>(wait.distance));
    }
  };
  for (const std::uint32_t o : result.order) {
    std::ranges::for_each(program.waits_of(o), add_arc);
    add_arc(on_streams[o]);
    graph.first.push_back(static_cast<std::uint32_t>(graph.from.size()));
  }
  return result;
}

std::int64_t distance_along(const CycleGraph& critical, const std::vector<std::uint32_t>& nodes) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    sum += critical.distance_between(nodes[i], nodes[i + 1 < nodes.size() ? i + 1 : 0]);
  }
  return sum;
}

// Whether an operation that takes time is on a critical cycle and not on this one.
bool has_other_cycles(const CycleGraph& critical, const std::vector<double>& seconds,
                      const std::vector<std::uint32_t>& cycle) {
  for (std::uint32_t node = 0; node < critical.nodes(); ++node) {
    if (seconds[node] > 0 && critical.first[node] < critical.first[node + 1] &&
        std::ranges::find(cycle, node) == cycle.end()) {
      return true;
    }
  }
  return false;
}

// Binding arcs: parent[i] is the arc that raised node i last. A cycle of parents has a ratio above
// the present one, because every one of its arcs improved something; following it replaces the
// ratio, until no arc improves anything.

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
    const double largest = base::greatest<double>(weight_, 0, [](double w) { return std::abs(w); });
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

SteadyState steady_state(const Program& program) {
  assert(recurrence_applies(program) && "fifo streams without interference");
  ConstraintGraph constraints = constraint_graph(program);
  const std::optional<CycleRatio> solution =
      maximum_cycle_ratio(constraints.graph, constraints.seconds);
  assert(solution && "the operations of a stream are a cycle");
  SteadyState state;
  state.period = {solution->ratio};
  state.critical = critical_arcs(constraints.graph, constraints.seconds, *solution);
  const std::vector<std::uint32_t> nodes =
      shortest_cycle(state.critical, constraints.order, solution->cycle);
  state.cycle_iterations = distance_along(state.critical, nodes);
  for (const std::uint32_t node : nodes) {
    state.cycle.push_back(constraints.order[node]);
  }
  state.node_of = std::move(constraints.node_of);
  state.other_cycles = has_other_cycles(state.critical, constraints.seconds, nodes);
  return state;
}

Seconds steady_period(const Program& program, const OperationLayout& layout) {
  assert(recurrence_applies(program) && "fifo streams without interference");
  constexpr std::int64_t kFew = 16; // a search takes about as long
  if (const auto period = recurrence(program, layout, kFew, Record::steady).period_s) {
    return {*period};
  }
  const ConstraintGraph constraints = constraint_graph(program);
  return {maximum_cycle_ratio(constraints.graph, constraints.seconds)->ratio};
}

Derivative derivative(const SteadyState& state, std::span<const double> slopes) {
  std::vector<double> weight(state.node_of.size());
  for (std::size_t o = 0; o < state.node_of.size(); ++o) {
    weight[state.node_of[o]] = slopes[o];
  }
  const double right = maximum_cycle_ratio(state.critical, weight)->ratio;
  for (double& w : weight) {
    w = 0 - w;
  }
  return {.left = 0 - maximum_cycle_ratio(state.critical, weight)->ratio, .right = right};
}

std::vector<double> seconds_without_exchanges(const Program& program) {
  // Streams of the marker, of computing, or of a delay for which something else than an exchange
  // waits: its operations hold up each other, so that all of them take their time.
  std::vector<bool> counts(program.streams.size());
  counts[program.operations[program.marker].stream] = true;
  const bool delays = std::ranges::find(program.operations, OperationType::delay,
                                        &Operation::type) != program.operations.end();
  for (std::size_t o = 0; delays && o < program.operations.size(); ++o) {
    const Operation& operation = program.operations[o];
    if (operation.type == OperationType::compute) {
      counts[operation.stream] = true;
    }
    for (const Wait& wait : program.waits_of(o)) {
      const Operation& awaited = program.operations[wait.operation];
      if (operation.type != OperationType::exchange && awaited.type == OperationType::delay) {
        counts[awaited.stream] = true;
      }
    }
  }
  std::vector<double> seconds(program.operations.size());
  std::ranges::transform(program.operations, seconds.begin(), [&](const Operation& operation) {
    const bool stays = operation.type == OperationType::compute ||
                       (operation.type == OperationType::delay && operation.id != kWait &&
                        counts[operation.stream]);
    return stays ? operation.seconds.value : 0;
  });
  return seconds;
}

Program without_exchanges(Program program) {
  const std::vector<double> seconds = seconds_without_exchanges(program);
  for (std::size_t o = 0; o < program.operations.size(); ++o) {
    Operation& operation = program.operations[o];
    operation.startup = {};
    operation.data = {};
    operation.entry = Entry::together;
    operation.seconds = {seconds[o]};
  }
  program.interference = {};
  return program;
}

Program one_rank(Program program) {
  program.ranks = 1;
  for (Group& group : program.groups) {
    group.parts = {{0}};
  }
  return program;
}

Program without_warmup(Program program) {
  std::vector<Wait> kept;
  for (std::size_t o = 0; o < program.operations.size(); ++o) {
    const std::size_t before = kept.size();
    std::ranges::copy_if(program.waits_of(o), std::back_inserter(kept),
                         [](const Wait& wait) { return wait.until == kAlways; });
    program.first_wait[o] = before;
  }
  program.first_wait.back() = kept.size();
  program.waits = std::move(kept);
  return program;
}

std::optional<CycleRatio> maximum_cycle_ratio(const CycleGraph& graph,
                                              std::span<const double> weight) {
  return RatioSearch(graph, weight).run();
}

} // namespace stepsim::programs
