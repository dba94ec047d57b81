#pragma once
// Bytes sent by the rank that sends most (traffic.hpp), counted once for every size, for callers
// that ask again and again with other latencies and bandwidths, which do not change them.
#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>

#include "coll/collective.hpp"

namespace stepsim::coll {

class SentBytes {
public:
  // As traffic(collective).max_per_rank. All collectives asked for have the same options, links of
  // the same kind and parts that are cut alike. Not thread-safe.
  [[nodiscard]] double most(const Collective& collective);

private:
  using Kind = std::tuple<Op, AlgorithmId, std::uint32_t>;   // with the number of ranks
  std::map<Kind, std::unordered_map<double, double>> known_; // by bytes; never walked through
};

} // namespace stepsim::coll
