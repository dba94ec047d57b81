// A ring pays its hops one after the other and its bytes at the rate of the slowest port. A tree
// pays up and down its levels, and its bandwidth depends on the size through a published table.
#include "nccl/pair_parts.hpp"

#include <cmath>

#include "nccl/published_constants.hpp"

namespace stepsim::nccl {

namespace {

double rounded(double value) { return std::floor(value + 0.5); }

const HopLatencies& inner_hops(const Layout& layout) {
  return layout.link == InnerLink::nvlink ? kHopNvlink : kHopPcie;
}

// A rate, and what sets it.
struct Bus {
  double Bps{};
  Limit limit{};

  void cap(double other_Bps, Limit other) {
    if (other_Bps < Bps) {
      Bps = other_Bps;
      limit = other;
    }
  }
};

double ring_steps(Operation operation, double ranks) {
  switch (operation) {
  case Operation::allreduce:
    return 2 * (ranks - 1);
  case Operation::broadcast:
  case Operation::reduce:
    return ranks;
  case Operation::reduce_scatter:
  case Operation::allgather:
  case Operation::alltoall:
    return ranks - 1;
  }
  return 0;
}

// Microseconds. Several nodes pay at least the post overhead of the host per hop.
double inner_ring_hop(const Layout& layout, Protocol protocol) {
  const double hop = inner_hops(layout).ring[index(protocol)];
  const double posts = protocol == Protocol::simple ? kSimplePosts : 1;
  return layout.nodes > 1
             ? std::max(hop, posts * kPostOverhead[static_cast<std::size_t>(layout.host)])
             : hop;
}

// A ring of one GPU per node takes the column of a tree.
double network_ring_hop(const Layout& layout, Protocol protocol) {
  return (layout.gpus == 1 ? kHopNetwork.tree : kHopNetwork.ring)[index(protocol)];
}

// Latency of a broadcast or reduce, microseconds. NCCL counts a network hop per rank.
double chain_latency(const Layout& layout, Protocol protocol, const Multipliers& multipliers,
                     View view) {
  const std::size_t i = index(protocol);
  const double hop = inner_hops(layout).ring[i] * inner_factor(protocol, multipliers);
  double hops = hop;
  if (layout.nodes > 1 && view == View::estimate) {
    hops = layout.ranks * (protocol == Protocol::simple ? kHopNetwork.tree : kHopNetwork.ring)[i];
  } else if (layout.nodes > 1) {
    hops = (layout.nodes - 1) * network_ring_hop(layout, protocol) *
               network_factor(protocol, multipliers) +
           (layout.ranks - layout.nodes) * hop;
  }
  return kBaseRing[i] * multipliers[Parameter::base] + hops;
}

// Latency of the other operations, microseconds.
double ring_latency(const Layout& layout, Operation operation, double bytes, Protocol protocol,
                    const Multipliers& multipliers) {
  const bool allreduce = operation == Operation::allreduce;
  const double across = (allreduce ? 2 : 1) * (layout.nodes - 1);
  const double inside = ring_steps(operation, layout.ranks) - across;
  const double latency =
      kBaseRing[index(protocol)] * multipliers[Parameter::base] +
      inside * inner_ring_hop(layout, protocol) * inner_factor(protocol, multipliers) +
      across * network_ring_hop(layout, protocol) * network_factor(protocol, multipliers) *
          rail_factor(layout, multipliers);
  const bool large = bytes / (ring_channels(layout) * layout.ranks) >= kRingLatencyBytes;
  return allreduce && protocol == Protocol::simple && layout.nodes > 1 && large
             ? latency * kRingLatencyFactor[layout.row]
             : latency;
}

Bus ring_bus(const Layout& layout, Protocol protocol, const Multipliers& multipliers) {
  const double inner = layout.ring_Bps * multipliers[Parameter::bw_nvl];
  Bus bus{inner, inner_limit(layout)};
  if (layout.nodes > 1) {
    bus = {inner * multipliers[Parameter::bw_mix], Limit::mix};
    bus.cap(layout.nics_Bps * multipliers[Parameter::bw_nic], Limit::nic);
  }
  if (protocol == Protocol::ll) {
    bus.Bps /= 2;
    bus.cap(ll_cap(layout), Limit::protocol_cap);
    bus.Bps *= multipliers[Parameter::eff_ll];
  } else if (protocol == Protocol::ll128) {
    bus.Bps *= kLl128Share;
    bus.cap(ring_channels(layout) * kCapRingLl128[layout.row] * kGigabyte, Limit::protocol_cap);
    bus.Bps *= multipliers[Parameter::eff_ll128];
  }
  return bus;
}

// What a tree could use before its shares and caps: two nodes exchange, and use both directions of
// their cards.
Bus tree_ports(const Layout& layout, const Multipliers& multipliers) {
  Bus bus{layout.ring_Bps * multipliers[Parameter::bw_nvl], inner_limit(layout)};
  if (layout.nodes > 1) {
    const double cards = layout.nics_Bps * multipliers[Parameter::bw_nic];
    bus.cap(layout.column == 1 ? 2 * cards : cards, Limit::nic);
  }
  return bus;
}

Bus tree_bus(const Layout& layout, Protocol protocol, const Multipliers& multipliers) {
  Bus bus = tree_ports(layout, multipliers);
  const double channels = std::max(tree_channels(layout, multipliers), kLeastTreeChannels);
  bus.Bps *= kLl128Share;
  bus.cap(channels * kCapTree[layout.row][layout.column] * kGigabyte, Limit::protocol_cap);
  if (protocol == Protocol::ll) {
    bus.Bps *= kLlShareOfTree;
    bus.cap(ll_cap(layout), Limit::protocol_cap);
    bus.Bps *= multipliers[Parameter::eff_ll];
  } else if (protocol == Protocol::ll128) {
    bus.Bps *= layout.column == 0 ? kLl128ShareOfTreeInside : kLl128ShareOfTree;
    bus.cap(channels * kCapTreeLl128[layout.row][layout.column] * kGigabyte, Limit::protocol_cap);
    bus.Bps *= multipliers[Parameter::eff_ll128];
  }
  bus.Bps *= multipliers[Parameter::tree];
  return bus;
}

// The table has a row per power of two from 64 bytes on.
double tree_correction(double bytes, Protocol protocol) {
  if (bytes < 64) {
    return 1;
  }
  const auto place = static_cast<std::size_t>(std::ilogb(bytes / 64));
  return place < kTreeSizes ? kTreeCorrection[index(protocol)][place] : 1;
}

} // namespace

double ring_channels(const Layout& layout) {
  return layout.nodes > 1
             ? layout.nics
             : std::max(1.0, rounded(layout.ring_Bps / (kRingChannelRate * kGigabyte)));
}

double tree_channels(const Layout& layout, const Multipliers& multipliers) {
  const double rate = layout.column == 0 ? kRingChannelRate : kTreeChannelRate[layout.row];
  return std::max(1.0, rounded(tree_ports(layout, multipliers).Bps / (rate * kGigabyte)));
}

Parts ring_parts(const Layout& layout, Operation operation, double bytes, Protocol protocol,
                 const Multipliers& multipliers, View view) {
  const bool chain = operation == Operation::broadcast || operation == Operation::reduce;
  const Bus bus = ring_bus(layout, protocol, multipliers);
  const bool several = layout.nodes > 1;
  const double hop =
      several ? network_ring_hop(layout, protocol) * network_factor(protocol, multipliers)
              : inner_hops(layout).ring[index(protocol)] * inner_factor(protocol, multipliers);
  Parts parts;
  parts.latency_s =
      kMicrosecond * (chain ? chain_latency(layout, protocol, multipliers, view)
                            : ring_latency(layout, operation, bytes, protocol, multipliers));
  parts.transfer_s = bytes * ring_steps(operation, layout.ranks) / (layout.ranks * bus.Bps);
  parts.limit = bus.limit;
  parts.least_latency_s =
      kMicrosecond * hop * (several ? layout.ceil_log2_nodes : layout.ceil_log2_gpus);
  return parts;
}

Parts tree_parts(const Layout& layout, double bytes, Protocol protocol,
                 const Multipliers& multipliers) {
  const std::size_t i = index(protocol);
  const double inner = inner_hops(layout).tree[i] * inner_factor(protocol, multipliers);
  const double network = kHopNetwork.tree[i] * network_factor(protocol, multipliers) *
                         multipliers[Parameter::tree_lat];
  const double hops = (layout.gpus - 1) * inner +
                      layout.floor_log2_nodes * network * rail_factor(layout, multipliers);
  const Bus bus = tree_bus(layout, protocol, multipliers);
  Parts parts;
  parts.latency_s = kMicrosecond * (kBaseTree[i] * multipliers[Parameter::base] + 2 * hops);
  parts.transfer_s = bytes / (bus.Bps * 0.5 * tree_correction(bytes, protocol));
  parts.limit = bus.limit;
  parts.least_latency_s = kMicrosecond * (layout.nodes > 1 ? network * layout.ceil_log2_nodes
                                                           : inner * layout.ceil_log2_gpus);
  return parts;
}

} // namespace stepsim::nccl
