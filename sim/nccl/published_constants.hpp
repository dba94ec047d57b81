#pragma once
// Constants of NCCL's cost estimate (CLU 6.1), restated from the public source of NCCL 2.30.7
// (NVIDIA/nccl, src/graph/tuning.cc and src/graph/topo.h). Latencies are in microseconds and rates
// in GB/s (1e9 bytes/s), as published; the functions of this folder return seconds and bytes per
// second.

#include "nccl/library_words.hpp"

namespace stepsim::nccl {

using PerProtocol = std::array<double, 3>; // ll, ll128, simple
using PerNodes = std::array<double, 3>;    // one node, two nodes, more

// Latencies of one hop. On the network, a ring with one GPU per node uses `tree`, too.
struct HopLatencies {
  PerProtocol tree;
  PerProtocol ring;
};

// Latencies of an operation before its hops.
inline constexpr PerProtocol kBaseTree{6.8, 14.0, 8.4};
inline constexpr PerProtocol kBaseRing{6.6, 14.0, 8.4};
inline constexpr double kBasePat = 8.0;
inline constexpr double kBasePointToPoint = 8.4; // CLU 7.3

inline constexpr HopLatencies kHopNvlink{.tree = {0.6, 1.25, 4.0}, .ring = {0.6, 1.9, 3.4}};
inline constexpr HopLatencies kHopPcie{.tree = {1.0, 1.9, 4.0}, .ring = {1.0, 2.5, 5.7}};
inline constexpr HopLatencies kHopNetwork{.tree = {5.0, 8.5, 14.0}, .ring = {2.7, 4.0, 14.0}};

inline constexpr double kHopNvls = 25.0;            // whole NVLS inside a node
inline constexpr double kHopNvlsTreeNetwork = 20.9; // one network hop of nvls_tree
// A network hop of PAT takes kHopPatNetwork / kPatHopShare; kPatPerRank is added for every rank.
inline constexpr double kHopPatNetwork = 14.0;
inline constexpr double kPatHopShare = 3.5;
inline constexpr double kPatPerRank = 2.8;
inline constexpr double kPatRateShare = 0.75; // fraction of the rate of the cards

// CollNet. Inside a node of G GPUs, the direct form takes 2 (kHopCollnetDirect + (G - 1)
// kCollnetDirectPerGpu), without the first term if G = 1, and the chain form 2 (G - 1)
// kHopCollnetChain. The network latency is added once.
inline constexpr double kHopCollnetDirect = 3.7;
inline constexpr double kCollnetDirectPerGpu = 0.4;
inline constexpr double kCollnetDirectNetwork = 31.0;
inline constexpr double kHopCollnetChain = 2.8;
inline constexpr double kCollnetChainNetwork = 30.0;
inline constexpr double kCollnetDirectHopper = 0.85; // from Hopper on, fraction of the rate

// Host time per network message; `simple` sends three messages.
inline constexpr std::array<double, 2> kPostOverhead{1.0, 2.0}; // [Host]
inline constexpr double kSimplePosts = 3;

// Rate limits, [Generation] and, except for kCapRingLl128, [nodes]. The limit of LL holds for the
// whole bus, the others per channel.
inline constexpr std::array<PerNodes, 4> kCapLl{
    {{39, 39, 20.4}, {87.7, 22.5, 19}, {141, 45, 35}, {282, 90, 70}}};
inline constexpr std::array<double, 4> kCapRingLl128{20, 20, 36.7, 40};
inline constexpr std::array<PerNodes, 4> kCapTreeLl128{
    {{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 29}, {55.6, 31.67, 20}}};
inline constexpr std::array<PerNodes, 4> kCapTree{
    {{26.5, 18.5, 10}, {24, 23.6, 17.8}, {38.7, 41.4, 36}, {70, 42.8, 24}}};
// Used for two nodes and more; the first entry is never read.
inline constexpr std::array<PerNodes, 4> kCapNvlsTree{
    {{0, 18.5, 10}, {0, 23.6, 17.8}, {0, 57.7, 45.5}, {0, 96, 80}}};
inline constexpr double kNvlsTreeChannels = 16;

// [Generation] fraction of the ring rate that the switch of a node reaches while it adds; 0 if it
// cannot add.
inline constexpr std::array<double, 4> kNvlsEfficiency{0, 0, 0.85, 0.74};
// Fitted, not published: with it the estimate changes from nvls_tree to a ring between 1 and 2 GiB
// on 10 nodes of 8 H100, as measured (CLU 6.2).
inline constexpr double kNvlsTreeEstimateShare = 0.92;
inline constexpr std::uint32_t kLeastNvlsGpus = 3; // nodes with fewer GPUs do not use NVLS

// Fractions of the bus rate that algorithms and protocols reach.
inline constexpr double kLl128Share = 0.92; // ring with ll128; tree with any protocol
// On top of kLl128Share for a tree: with ll, and with ll128 on one node and on several.
inline constexpr double kLlShareOfTree = 1 / 3.8;
inline constexpr double kLl128ShareOfTreeInside = 7.0 / 9;
inline constexpr double kLl128ShareOfTree = 0.9375;
// GB/s of the bus for which the library opens one channel; the quotient is rounded. On one node
// kRingChannelRate holds for rings and trees; trees on several nodes use kTreeChannelRate.
inline constexpr double kRingChannelRate = 20;
inline constexpr std::array kTreeChannelRate{20.0, 20.0, 24.0, 24.0}; // [Generation]
inline constexpr double kLeastTreeChannels = 2;

// [Generation] factor on the latency of a large all-reduce by a ring with `simple` on several
// nodes, from kRingLatencyBytes per channel and rank on.
inline constexpr std::array kRingLatencyFactor{1.9, 1.4, 1.4, 1.4};
inline constexpr double kRingLatencyBytes = 64;

// Factor on a tree's bandwidth, [Protocol][floor(log2(bytes / 64))]; 1 outside the table. The last
// entry of `simple` is 1, because the library does not apply it.
inline constexpr std::size_t kTreeSizes = 24;
inline constexpr std::array<std::array<double, kTreeSizes>, 3> kTreeCorrection{
    {{1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1, 1},
     {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1, 1},
     {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5,
      .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9, 1}}};

// Point-to-point (CLU 7.3): microseconds per message inside a node and between nodes, and the
// fraction of a card's rate that two nodes of one GPU reach, where each has a single peer.
inline constexpr double kPointToPointInside = 1.0;
inline constexpr double kPointToPointAcross = 4.0;
inline constexpr double kLonePeerShare = 0.8;

// The shortest possible operation: the launch (CLU 7.1).
inline constexpr double kLaunch = 5.0;

} // namespace stepsim::nccl
