#pragma once
// The largest number of bytes that any rank sends in one exchange of gradients, cached by size and
// number of ranks.
#include <map>
#include <utility>

#include "scenario/scenario.hpp"

namespace stepsim::study {

class WireBytes {
public:
  // The bytes that the rank that sends most sends in the exchange of `scenario`, with `bytes` bytes
  // among `ranks` ranks; 0 for one rank. All calls must give the same scenario, because the cache
  // does not tell scenarios apart.
  [[nodiscard]] double most(const Scenario& scenario, double bytes, double ranks);

private:
  std::map<std::pair<double, double>, double> known_; // key: number of ranks, bytes
};

} // namespace stepsim::study
