#pragma once
// Decides which scenarios of a sweep the two fast paths support: QuickRun (sweep_quick.hpp), which
// evaluates many points at once, and SharedRun (shared_run.hpp). All other points are parsed and
// run one by one, so that a condition that is too strict costs time but no correctness.
#include "buckets/planners.hpp"
#include "scenario/scenario.hpp"

namespace stepsim::study {

// Whether QuickRun supports the scenario, with any latency, bandwidth and number of nodes:
// synchronous dense training of equal workers, whose exchange of n bytes may have a closed form, a
// + b n or one of quick_curves.hpp. QuickRun checks the form.
[[nodiscard]] bool takes_quick_way(const Scenario& scenario);

// Whether SharedRun supports the scenario: the scenarios of points with another latency, bandwidth
// or number of nodes (two or more) differ in these numbers only. This holds on alpha-beta links for
// every training algorithm whose settings do not follow from the number of ranks.
[[nodiscard]] bool shares_scenario(const Scenario& scenario);

} // namespace stepsim::study
