#pragma once
// Fully sharded training (ZeRO-3, FSDP) and its hybrid with replicas (HSDP): units of layers are
// gathered before they compute and their gradients reduce-scattered after backward (TRN 4.5).
//
//     gather   =A1==A2==A3=      =A2=  =A1=              two communicators, prefetch `pre`
//     compute      F1 F2  F3 | B3   B2    B1 | U
//     reduce                       =R3==R2==R1=
//
// Units count from 0 in forward order. `ahead` = g: the gather for the compute at position q of the
// iteration waits for the end of the compute at position q - 1 - g.
#include <cstdint>
#include <optional>
#include <vector>

#include "base/units.hpp"
#include "program/builders/step_parts.hpp"
#include "program/training_program.hpp"

namespace stepsim::program {

struct UnitTimes { // of one micro-batch
  Seconds forward;
  Seconds backward;
  ExchangeTime gather;
  ExchangeTime reduce;    // reduce-scatter
  ExchangeTime replicate; // all-reduce of the shard between replicas; with `hybrid`
  Seconds decode{};       // of gathered parameters, before the compute that needs them
};

// When the gather for backward of unit u - 1 is issued: before backward of unit u (pre), right
// after it and before its reduce-scatter (post), or after that reduce-scatter (none).
enum class BackwardPrefetch { pre, post, none };

// Empty limits mean none.
struct FsdpOptions {
  std::uint32_t micro_batches = 1;
  Seconds update = {}; // of all parameters; each rank updates one of `shards`
  std::uint32_t shards = 1;
  Seconds encode = {}; // of a rank's shards, after the update and before they are gathered
  bool reshard_after_forward = true;
  // false: forward of a later micro-batch gathers only units that forward resharded.
  bool reshard_after_backward = true;
  bool keep_last = false; // the last unit is not gathered again for backward
  std::optional<std::uint32_t> ahead_forward = 2;
  std::optional<std::uint32_t> ahead_backward = 1; // with prefetch `pre`; 0 otherwise
  BackwardPrefetch prefetch = BackwardPrefetch::pre;
  std::optional<std::uint32_t> reduces_in_flight = 1;
  std::uint32_t communicators = 1; // 1: gathers and reduce-scatters share a stream
  bool exchange_each = true;       // reduce-scatters after every micro-batch, not the last one only
  bool hybrid = false;             // all-reduces between replicas after the last micro-batch
};

// Marker: the update.
[[nodiscard]] Program fsdp_program(const std::vector<UnitTimes>& units, const FsdpOptions& options);

} // namespace stepsim::program
