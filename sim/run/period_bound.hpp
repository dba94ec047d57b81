#pragma once
// Lower bounds of the iteration time that hold for every schedule on this network. They follow from
// the bytes that a link must carry and the work that a worker must compute, never from a formula
// that is itself an upper bound.
#include <optional>

#include "buckets/problem.hpp"
#include "programs/operation_times.hpp"
#include "run/evaluated_program.hpp"
#include "run/result.hpp"

namespace stepsim::study {

// The lower bound of the period in seconds, for workers whose factors are constant, the largest of
// which is `slowest`. Empty if no bound is known: without gradients, on a fabric, with a measured
// curve of several segments, with reduce_broadcast, and with the collectives `auto` and `library`.
// With micro-batches they follow each other; an
// algorithm that applies gradients late computes and sends at once.
[[nodiscard]] std::optional<double>
period_lower_bound(const Scenario& scenario, const buckets::Problem& problem, double slowest = 1);
// The same for random factors, with those drawn: the mean over the iterations of the window, each
// from the positions of the workers at its start. Empty also if an iteration has several steps, or
// does not last from marker to marker of one that follows its exchanges. `times` has the marker
// ends of all ranks.
[[nodiscard]] std::optional<double> drawn_lower_bound(const Scenario& scenario,
                                                      const buckets::Problem& problem,
                                                      const programs::OperationTimes& times,
                                                      const programs::Factors& factors,
                                                      const Window& window);
// `bound_s`, or `time_s` if the bound exceeds the time by rounding only.
[[nodiscard]] double bound_of(double bound_s, double time_s);

// Adds a warning if workers or exchanges vary and the iteration time is below `bound_s`. Random
// factors and fast workers can make it so, because the bound holds for mean times.
void warn_below_bound(const Scenario& scenario, double bound_s, Result& result);

} // namespace stepsim::study
