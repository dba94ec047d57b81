#pragma once
// The loop over ranks of the evaluator `max_plus`, on vectors.
#include <span>

namespace stepsim::programs {

// ends[r] becomes max(ends[r], earliest) + factors[r] seconds, for times >= 0. Returns the largest.
double advance_ranks(std::span<double> ends, std::span<const double> factors, double earliest,
                     double seconds);

} // namespace stepsim::programs
