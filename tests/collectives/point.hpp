#pragma once
// One collective in a line, for tests: real chunking, as closed forms assume.
#include "collectives/algorithms.hpp"
#include "collectives/collective.hpp"

namespace stepsim::collectives::test {

struct Rates {
  double alpha{};
  double beta{};
  double gamma{};
};
inline constexpr Rates kRates{1e-5, 8e-10, 1e-10};

inline Collective point(Op op, AlgorithmId algorithm, std::uint32_t ranks, double bytes,
                        const Rates& rates) {
  Collective collective;
  collective.op = op;
  collective.algorithm = algorithm;
  collective.ranks = ranks;
  collective.bytes = bytes;
  collective.links.all = {rates.alpha, rates.alpha, rates.beta};
  collective.reduction_s_per_byte = rates.gamma;
  collective.options.chunking = Chunking::real;
  return collective;
}

// Algorithms whose switches need nodes of their own kind are tested in node_schedules_test.
inline bool in_switch(AlgorithmId id) { return algorithm(id).in_switch; }

// `ranks`, or one more where the algorithm needs that.
inline std::uint32_t fitting(AlgorithmId algorithm, std::uint32_t ranks) {
  return takes_ranks(algorithm, ranks) ? ranks : ranks + 1;
}

} // namespace stepsim::collectives::test
