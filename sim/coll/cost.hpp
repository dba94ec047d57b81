#pragma once
// The price of one algorithm, as `auto` and the crossover search compare them, and the check that
// no time lies below its physical bound.
#include <optional>
#include <string>
#include <vector>

#include "coll/evaluate.hpp"

namespace stepsim::coll {

// Seconds of `algorithm` in place of the collective's own, all ranks entering at 0: its exact
// closed form if ranks and links are alike and there is one, else max_plus (COL 9); on a fabric by
// events.
[[nodiscard]] double candidate_cost(const Collective& collective, AlgorithmId algorithm);

// The asked candidates, or the defaults of the operation.
[[nodiscard]] std::vector<AlgorithmId> candidates_of(const Collective& collective);

// Whether every part of the schedule has as many bytes as the closed form assumes (COL 2.5).
[[nodiscard]] bool parts_divide(const Collective& collective);

// Several ranks behind one interface send at once, so that max_plus only estimates: a flat
// algorithm on two levels, but not the ring and the pipeline in rank order, which leave every node
// once.
[[nodiscard]] bool shares_interfaces(const Collective& collective);

// What to say where a node has several interfaces and the algorithm leaves it through one of them
// only: a flat ring, a pipeline and leaders cross the border of every node once (COL 5.9). Empty
// otherwise.
[[nodiscard]] std::optional<std::string> idle_interfaces(const Collective& collective);

// The static share of `hierarchical` (COL 5.9) fits transfers of equal size that start together;
// others overlap differently.
[[nodiscard]] bool static_share_estimates(const Collective& collective);

// Throws SimulationError naming operation, algorithm, ranks and bytes if `seconds` lies below the
// lower bound by more than 1e-9 of it (on a fabric 1e-8).
void check_bound(const Collective& collective, Method method, double seconds);

} // namespace stepsim::coll
