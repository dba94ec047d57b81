#include "sweep/wire_bytes.hpp"

#include <cstdint>

#include "coll/evaluate/traffic.hpp"
#include "scenario/scenario_exchange.hpp"

namespace stepsim::study {

// A ring sends every part but one in its reduce-scatter and in its all-gather.
double WireBytes::most(const Scenario& scenario, coll::AlgorithmId algorithm, double bytes,
                       double ranks) {
  if (ranks <= 1) {
    return 0;
  }
  if (algorithm == coll::AlgorithmId::ring) {
    const double sent = bytes - bytes / ranks;
    return sent + sent;
  }
  const auto [place, is_new] = known_.try_emplace({algorithm, ranks, bytes});
  if (is_new) {
    coll::Collective collective = exchange_of(scenario);
    collective.ranks = static_cast<std::uint32_t>(ranks);
    collective.algorithm = algorithm;
    collective.bytes = bytes;
    place->second = coll::traffic(collective).max_per_rank;
  }
  return place->second;
}

} // namespace stepsim::study
