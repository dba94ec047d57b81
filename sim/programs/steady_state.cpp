#include "programs/steady_state.hpp"

#include <cassert>
#include <iterator>
#include <utility>

#include "programs/recurrence.hpp"

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

// More arcs than the cycle has, parallel ones counted once.
bool has_other_cycles(const CycleGraph& critical, std::size_t cycle) {
  std::size_t arcs = 0;
  std::vector<std::uint32_t> from;
  for (std::uint32_t node = 0; node < critical.nodes(); ++node) {
    from.assign(critical.from.begin() + critical.first[node],
                critical.from.begin() + critical.first[node + 1]);
    std::ranges::sort(from);
    arcs += static_cast<std::size_t>(std::ranges::unique(from).begin() - from.begin());
  }
  return arcs > cycle;
}

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
  state.cyclicity = cyclicity(state.critical);
  const std::vector<std::uint32_t> nodes =
      shortest_cycle(state.critical, constraints.order, solution->cycle);
  state.cycle_iterations = distance_along(state.critical, nodes);
  state.other_cycles = has_other_cycles(state.critical, nodes.size());
  for (const std::uint32_t node : nodes) {
    state.cycle.push_back(constraints.order[node]);
  }
  state.node_of = std::move(constraints.node_of);
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

Program without_exchanges(Program program) {
  // Streams of the marker, of computing, or of a delay for which something else than an exchange
  // waits: its operations hold up each other, so that all of them take their time.
  std::vector<bool> counts(program.streams.size());
  counts[program.operations[program.marker].stream] = true;
  for (std::size_t o = 0; o < program.operations.size(); ++o) {
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
  for (Operation& operation : program.operations) {
    operation.startup = {};
    operation.data = {};
    if (operation.type == OperationType::delay && !counts[operation.stream]) {
      operation.seconds = {};
    }
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

} // namespace stepsim::programs
