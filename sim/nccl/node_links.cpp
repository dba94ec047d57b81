#include "nccl/node_links.hpp"

#include "nccl/pair_parts.hpp"
#include "nccl/published_constants.hpp"

namespace stepsim::nccl {

namespace {

constexpr double kAssumedInnerLatency = 2e-6;
constexpr double kAssumedNetworkLatency = 8e-6;

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

} // namespace stepsim::nccl
