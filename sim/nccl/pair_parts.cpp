#include "nccl/pair_parts.hpp"

#include <cmath>

#include "nccl/published_constants.hpp"

namespace stepsim::nccl {

namespace {

// The stage in the network: c GPUs share the busiest card.
double network_stage(double bytes, const CollnetLinks& links) {
  const double share = std::ceil(links.gpus / links.nics);
  return 2 * links.network_latency_s + links.switch_latency_s +
         share * links.network_per_byte_s * bytes / links.gpus;
}

// One function per algorithm; rings and trees have a file of their own. The rates that the lower
// bound needs are set where the pair is known, because an algorithm that adds in a switch has
// another rate inside a node than a ring.

double inner_Bps(const Layout& layout, const Multipliers& multipliers) {
  return layout.ring_Bps * multipliers[Parameter::bw_nvl];
}

double cards_Bps(const Layout& layout, const Multipliers& multipliers) {
  return layout.nics_Bps * multipliers[Parameter::bw_nic];
}

// r of CLU 5.1.
double switch_Bps(const Layout& layout, const Multipliers& multipliers) {
  return inner_Bps(layout, multipliers) * kNvlsEfficiency[layout.row] *
         multipliers[Parameter::nvls];
}

Parts nvls_parts(const Layout& layout, Operation operation, double bytes,
                 const Multipliers& multipliers) {
  const double rate = switch_Bps(layout, multipliers);
  Parts parts;
  parts.latency_s = kMicrosecond * kHopNvls * multipliers[Parameter::nvls_lat];
  parts.transfer_s = operation == Operation::allreduce
                         ? nvls_seconds(bytes, layout.gpus, 0, rate)
                         : bytes * (layout.gpus - 1) / layout.gpus / rate;
  parts.limit = inner_limit(layout);
  parts.least_latency_s = parts.latency_s;
  return parts;
}

Parts nvls_tree_parts(const Layout& layout, double bytes, const Multipliers& multipliers,
                      View view) {
  const double rate = switch_Bps(layout, multipliers);
  const double cards = cards_Bps(layout, multipliers);
  const double hop = kHopNvlsTreeNetwork * network_factor(Protocol::simple, multipliers) *
                     multipliers[Parameter::nvlst_lat];
  double whole = nvls_tree_Bps(layout.nodes, layout.gpus, rate, cards);
  Parts parts;
  parts.limit = whole < rate / (1 + 1 / layout.gpus) ? Limit::nic : inner_limit(layout);
  if (view == View::estimate) {
    const double cap = kNvlsTreeChannels * kCapNvlsTree[layout.row][layout.column] * kGigabyte *
                       layout.ranks / (2 * (layout.ranks - 1));
    parts.limit = cap < whole * kNvlsTreeEstimateShare ? Limit::protocol_cap : parts.limit;
    whole = std::min(whole * kNvlsTreeEstimateShare, cap);
  } else {
    whole *= multipliers[Parameter::nvlst];
  }
  parts.latency_s =
      kMicrosecond * (kHopNvls * multipliers[Parameter::nvls_lat] +
                      2 * layout.floor_log2_nodes * hop * rail_factor(layout, multipliers));
  parts.transfer_s = bytes / whole;
  parts.least_latency_s = kMicrosecond * hop * layout.ceil_log2_nodes;
  return parts;
}

Parts pat_parts(const Layout& layout, double bytes, const Multipliers& multipliers) {
  const double hop = kHopPatNetwork / kPatHopShare * network_factor(Protocol::simple, multipliers);
  Parts parts;
  parts.latency_s = kMicrosecond * (kBasePat * multipliers[Parameter::base] +
                                    layout.floor_log2_nodes * hop + kPatPerRank * layout.ranks);
  parts.transfer_s = bytes / (kPatRateShare * cards_Bps(layout, multipliers));
  parts.limit = Limit::nic;
  parts.least_latency_s = kMicrosecond * hop * layout.ceil_log2_nodes;
  return parts;
}

// Of the two forms, direct and chain, the one that is estimated faster.
Parts collnet_estimate(const Layout& layout, double bytes) {
  const double shared = layout.gpus / ring_channels(layout); // GPUs per channel
  const double factor = shared > 1 ? shared - (shared - 1) / 2 : shared;
  const double hopper =
      layout.row >= static_cast<std::size_t>(Generation::hopper) ? kCollnetDirectHopper : 1;
  Parts direct;
  direct.latency_s = kMicrosecond * (2 * (std::min(1.0, layout.gpus - 1) * kHopCollnetDirect +
                                          kCollnetDirectPerGpu * (layout.gpus - 1)) +
                                     kCollnetDirectNetwork);
  direct.transfer_s = bytes / (0.5 * layout.nics_Bps / factor * hopper);
  Parts chain;
  chain.latency_s =
      kMicrosecond * (2 * (layout.gpus - 1) * kHopCollnetChain + kCollnetChainNetwork);
  chain.transfer_s = bytes / (0.5 * layout.nics_Bps);
  const bool take_direct =
      direct.latency_s + direct.transfer_s <= chain.latency_s + chain.transfer_s;
  Parts parts = take_direct ? direct : chain;
  parts.limit = Limit::nic;
  return parts;
}

Parts collnet_cost(const Layout& layout, double bytes, const Multipliers& multipliers) {
  constexpr double kSwitchLatency = 1e-6; // seconds, sigma of CLU 5.3
  constexpr Protocol kSimple = Protocol::simple;
  CollnetLinks links;
  links.nodes = layout.nodes;
  links.gpus = layout.gpus;
  links.nics = layout.nics;
  links.inner_latency_s =
      kMicrosecond * kHopNvlink.ring[index(kSimple)] * inner_factor(kSimple, multipliers);
  links.inner_per_byte_s = 1 / inner_Bps(layout, multipliers);
  links.network_latency_s =
      kMicrosecond * kHopNetwork.ring[index(kSimple)] * network_factor(kSimple, multipliers);
  links.network_per_byte_s = layout.nics / cards_Bps(layout, multipliers);
  links.switch_latency_s = kSwitchLatency;
  Parts parts;
  parts.latency_s = collnet_seconds(0, links, 1);
  parts.transfer_s = collnet_seconds(bytes, links, 1) - parts.latency_s;
  const double inner = 2 * (layout.gpus - 1) / layout.gpus * links.inner_per_byte_s;
  const double across =
      std::ceil(layout.gpus / layout.nics) / layout.gpus * links.network_per_byte_s;
  parts.limit = inner > across ? inner_limit(layout) : Limit::nic;
  parts.least_latency_s = links.network_latency_s;
  return parts;
}

// All messages of a rank, one after the other, inside its node and across at the same time
// (CLU 7.3).
Parts point_to_point_parts(const Layout& layout, double bytes, const Multipliers& multipliers) {
  const double across = layout.ranks - layout.gpus; // ranks of other nodes
  const double inside = layout.gpus - 1;
  const double lone = layout.nodes == 2 && layout.gpus == 1 ? kLonePeerShare : 1;
  const double across_Bps =
      cards_Bps(layout, multipliers) / layout.gpus * multipliers[Parameter::p2p_x] * lone;
  const double inside_Bps = inner_Bps(layout, multipliers) * multipliers[Parameter::p2p_n];
  const double across_s = bytes * across / layout.ranks / across_Bps;
  const double inside_s = bytes * inside / layout.ranks / inside_Bps;
  const double message = kMicrosecond * multipliers[Parameter::p2p_lat];
  Parts parts;
  parts.latency_s = kMicrosecond * kBasePointToPoint * multipliers[Parameter::base] +
                    message * (kPointToPointInside * inside + kPointToPointAcross * across);
  parts.transfer_s = std::max(across_s, inside_s);
  parts.limit = across_s > inside_s ? Limit::nic : inner_limit(layout);
  parts.least_latency_s =
      message * (layout.nodes > 1 ? kPointToPointAcross : std::min(inside, kPointToPointInside));
  return parts;
}

Parts parts_of(const Layout& layout, Operation operation, double bytes, Pair pair,
               const Multipliers& multipliers, View view) {
  switch (pair.algorithm) {
  case Algorithm::ring:
    return ring_parts(layout, operation, bytes, pair.protocol, multipliers, view);
  case Algorithm::tree:
    return tree_parts(layout, bytes, pair.protocol, multipliers);
  case Algorithm::nvls:
    return nvls_parts(layout, operation, bytes, multipliers);
  case Algorithm::nvls_tree:
    return nvls_tree_parts(layout, bytes, multipliers, view);
  case Algorithm::pat:
    return pat_parts(layout, bytes, multipliers);
  case Algorithm::collnet:
    return view == View::estimate ? collnet_estimate(layout, bytes)
                                  : collnet_cost(layout, bytes, multipliers);
  case Algorithm::p2p:
    return point_to_point_parts(layout, bytes, multipliers);
  }
  return {};
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

double rail_factor(const Layout& layout, const Multipliers& multipliers) {
  const double cards = (layout.nics - 1) / 7;
  return 1 + multipliers[Parameter::rail] * cards * cards;
}

double inner_factor(Protocol protocol, const Multipliers& multipliers) {
  constexpr std::array kFactors{Parameter::in_ll, Parameter::in_ll128, Parameter::in_simple};
  return multipliers[kFactors[index(protocol)]];
}

double network_factor(Protocol protocol, const Multipliers& multipliers) {
  constexpr std::array kFactors{Parameter::net_ll, Parameter::net_ll128, Parameter::net_simple};
  return multipliers[kFactors[index(protocol)]];
}

double ll_cap(const Layout& layout) {
  std::size_t row = layout.row;
  if (layout.column > 0) {
    const Generation generation = layout.host == Host::amd ? Generation::ampere : Generation::volta;
    row = static_cast<std::size_t>(generation);
  }
  return kCapLl[row][layout.column] * kGigabyte;
}

Limit inner_limit(const Layout& layout) {
  return layout.link == InnerLink::nvlink ? Limit::nvlink : Limit::pcie;
}

Parts pair_parts(const Layout& layout, Operation operation, double bytes, Pair pair,
                 const Multipliers& multipliers, View view) {
  Parts parts = parts_of(layout, operation, bytes, pair, multipliers, view);
  const bool in_switch =
      pair.algorithm == Algorithm::nvls || pair.algorithm == Algorithm::nvls_tree;
  const bool messages = pair.algorithm == Algorithm::p2p;
  parts.inner_Bps = (in_switch ? switch_Bps(layout, multipliers) : inner_Bps(layout, multipliers)) *
                    (messages ? multipliers[Parameter::p2p_n] : 1);
  parts.nics_Bps = cards_Bps(layout, multipliers) * (messages ? multipliers[Parameter::p2p_x] : 1);
  return parts;
}

int channels(const Layout& layout, Pair pair, const Multipliers& multipliers) {
  double count = 1;
  switch (pair.algorithm) {
  case Algorithm::ring:
  case Algorithm::pat:
  case Algorithm::collnet:
    count = ring_channels(layout);
    break;
  case Algorithm::tree:
    count = tree_channels(layout, multipliers);
    break;
  case Algorithm::nvls:
  case Algorithm::nvls_tree:
    count = kNvlsTreeChannels;
    break;
  case Algorithm::p2p:
    break;
  }
  return static_cast<int>(count);
}

} // namespace stepsim::nccl
