#pragma once
// The largest number of bytes that any rank sends in one exchange of gradients, cached by size and
// number of ranks.
#include <map>
#include <tuple>

#include "scenario/scenario.hpp"

namespace stepsim::study {

class WireBytes {
public:
  // The bytes that the rank that sends most sends in the exchange of `scenario` by `algorithm`,
  // with `bytes` bytes among `ranks` ranks; 0 for one rank. All calls must give the same scenario,
  // because the cache does not tell scenarios apart.
  [[nodiscard]] double most(const Scenario& scenario, coll::AlgorithmId algorithm, double bytes,
                            double ranks);

private:
  // Key: algorithm, number of ranks, bytes.
  std::map<std::tuple<coll::AlgorithmId, double, double>, double> known_;
};

} // namespace stepsim::study
