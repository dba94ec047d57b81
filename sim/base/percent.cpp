#include "base/number_text.hpp"

#include <cmath>

namespace stepsim::base {

std::string percent_number(double ratio, int digits) {
  constexpr double kRounding = 1e-12;
  return significant(std::abs(ratio) < kRounding ? 0 : 100 * ratio, digits);
}

std::string percent(double ratio, int digits) { return percent_number(ratio, digits) + " %"; }

} // namespace stepsim::base
