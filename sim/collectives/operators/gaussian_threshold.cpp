#include "collectives/operators/gaussian_threshold.hpp"

#include <cassert>
#include <cmath>
#include <numbers>

namespace stepsim::collectives {

double gaussian_threshold(double density) {
  assert(density > 0 && density <= 1 && "a density");
  // By halving [0, 40]: erfc of its end is below every positive double.
  double low = 0;
  double high = 40;
  for (double middle = 20; low < middle && middle < high; middle = (low + high) / 2) {
    (std::erfc(middle / std::numbers::sqrt2) > density ? low : high) = middle;
  }
  return low;
}

} // namespace stepsim::collectives
