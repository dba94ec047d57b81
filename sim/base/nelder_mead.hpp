#pragma once
// The minimum of a function of a few numbers by the simplex method of Nelder and Mead (1965):
// reflection 1, expansion 2, contraction 1/2, shrinking 1/2. For functions that are neither smooth
// nor given with derivatives; it finds a local minimum.
#include <cstdint>
#include <functional>
#include <vector>

namespace stepsim::base {

struct Minimum {
  std::vector<double> at;
  double value{};
};

// The first simplex is `start` and `start` with one number after the other multiplied by `step`,
// which is not 1; a number that is 0 becomes step - 1 instead. Always makes `iterations` steps.
[[nodiscard]] Minimum nelder_mead(const std::function<double(const std::vector<double>&)>& function,
                                  const std::vector<double>& start, double step,
                                  std::int64_t iterations);

} // namespace stepsim::base
