#pragma once
// The exact period of a program with equal ranks, constant durations and fifo streams (TRN 2.4). It
// is the maximum, over the directed cycles of the constraint graph, of the total duration of the
// operations on the cycle divided by the iterations that the cycle spans. The arcs are: every wait,
// with its distance; from each operation to the next one on its stream, with distance 0; from the
// last operation of a stream to the first, with distance 1.
//
//     a (3 s) waits for c at distance 1, b (4 s) for a at distance 0, c (5 s) for b at distance 1:
//     the cycle a b c takes 12 s and spans 2 iterations, hence the period is 6 s, although the ends
//     of a differ by 5, 7, 5, 7, .. s

#include "programs/operation_layout.hpp"

namespace stepsim::programs {

// The maximum cycle ratio of a graph whose nodes have weights and whose arcs have distances:
//
//     max over directed cycles of  sum of weights of the nodes / sum of distances of the arcs
//
// Every cycle must have distance > 0. The result is computed from the weights of one cycle. Node
// potentials v prove that no other cycle has a larger ratio: on every arc,
// v[to] >= v[from] + weight[from] - ratio x distance.

// A graph whose arcs are stored by the node that they lead to: the arcs into node i have the
// positions first[i] .. first[i + 1] - 1 of `from` and `distance`. Arcs of distance 0 must lead to
// nodes of larger number, and a node with an outgoing arc must have an incoming arc.
struct CycleGraph {
  std::vector<std::uint32_t> first = {0};
  std::vector<std::uint32_t> from;
  std::vector<std::uint32_t> distance;
  [[nodiscard]] std::uint32_t nodes() const { return static_cast<std::uint32_t>(first.size() - 1); }
  // Returns the distance of the first arc from `node` to `to`, which must exist.
  [[nodiscard]] std::uint32_t distance_between(std::uint32_t node, std::uint32_t to) const {
    std::uint32_t arc = first[to];
    while (from[arc] != node) {
      ++arc;
    }
    return distance[arc];
  }
};

struct CycleRatio {
  double ratio{};
  std::vector<std::uint32_t> cycle; // nodes in the direction of the arcs, smallest number first
  std::uint64_t distance{};         // sum of the distances of the cycle
  std::vector<double> potential;    // [node]: v
};

// The maximum cycle ratio; empty if the graph has no cycle. weight[node] may have any sign. The
// method (derived, after Burns and Howard) makes Bellman-Ford passes in node order and raises the
// ratio whenever the binding arcs contain a better cycle. A pass is O(arcs) and follows all arcs of
// distance 0, so that few passes are needed.
[[nodiscard]] std::optional<CycleRatio> maximum_cycle_ratio(const CycleGraph& graph,
                                                            std::span<const double> weight);

struct SteadyState {
  Seconds period;
  // The critical cycle: operations in the direction of time, the smallest list position first. If
  // there are several critical cycles, one with the fewest operations, then with the smallest first
  // position.
  std::vector<std::uint32_t> cycle;
  std::int64_t cycle_iterations{}; // iterations that `cycle` spans: the sum of its distances
  bool other_cycles{};             // further critical cycles have other operations that take time

  // Input of derivative(): the critical arcs, with nodes in the order of evaluation, and the node
  // of each operation.
  CycleGraph critical;
  std::vector<std::uint32_t> node_of;
};

// The steady state of a valid program for which recurrence_applies(). The tail and waits that end
// are ignored.
[[nodiscard]] SteadyState steady_state(const Program& program);
// The period of steady_state() alone, which takes a fraction of the time; `layout` is that of the
// program.
[[nodiscard]] Seconds steady_period(const Program& program, const OperationLayout& layout);

// The one-sided derivatives of the period with respect to a parameter, if the duration of operation
// o has the derivative slopes[o] >= 0 (TRN 7.3). left < right means a kink: several cycles are
// critical.
struct Derivative {
  double left{};
  double right{};
};
[[nodiscard]] Derivative derivative(const SteadyState& state, std::span<const double> slopes);

// The program without interference, in which exchanges take no time, nor do delays that only
// exchanges wait for, such as the cycle time of Horovod, nor a delay named kWait. Any other delay
// keeps its time if its stream has a compute operation, or if a compute or delay operation waits
// for a delay of its stream.
[[nodiscard]] Program without_exchanges(Program program);
// [operation]: seconds in without_exchanges(program).
[[nodiscard]] std::vector<double> seconds_without_exchanges(const Program& program);

// The program reduced to a single rank, which stands for all ranks if they are equal: every wait is
// for that rank, and every group has that rank only.
[[nodiscard]] Program one_rank(Program program);

// The program without the waits that end, which is how it runs once they have ended.
[[nodiscard]] Program without_warmup(Program program);

// The critical cycles of a graph, which are the cycles with the maximum cycle ratio
// (cycle_ratio.hpp): their arcs, and a shortest critical cycle to show.

// The graph of all arcs that lie on a critical cycle; the nodes are the same. An arc is critical if
// its potential inequality (cycle_ratio.hpp) holds with equality, up to 1e-12 of the ratio or of
// the largest weight, and the arc lies on a cycle of such arcs. All cycles of the new graph are
// critical.
[[nodiscard]] CycleGraph critical_arcs(const CycleGraph& graph, std::span<const double> weight,
                                       const CycleRatio& solution);

// [node]: its strongly connected component; components are numbered in no particular order.
[[nodiscard]] std::vector<std::uint32_t> components(const CycleGraph& graph);

// A cycle with the fewest nodes; among several, one whose first node has the smallest `rank`
// (`rank` gives the order of nodes: [node]). The search visits at most 2e7 arcs and then returns
// the best cycle so far, which is `first` at the start.
[[nodiscard]] std::vector<std::uint32_t> shortest_cycle(const CycleGraph& critical,
                                                        std::span<const std::uint32_t> rank,
                                                        std::vector<std::uint32_t> first);

} // namespace stepsim::programs
