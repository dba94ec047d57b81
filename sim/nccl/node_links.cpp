#include "nccl/node_links.hpp"

#include "nccl/pair_parts.hpp"
#include "nccl/published_constants.hpp"

namespace stepsim::nccl {

namespace {

constexpr double kAssumedInnerLatency = 2e-6;
constexpr double kAssumedNetworkLatency = 8e-6;

// Seconds, 0 for a level that is absent.
struct Terms {
  double nic_s{};
  double gpu_s{};
};

// Each node must exchange its parts of the vector with the others.
Terms vector_terms(double bytes, const NodeRates& rates, double passes_nic, double passes_gpu) {
  const double inner = rates.gpus > 1 ? rates.inner_Bps : 0;
  const double cards = rates.nodes > 1 ? rates.nics_Bps : 0;
  const double ports = inner + cards / rates.gpus;
  return {.nic_s = cards > 0 ? passes_nic * bytes / cards : 0,
          .gpu_s = ports > 0 ? passes_gpu * bytes / ports : 0};
}

Terms terms_of(Operation operation, double bytes, const NodeRates& rates, bool in_network) {
  const double ranks = rates.nodes * rates.gpus;
  const double others_nic = (rates.nodes - 1) / rates.nodes;
  const double others_gpu = (ranks - 1) / ranks;
  switch (operation) {
  case Operation::allreduce:
    return in_network ? vector_terms(bytes, rates, 1, 1)
                      : vector_terms(bytes, rates, 2 * others_nic, 2 * others_gpu);
  case Operation::allgather:
  case Operation::reduce_scatter:
    return vector_terms(bytes, rates, others_nic, others_gpu);
  case Operation::broadcast:
  case Operation::reduce:
    return vector_terms(bytes, rates, 1, 1);
  case Operation::alltoall: {
    // Messages inside the node do not use the cards, and those between nodes nothing else.
    const double across = rates.gpus * bytes * (ranks - rates.gpus) / ranks;
    const double inside = (rates.gpus - 1) / ranks * bytes;
    return {.nic_s = rates.nodes > 1 ? across / rates.nics_Bps : 0,
            .gpu_s = rates.gpus > 1 ? inside / rates.inner_Bps : 0};
  }
  }
  return {};
}

} // namespace

NodeLinks node_links(const NodeType& node, const Multipliers* calibrated) {
  NodeLinks links{.inner_latency_s = kAssumedInnerLatency,
                  .inner_Bps = node.ring_Bps,
                  .network_latency_s = kAssumedNetworkLatency,
                  .network_Bps = node.nic_Bps,
                  .nvls_startup_s = kMicrosecond * kHopNvls};
  const double efficiency =
      node.in_switch_reduction ? kNvlsEfficiency[static_cast<std::size_t>(node.generation)] : 0;
  if (calibrated != nullptr) {
    const std::size_t simple = index(Protocol::simple);
    const HopLatencies& inner = node.link == InnerLink::pcie ? kHopPcie : kHopNvlink;
    links.inner_latency_s = kMicrosecond * inner.ring[simple] * (*calibrated)[Parameter::in_simple];
    links.network_latency_s =
        kMicrosecond * kHopNetwork.ring[simple] * (*calibrated)[Parameter::net_simple];
    links.inner_Bps *= (*calibrated)[Parameter::bw_nvl];
    links.network_Bps *= (*calibrated)[Parameter::bw_nic];
    links.nvls_startup_s *= (*calibrated)[Parameter::nvls_lat];
  }
  links.nvls_Bps =
      links.inner_Bps * efficiency * (calibrated != nullptr ? (*calibrated)[Parameter::nvls] : 1);
  return links;
}

NodeBound node_bound(Operation operation, double bytes, const NodeRates& rates, bool in_network) {
  const Terms terms = terms_of(operation, bytes, rates, in_network);
  NodeBound bound{rates.latency_s, BoundKind::latency};
  if (terms.gpu_s > bound.seconds) {
    bound = {terms.gpu_s, BoundKind::gpu};
  }
  if (terms.nic_s > bound.seconds) {
    bound = {terms.nic_s, BoundKind::nic};
  }
  return bound;
}

double bus_share(Operation operation, double ranks) {
  const double others = (ranks - 1) / ranks;
  switch (operation) {
  case Operation::allreduce:
    return 2 * others;
  case Operation::reduce_scatter:
  case Operation::allgather:
  case Operation::alltoall:
    return others;
  case Operation::broadcast:
  case Operation::reduce:
    return 1;
  }
  return 1;
}

} // namespace stepsim::nccl
