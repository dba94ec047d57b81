// A range says in one wording what values it has: files, flags and schemas share it.
#include "document/checked.hpp"

#include <cmath>

#include "base/number_text.hpp"

namespace stepsim::io {

bool Range::contains(double value) const {
  const bool above_low = open_low ? value > low : value >= low;
  const bool below_high = open_high ? value < high : value <= high;
  return above_low && below_high;
}

std::string Range::text() const {
  const bool has_low = std::isfinite(low);
  const bool has_high = std::isfinite(high);
  if (has_low && has_high) {
    return std::string("must be in ") + (open_low ? "(" : "[") + base::shortest(low) + ", " +
           base::shortest(high) + (open_high ? ")" : "]");
  }
  if (has_low) {
    return std::string("must be ") + (open_low ? "> " : ">= ") + base::shortest(low);
  }
  if (has_high) {
    return std::string("must be ") + (open_high ? "< " : "<= ") + base::shortest(high);
  }
  return "must be";
}

} // namespace stepsim::io
