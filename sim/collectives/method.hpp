#pragma once
// Chooses one of the three evaluators of a collective, and checks that no time lies below its
// physical bound.
//   closed_form  formula, which not every case has (COL 3)
//   max_plus     sweep over the schedule in program order; no contention; O(ranks) memory
//   events       the same transfers through a network model
// They agree to 1e-9 wherever their assumptions coincide.
#include <string>

#include "collectives/collective.hpp"

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

} // namespace stepsim::collectives
