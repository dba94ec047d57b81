#include "collectives/operators/sparse_vector.hpp"
#include "testing/tolerance.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <initializer_list>

using stepsim::collectives::gaussian_threshold;
using stepsim::testing::within;

TEST_CASE("Gaussian-k takes the two-sided quantile (SPA V21)") {
  CHECK(gaussian_threshold(0.001) == within(3.290527, 1e-6));
  CHECK(gaussian_threshold(1) == 0);
  for (const double density : {0.5, 0.1, 1e-4, 1e-12}) {
    const double z = gaussian_threshold(density);
    CHECK(std::erfc(z / std::sqrt(2.0)) == within(density, 1e-9));
  }
}
