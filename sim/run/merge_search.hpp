#pragma once
// The merge of schedule `optimal` where the cost that planners see is not all that the run does
// with a message: halves of exchanges, micro-batches, late updates, slowdowns, workers that differ.
#include <optional>

#include "buckets/planners.hpp"
#include "scenario/scenario.hpp"

namespace stepsim::study {

// Whether the period of the run is the finish that schedule `optimal` makes earliest (MER 5.7), so
// that no other merge into messages that follow each other is faster.
[[nodiscard]] bool merge_is_certified(const Scenario& scenario);

// Whether the run looks for a faster merge than that of schedule `optimal`: where it is not
// certified, except on simulated networks, on which every merge would have to be simulated, and
// with /communication/plan_cost, which says what is to be planned with.
[[nodiscard]] bool searches_merge(const Scenario& scenario);
// The schedule whose merge is the fastest in the run; empty if it is that of `optimal` itself. The
// scenario must be one of searches_merge(). Throws as run() does.
[[nodiscard]] std::optional<buckets::Schedule> faster_merge(const Scenario& scenario);

} // namespace stepsim::study
