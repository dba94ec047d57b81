#pragma once
// Chooses the algorithm of a collective and one of its three evaluators, estimates how long the
// evaluator takes, and checks that no time lies below the physical bound.
//   closed_form  formula, which not every case has (COL 3)
//   max_plus     sweep over the schedule in program order; no contention; O(ranks) memory
//   events       the same transfers through a network model
// They agree to 1e-9 wherever their assumptions coincide.

#include "collectives/collective.hpp"

#include <functional>
#include <string>

namespace stepsim::collectives {

// The evaluator of method `auto`: the cheapest one that is exact for `collective`, except that
// max_plus is taken with static_share_estimates(), where it estimates. The first rule that holds
// decides:
//   events        the links are a fabric
//   closed_form   there is a formula and all ranks are alike, and either the formula equals the
//                 schedule (no upper bound, parts_divide()), or nothing is sent, or there is no
//                 schedule for it (cost forms paper and ideal, all-reduce with ring_startup_2p)
//   events        a parameter server without max_plus_defined(), or shares_interfaces()
//   max_plus      everything else
[[nodiscard]] Method automatic_method(const Collective& collective);

// Seconds from time 0 to the end of the collective, by `method`. Throws SimulationError if `method`
// cannot time it, and as check_bound() does; closed forms by cost form paper or ideal are not
// checked.
[[nodiscard]] double seconds(const Collective& collective, Method method);

// Throws SimulationError naming operation, algorithm, ranks and bytes if `seconds` lies below the
// lower bound by more than 1e-9 of it (on a fabric 1e-8). Collectives timed by measured steps
// (measured_steps.hpp) are not checked: small messages may be faster than the slope of large ones.
void check_bound(const Collective& collective, Method method, double seconds);

// Whether every part of the schedule has as many bytes as the closed form assumes (COL 2.5).
[[nodiscard]] bool parts_divide(const Collective& collective);

// Whether several ranks of a node send through one interface at once, so that max_plus only
// estimates. This holds for flat algorithms on several nodes with fewer interfaces than ranks,
// except the ring and lp (linear pipeline) in rank order, which leave every node once.
[[nodiscard]] bool shares_interfaces(const Collective& collective);

// Whether only one rank of every node sends to another node, and only one receives from another:
// true for a flat ring and for lp in rank order.
[[nodiscard]] bool leaves_nodes_once(const Collective& collective);

// The warning that an algorithm uses one interface per node and that others know both levels: for
// flat algorithms on several nodes of several ranks that have one interface or are left once (CLU
// 3.8), and for hierarchical_leader on nodes with several interfaces (COL 5.9). Empty otherwise, on
// a fabric, and if no such other algorithm exists.
[[nodiscard]] std::optional<std::string> idle_interfaces(const Collective& collective);

inline constexpr std::string_view kUpperBound =
    "the closed form is an upper bound here; max_plus is exact";
// The warning that `method` only estimates the time of the schedule, and which method is exact;
// empty where it is exact, and for printed cost forms, which are asked for by name.
[[nodiscard]] std::optional<std::string> estimate_warning(const Collective& collective,
                                                          Method method);

// Whether the collective is a ring of equal ranks on equal links without delays, one level and no
// fabric, whose parts have the same size: what one rank does tells what all do.
[[nodiscard]] bool has_equal_ring(const Collective& collective);

// Whether max_plus only estimates because the algorithm gives every rank a fixed share of an
// interface (COL 5.9). The share is exact if all transfers have one size and start together, as
// with equal ranks and parts that divide; then this is false.
[[nodiscard]] bool static_share_estimates(const Collective& collective);

// The choice of `auto` (COL 9), and the time of one algorithm by which the choice and the crossover
// search compare algorithms.

// Relative difference below which two candidates are equally fast; the first in the list then wins.
inline constexpr double kFirstWins = 1e-12;

// Seconds of the collective with `algorithm` instead of its own algorithm, all ranks entering at 0
// (COL 9). The evaluator is
//   events        on a fabric;
//   closed form   with cost_form exact, if ranks and links are alike and there is one; it may be an
//                 upper bound;
//   max_plus      in all other cases.
// Throws SimulationError if the evaluator throws it.
[[nodiscard]] double candidate_cost(const Collective& collective, AlgorithmId algorithm);

// Whether the candidate is a pipeline on a fabric of so many blocks that simulating it takes
// minutes: its cost is infinite, and it is not simulated.
[[nodiscard]] bool plays_for_minutes(const Collective& candidate);

// options.candidates, or default_candidates if that list is empty.
[[nodiscard]] std::vector<AlgorithmId> candidates_of(const Collective& collective);

// The fastest and the second fastest candidate. Within kFirstWins, the first in the list is faster.
struct Choice {
  AlgorithmId chosen{};
  double chosen_s{};                    // candidate_cost() of `chosen`
  std::optional<AlgorithmId> runner_up; // empty with a single candidate
  std::optional<double> runner_up_s;    // candidate_cost() of `runner_up`
};
// Throws SimulationError if candidate_cost() throws for any candidate. Needs at least one candidate
// (asserted).
[[nodiscard]] Choice choose_algorithm(const Collective& collective);
// Returns the collective with `automatic` replaced by the choice; a collective with any other
// algorithm is returned unchanged.
[[nodiscard]] Collective with_chosen_algorithm(Collective collective);

// Finds the message sizes at which the cheapest of several algorithms changes (COL 8), from their
// exact costs: the cheapest algorithm on a grid of four sizes per octave, then bisection between
// neighbours with different results.

using CostByBytes = std::function<double(double bytes)>; // seconds
// candidate_cost() of `algorithm` by bytes; parts are n/P bytes, without rounding, so that the
// curve has no steps. Bytes, algorithm and entry times of `collective` are ignored.
[[nodiscard]] CostByBytes cost_by_bytes(const Collective& collective, AlgorithmId algorithm);

struct Crossover {
  std::size_t below{}; // place of the cost that is least just below `bytes`
  std::size_t above{}; // place of the one that is least just above
  double bytes{};      // within a relative error of 1e-9
};

// Returns the changes between `low_bytes` and `high_bytes` (0 < low <= high), ascending. At equal
// cost the first of `costs`, at least one, wins. Throws SimulationError as the costs do.
[[nodiscard]] std::vector<Crossover> find_crossovers(std::span<const CostByBytes> costs,
                                                     double low_bytes, double high_bytes);

// Estimates the CPU time of an evaluation before it runs, from the number of transfers in its
// schedule, which a phase counts without listing the transfers.
//     closed_form   1 us; a double binary tree, whose trees are built, 0.5 us per rank more
//     max_plus      40 ns per transfer; 1 ns in rings, which are vector loops; if it is the method
//                   chosen, 1 us where one path of the largest messages tells the time
//     both below    20 ns per rank and block of a pipeline of equal ranks; 1.5 us per rank of
//                   double trees (evaluate/streams.cpp)
//     events        0.3 us per transfer; in rings 30 ns, or 120 ns where ranks, links or levels
//                   differ; 2 us through a fabric, as max_plus in a ring whose connections share no
//                   link; 0.1 us per step of a ring of equal ranks
// Each shortcut of an evaluator reports whether it applies.
// With transfer times 0.1 us more per transfer, and max_plus evaluates every rank of a ring.
// The constants hold for one core of the 2020s and an optimised build, within a factor of about 3.

// Seconds of CPU time to evaluate `asked` by `method`; empty stands for automatic_method(). For
// algorithm `auto`: the time to try all candidates, and that of the one that formulas choose, or
// else of the slowest one, once more.
// `with_transfer_times` as of the evaluators; no closed form has them, so that max_plus runs.
[[nodiscard]] double evaluation_seconds(const Collective& asked, std::optional<Method> method,
                                        bool with_transfer_times = false);

} // namespace stepsim::collectives
