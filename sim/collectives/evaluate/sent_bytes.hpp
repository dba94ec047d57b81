#pragma once
// Caches the bytes that the busiest sender of a collective sends (evaluation.hpp), for callers that
// ask for the same size with many latencies and bandwidths, which do not change these bytes.
#include <map>
#include <tuple>
#include <unordered_map>

#include "collectives/collective.hpp"

namespace stepsim::collectives {

class SentBytes {
public:
  // Whether the bytes do not depend on the links: false where the best number of blocks or chunks
  // is searched, or the algorithm chosen.
  [[nodiscard]] static bool keeps(const Collective& collective);
  // Returns traffic(collective).max_per_rank of a collective that it keeps. Only operation,
  // algorithm, ranks and bytes tell entries apart: use one object for collectives with the same
  // options, kind of links and sizes of parts. Not thread-safe.
  [[nodiscard]] double most(const Collective& collective);

private:
  using Kind = std::tuple<Op, AlgorithmId, std::uint32_t>;   // the last is the number of ranks
  std::map<Kind, std::unordered_map<double, double>> known_; // [kind][bytes]; never iterated
};

} // namespace stepsim::collectives
