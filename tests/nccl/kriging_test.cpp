// The correction by residuals against the values of CLU 16.2, and its limits (CLU 14, property 12).
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "nccl/calibration.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim::nccl;
using stepsim::testing::plus_minus;
using stepsim::testing::within;

namespace {

constexpr double kMebibyte = 1 << 20;

double correction(const Kriging& kriging, Operation operation, Shape shape, double bytes) {
  return std::exp(kriging.log_correction(KrigingPoint::of(operation, shape, bytes)));
}

} // namespace

TEST_CASE("kriging: four points about a model of 80 us everywhere") {
  const std::vector<KrigingPoint> points{
      KrigingPoint::of(Operation::allreduce, {2, 8}, kMebibyte),
      KrigingPoint::of(Operation::allreduce, {2, 8}, 4 * kMebibyte),
      KrigingPoint::of(Operation::allgather, {2, 8}, kMebibyte),
      KrigingPoint::of(Operation::allreduce, {1, 8}, kMebibyte)};
  const std::vector<double> residuals{std::log(100.0 / 80), std::log(150.0 / 80),
                                      std::log(60.0 / 80), std::log(40.0 / 80)};
  const Kriging kriging = krige(points, residuals);
  using enum Operation;
  CHECK(correction(kriging, allreduce, {2, 8}, 2 * kMebibyte) == within(1.509285, 1e-6));
  CHECK(correction(kriging, allreduce, {2, 8}, kMebibyte) == within(1.183714, 1e-6));
  CHECK(correction(kriging, allreduce, {4, 8}, kMebibyte) == within(1.216226, 1e-6));
  CHECK(correction(kriging, alltoall, {2, 8}, kMebibyte) == within(0.996472, 1e-6));
  CHECK(correction(kriging, allreduce, {2, 8}, 1024 * kMebibyte) == within(1.0, 1e-6));
}

TEST_CASE("kriging: a single point is reproduced up to the nugget, and says nothing far away") {
  for (const double residual : {0.01, -0.05, 0.3, -1.0}) {
    CAPTURE(residual);
    const std::vector<KrigingPoint> point{
        KrigingPoint::of(Operation::broadcast, {3, 5}, kMebibyte)};
    const Kriging kriging = krige(point, std::vector{residual});
    const double nugget = kriging.variances.front();
    CHECK(nugget >= 0.0049 * (1 - 1e-12));
    CHECK(correction(kriging, Operation::broadcast, {3, 5}, kMebibyte) ==
          within(std::exp(residual * 0.04 / (0.04 + nugget)), 1e-12));
    CHECK(correction(kriging, Operation::broadcast, {3, 5}, std::ldexp(kMebibyte, 20)) ==
          plus_minus(1, 1e-6));
  }
}
