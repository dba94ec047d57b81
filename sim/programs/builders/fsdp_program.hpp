#pragma once
// Builds programs of fully sharded training (ZeRO-3, FSDP) and of its hybrid with replicas (HSDP).
// The parameters of a unit of layers are gathered before the unit computes, and its gradients are
// reduce-scattered after its backward (TRN 4.5).
//
//     gather   =A1==A2==A3=      =A2=  =A1=              two communicators, prefetch `pre`
//     compute      F1 F2  F3 | B3   B2    B1 | U
//     reduce                       =R3==R2==R1=
//
// Units are numbered from 0 in forward order. The options `ahead_*` = g limit how early a gather
// starts: the gather for the compute at position q of the iteration waits for the end of the
// compute at position q - 1 - g, so that g = 0 is the compute just before.

#include "programs/builders/step_parts.hpp"

namespace stepsim::programs {

struct UnitTimes { // for one micro-batch
  Seconds forward{};
  Seconds backward{};
  ExchangeTime gather;
  ExchangeTime reduce;      // reduce-scatter
  ExchangeTime replicate{}; // all-reduce of the shard between replicas; used with `hybrid`
  Seconds decode{};         // decoding gathered parameters, before the compute that needs them
  bool parameters = true;   // without them nothing is gathered, reduced or waited for
};

// When the gather for the backward of unit u - 1 is issued:
//   pre   before the backward of unit u
//   post  after the backward of unit u, before the reduce-scatter of unit u
//   none  after the reduce-scatter of unit u
enum class BackwardPrefetch { pre, post, none };

// An empty optional means that there is no such limit.
struct FsdpOptions {
  std::uint32_t micro_batches = 1;
  Seconds update = {}; // time to update all parameters; a rank takes update / shards
  std::uint32_t shards = 1;
  Seconds encode = {}; // encoding a rank's shards, after the update and before the first gathers
  bool reshard_after_forward = true;
  // If false, a unit that is not gathered again for backward keeps its parameters after backward,
  // too, and is gathered in the first micro-batch only. A unit that is gathered again for backward
  // is always gathered in the forward of every micro-batch.
  bool reshard_after_backward = true;
  bool keep_last = false; // the last unit is not gathered again for backward
  std::optional<std::uint32_t> ahead_forward = 2;
  std::optional<std::uint32_t> ahead_backward = 1; // used with prefetch `pre`; else it is 0
  BackwardPrefetch prefetch = BackwardPrefetch::pre;
  std::optional<std::uint32_t> reduces_in_flight = 1;
  std::uint32_t communicators = 1; // 1: gathers and reduce-scatters share a stream
  bool exchange_each = true; // reduce-scatter after every micro-batch, not only after the last one
  bool hybrid = false;       // all-reduces between replicas after the last micro-batch
  bool same_links = false;   // these take the links of reduce-scatters, and so their stream
};

// The program. Its marker is the update.
[[nodiscard]] Program fsdp_program(const std::vector<UnitTimes>& units, const FsdpOptions& options);

} // namespace stepsim::programs
