#include "study/sweep/wire_bytes.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "base/shared_value.hpp"
#include "collectives/evaluate/evaluation.hpp"
#include "scenario/scenario_exchange.hpp"

namespace stepsim::study {

// A ring sends every part but one in its reduce-scatter and in its all-gather.
double WireBytes::most(const Scenario& scenario, collectives::AlgorithmId algorithm, double bytes,
                       double ranks) {
  if (ranks <= 1) {
    return 0;
  }
  if (algorithm == collectives::AlgorithmId::ring) {
    const double sent = bytes - bytes / ranks;
    return sent + sent;
  }
  return base::remembered(known_, {algorithm, ranks, bytes}, [&] {
    collectives::Collective collective = exchange_of(scenario);
    collective.ranks = static_cast<std::uint32_t>(ranks);
    collective.algorithm = algorithm;
    collective.bytes = bytes;
    return collectives::most_sent(collective);
  });
}

double WireBytes::total(const Scenario& scenario, std::span<const double> bytes, double ranks) {
  return base::remembered(totals_, ranks, [&] {
    double sum = 0;
    for (const double each : bytes) {
      sum += most(scenario, scenario.communication.collective, each, ranks);
    }
    return sum;
  });
}

double WireBytes::total_by(
    const Scenario& scenario,
    const std::function<collectives::AlgorithmId(std::size_t message)>& algorithm_of,
    std::span<const double> bytes, double ranks) {
  double sum = 0;
  std::optional<collectives::AlgorithmId> last;
  std::vector<double>* known = nullptr;
  for (std::size_t g = 0; g < bytes.size(); ++g) {
    const collectives::AlgorithmId algorithm = algorithm_of(g);
    if (algorithm != last) {
      known = &messages_[{algorithm, ranks}];
      known->resize(bytes.size(), std::numeric_limits<double>::quiet_NaN());
      last = algorithm;
    }
    double& sent = (*known)[g];
    if (std::isnan(sent)) {
      sent = most(scenario, algorithm, bytes[g], ranks);
    }
    sum += sent;
  }
  return sum;
}

} // namespace stepsim::study
