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
// divide or chunking is real, where nothing is sent, and where what is asked for has no schedule
// (cost forms paper and ideal, ring_startup_2p); else max_plus; events for parameter servers that
// max_plus does not know (max_plus_defined), on two levels for flat algorithms that share
// interfaces (the ring, and lp in rank order, do not), and always on a fabric.
[[nodiscard]] Method automatic_method(const Collective& collective);

// Seconds by `method`, from time 0. Throws SimulationError where that evaluator has no answer, and
// as check_bound; only the printed cost forms (paper, ideal) may lie below the bound.
[[nodiscard]] double seconds(const Collective& collective, Method method);

// Throws SimulationError naming operation, algorithm, ranks and bytes if `seconds` lies below the
// lower bound by more than 1e-9 of it (on a fabric 1e-8). Measured steps are not checked: small
// messages may be faster than the slope of large ones.
void check_bound(const Collective& collective, Method method, double seconds);

// Whether every part of the schedule has as many bytes as the closed form assumes (COL 2.5).
[[nodiscard]] bool parts_divide(const Collective& collective);

// Several ranks behind one interface send at once, so that max_plus only estimates: a flat
// algorithm on two levels, but not the ring and the pipeline in rank order, which leave every node
// once.
[[nodiscard]] bool shares_interfaces(const Collective& collective);

// True for a flat ring and a pipeline in rank order, which cross the border of every node once each
// way.
[[nodiscard]] bool leaves_nodes_once(const Collective& collective);

// What to say where an algorithm leaves a node of several ranks through one interface only: a flat
// one (CLU 3.8), and leaders where a node has several interfaces (COL 5.9). Empty otherwise.
[[nodiscard]] std::optional<std::string> idle_interfaces(const Collective& collective);

// Whether max_plus only estimates because the algorithm gives every rank a fixed share of an
// interface (COL 5.9): that share is right for transfers of equal size that start together.
[[nodiscard]] bool static_share_estimates(const Collective& collective);

} // namespace stepsim::coll
