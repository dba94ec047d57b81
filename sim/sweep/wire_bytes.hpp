#pragma once
// Bytes that the rank which sends most sends in one exchange, counted once for every size.
#include <map>
#include <utility>

#include "scenario/scenario.hpp"

namespace stepsim::study {

class WireBytes {
public:
  // Of `bytes` among `ranks`, 0 for one rank; everything else is the scenario's, always the same.
  [[nodiscard]] double most(const Scenario& scenario, double bytes, double ranks);

private:
  std::map<std::pair<double, double>, double> known_; // by ranks, bytes
};

} // namespace stepsim::study
