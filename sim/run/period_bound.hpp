#pragma once
// True lower bounds of the iteration time: what no schedule on this network undercuts. They come
// from what a link must carry and what a worker must compute, never from a formula that is itself
// an upper bound.
#include <optional>

#include "plan/problem.hpp"
#include "run/result.hpp"
#include "train/step/varied_steps.hpp"

namespace stepsim::study {

// How long the messages of an iteration hold the channel at least. Empty where no bound is known:
// without gradients, on a fabric, with a measured curve of several pieces, with reduce_broadcast
// and with collective `auto`.
[[nodiscard]] std::optional<train::MessageBounds> message_bounds(const Scenario& scenario,
                                                                 const plan::Problem& problem);
// Lower bound of the period of equal workers with mean times, s; empty where no bound is known.
[[nodiscard]] std::optional<double> period_lower_bound(const Scenario& scenario,
                                                       const plan::Problem& problem);
// `bound_s`, or `time_s` where the bound is above it by rounding alone.
[[nodiscard]] double bound_of(double bound_s, double time_s);

// A warning where random factors or fast workers make the iteration shorter than `bound_s`, which
// holds for mean times.
void warn_below_bound(double bound_s, Result& result);

} // namespace stepsim::study
