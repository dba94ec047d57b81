#include "nccl/operation_time.hpp"

#include <cmath>

#include "nccl/published_constants.hpp"

namespace stepsim::nccl {

double published_seconds(const Layout& layout, Operation operation, double bytes, Pair pair) {
  static const Multipliers kPublished = published_multipliers();
  const Parts parts = pair_parts(layout, operation, bytes, pair, kPublished, View::estimate);
  return parts.latency_s + parts.transfer_s;
}

OperationTime operation_time(const Layout& layout, Operation operation, double bytes, Pair pair,
                             const Multipliers& multipliers, const CollnetOptions& collnet) {
  const Parts parts = pair_parts(layout, operation, bytes, pair, multipliers, View::cost, collnet);
  const bool in_network = pair.algorithm == Algorithm::nvls ||
                          pair.algorithm == Algorithm::nvls_tree ||
                          pair.algorithm == Algorithm::collnet;
  OperationTime time;
  time.latency_s = parts.latency_s;
  time.transfer_s = parts.transfer_s;
  // The stages of collnet have a pipeline of their own.
  if (pair.algorithm != Algorithm::collnet) {
    time.cross_s = multipliers[Parameter::kappa] * std::sqrt(parts.latency_s * parts.transfer_s);
  }
  time.bound = node_bound(operation, bytes,
                          {.nodes = layout.nodes,
                           .gpus = layout.gpus,
                           .inner_Bps = parts.inner_Bps,
                           .nics_Bps = parts.nics_Bps,
                           .latency_s = parts.least_latency_s},
                          in_network);
  time.seconds = parts.latency_s + parts.transfer_s + time.cross_s;
  time.limited_by = parts.latency_s > parts.transfer_s ? Limit::latency : parts.limit;
  const double launch = kMicrosecond * kLaunch * multipliers[Parameter::floor];
  if (launch > time.seconds) {
    time.seconds = launch;
    time.limited_by = Limit::floor;
  }
  if (time.bound.seconds > time.seconds) {
    time.seconds = time.bound.seconds;
    time.limited_by = Limit::bound;
  }
  return time;
}

} // namespace stepsim::nccl
