#include "nccl/in_network.hpp"

#include <algorithm>
#include <cmath>

namespace stepsim::nccl {

namespace {

// The stage in the network: c GPUs share the busiest card.
double network_stage(double bytes, const CollnetLinks& links) {
  const double share = std::ceil(links.gpus / links.nics);
  return 2 * links.network_latency_s + links.switch_latency_s +
         share * links.network_per_byte_s * bytes / links.gpus;
}

} // namespace

double nvls_seconds(double bytes, double gpus, double startup_s, double rate_Bps) {
  return startup_s + bytes * (1 + 1 / gpus) / rate_Bps;
}

double nvls_tree_Bps(double nodes, double gpus, double rate_Bps, double nics_Bps) {
  return std::min(rate_Bps / (1 + 1 / gpus), nics_Bps * (nodes == 2 ? 1 : 0.5));
}

double collnet_seconds(double bytes, const CollnetLinks& links, int chunks) {
  const double chunk = bytes / chunks;
  const double part = chunk / links.gpus;
  const double first =
      (links.gpus - 1) *
      (links.inner_latency_s + (links.inner_per_byte_s + links.reduction_per_byte_s) * part);
  const double second = network_stage(chunk, links);
  const double third = (links.gpus - 1) * (links.inner_latency_s + links.inner_per_byte_s * part);
  return first + second + third + (chunks - 1) * std::max({first, second, third});
}

double collnet_nvls_seconds(double bytes, const CollnetLinks& links, int chunks,
                            double nvls_startup_s, double nvls_Bps) {
  const double chunk = bytes / chunks;
  const double first = nvls_seconds(chunk, links.gpus, nvls_startup_s, nvls_Bps);
  const double second = network_stage(chunk, links);
  return first + second + (chunks - 1) * std::max(first, second);
}

} // namespace stepsim::nccl
