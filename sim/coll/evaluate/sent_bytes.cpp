#include "coll/evaluate/sent_bytes.hpp"

#include "coll/evaluate/traffic.hpp"

namespace stepsim::coll {

double SentBytes::most(const Collective& collective) {
  const auto [place, is_new] =
      known_[{collective.op, collective.algorithm, collective.ranks}].try_emplace(collective.bytes);
  if (is_new) {
    place->second = traffic(collective).max_per_rank;
  }
  return place->second;
}

} // namespace stepsim::coll
