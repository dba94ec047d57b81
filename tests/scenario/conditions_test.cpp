#include "scenario/conditions.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "testing/tolerance.hpp"

namespace stepsim::study {
namespace {

using stepsim::testing::within;

TEST_CASE("conditions: a factor that is moved stays where it has a meaning") {
  CHECK(moved(Factor::e_pcie, {0.36, 0.25}, 1) == within(0.36 * std::exp(0.25), 1e-15));
  CHECK(moved(Factor::l_0, {0.03, 0.025}, -2) == 0);
  CHECK(moved(Factor::s_bus, {1.05, 0.12}, -1) == 1);
  CHECK(moved(Factor::q, {0.5, 0.2}, 1) == within(0.7, 1e-15));
  CHECK(tau_of_range(Factor::c_cloud, 0.8e9 * std::exp(-1.2815515655446004 * 0.5),
                     0.8e9 * std::exp(1.2815515655446004 * 0.5)) == within(0.5, 1e-12));
}

} // namespace
} // namespace stepsim::study
