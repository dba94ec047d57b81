#pragma once
// The largest number of bytes that any rank sends in one exchange of gradients, cached by size and
// number of ranks.
#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "scenario/scenario.hpp"

namespace stepsim::study {

class WireBytes {
public:
  // The bytes that the rank that sends most sends in the exchange of `scenario` by `algorithm`,
  // with `bytes` bytes among `ranks` ranks; 0 for one rank. All calls must give the same scenario,
  // because the cache does not tell scenarios apart.
  [[nodiscard]] double most(const Scenario& scenario, collectives::AlgorithmId algorithm,
                            double bytes, double ranks);

  // The sum of most() over the messages g of `bytes[g]` bytes: total() by the algorithm of the
  // scenario, total_by() by algorithm_of(g). All calls of one object must give the same `bytes`,
  // because the caches are not keyed by them.
  [[nodiscard]] double total(const Scenario& scenario, std::span<const double> bytes, double ranks);
  [[nodiscard]] double
  total_by(const Scenario& scenario,
           const std::function<collectives::AlgorithmId(std::size_t message)>& algorithm_of,
           std::span<const double> bytes, double ranks);

private:
  std::map<double, double> totals_; // key: number of ranks
  // [message] by algorithm and number of ranks; no number where it is not known yet.
  std::map<std::pair<collectives::AlgorithmId, double>, std::vector<double>> messages_;
  // Key: algorithm, number of ranks, bytes.
  std::map<std::tuple<collectives::AlgorithmId, double, double>, double> known_;
};

} // namespace stepsim::study
