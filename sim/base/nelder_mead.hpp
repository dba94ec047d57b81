#pragma once
// Minimises a function of a few numbers by the simplex method of Nelder and Mead (1965) with
// reflection 1, expansion 2, contraction 1/2 and shrinking 1/2. The function need not be smooth,
// and no derivatives are needed. The minimum that is found may be a local one.
#include <cstdint>
#include <functional>
#include <vector>

namespace stepsim::base {

struct Minimum {
  std::vector<double> at;
  double value{};
};

// The first simplex has the corner `start` and, for each i, the corner `start` with number i alone
// multiplied by `step` (a number 0 becomes step - 1). Needs step != 1 and at least one number
// (asserted). Runs exactly `iterations` iterations, without a convergence test. `function` must not
// return NaN.
[[nodiscard]] Minimum nelder_mead(const std::function<double(const std::vector<double>&)>& function,
                                  const std::vector<double>& start, double step,
                                  std::int64_t iterations);

} // namespace stepsim::base
