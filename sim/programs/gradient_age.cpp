#include "programs/gradient_age.hpp"

namespace stepsim::programs {

std::int32_t staleness(const Applied& applied) {
  return applied.update < applied.exchange ? applied.distance - 1 : applied.distance;
}

} // namespace stepsim::programs
