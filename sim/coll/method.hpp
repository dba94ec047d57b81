#pragma once
// Which of the three evaluators answers for a collective, and the check that no time lies below
// its physical bound.
//   closed_form  formula; empty where none exists (COL 3)
//   max_plus     sweep over the schedule in program order; no contention; O(ranks) memory
//   events       the same transfers through a network model
// They agree to 1e-9 wherever their assumptions coincide.
#include <optional>
#include <string>

#include "coll/collective.hpp"

namespace stepsim::coll {

// The cheapest evaluator that is exact here: closed_form where it is equal (not a bound) and parts
// divide or chunking is real, and where the asked cost form has no schedule (paper, ideal); else
// max_plus; events for several parameter servers, and on two levels for flat algorithms that share
// interfaces (the ring, and lp in rank order, do not), and always on a fabric.
[[nodiscard]] Method automatic_method(const Collective& collective);

// Seconds by `method`; the result never lies below `lower_bound` (checked: SimulationError).
[[nodiscard]] double seconds(const Collective& collective, Method method);

// Throws SimulationError naming operation, algorithm, ranks and bytes if `seconds` lies below the
// lower bound by more than 1e-9 of it (on a fabric 1e-8).
void check_bound(const Collective& collective, Method method, double seconds);

// Whether every part of the schedule has as many bytes as the closed form assumes (COL 2.5).
[[nodiscard]] bool parts_divide(const Collective& collective);

// Several ranks behind one interface send at once, so that max_plus only estimates: a flat
// algorithm on two levels, but not the ring and the pipeline in rank order, which leave every node
// once.
[[nodiscard]] bool shares_interfaces(const Collective& collective);

// A flat ring, and a pipeline in rank order, cross the border of every node once each way.
[[nodiscard]] bool leaves_nodes_once(const Collective& collective);

// What to say where an algorithm leaves a node of several ranks through one interface only: a flat
// one (CLU 3.8), and leaders where a node has several interfaces (COL 5.9). Empty otherwise.
[[nodiscard]] std::optional<std::string> idle_interfaces(const Collective& collective);

// The fixed share of an interface (COL 5.9) fits transfers of equal size that start together;
// others overlap differently.
[[nodiscard]] bool static_share_estimates(const Collective& collective);

} // namespace stepsim::coll
