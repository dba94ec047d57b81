#pragma once
// The threshold of Gaussian-k: a fraction `density` of normally distributed values is more than z
// standard deviations away from the mean (SPA 8.3, 11).
//
//     erfc(z / sqrt 2) = density          density 0.001: z = 3.2905, the two-sided quantile
//
// Kernels that select by threshold start from mu + z sigma.

namespace stepsim::collectives {

// Returns z >= 0 for a density in (0, 1]. Source: SPA 13, decision 14 (the published code).
[[nodiscard]] double gaussian_threshold(double density);

} // namespace stepsim::collectives
