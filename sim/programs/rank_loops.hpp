#pragma once
// The loops over ranks of the evaluator `max_plus`, on vectors.
#include <span>
#include <utility>

namespace stepsim::programs {

// ends[r] becomes max(ends[r], earliest) + factors[r] seconds, for times >= 0. Returns the largest.
double advance_ranks(std::span<double> ends, std::span<const double> factors, double earliest,
                     double seconds);

// Returns the smallest and the largest value; `values` must not be empty or hold NaN.
[[nodiscard]] std::pair<double, double> least_and_largest(std::span<const double> values);

} // namespace stepsim::programs
