#pragma once
// Builds the program of synchronous training: buckets of gradients are all-reduced, possibly with
// gradient accumulation over micro-batches (TRN 4.1, 4.3).
//
//     compute  U1 F1 U2 F2 U3 F3 | B3 B2 B1 ..wait..| U1 F1 ..
//     reduce                          =X3==X2==X1===|
//
// The update of a layer waits for the exchanges of its buckets in the iteration before. Behind a
// barrier that of all layers waits for all of them. Micro-batches wait for no exchange.

#include "programs/builders/step_parts.hpp"

namespace stepsim::programs {

struct SyncSgdOptions {
  Seconds update = {};
  NextForward next_forward = NextForward::per_layer;
  std::uint32_t micro_batches = 1; // layer times are those of one micro-batch
  bool exchange_each = false;      // exchange after every micro-batch instead of the last one
  // The stream of the exchanges. On a priority stream, the first buckets of the list are the most
  // urgent.
  Stream reduce = {.name = "reduce"};
  // Whether every bucket has a fifo stream of its own, so that none waits for another.
  bool stream_each = false;
};

// The program. `reduce` of a bucket is its all-reduce. The marker is the last backward; the tail is
// one update of all layers.
[[nodiscard]] Program sync_sgd_program(const std::vector<LayerTimes>& layers,
                                       const std::vector<BucketTimes>& buckets,
                                       const SyncSgdOptions& options = {});

// Builds the program of OD-SGD (Xu et al., arXiv 2005.06728), in which weights are one iteration
// old. After its backward, a worker makes two updates, one after the other: it updates the weights
// with the gradients of all workers of the iteration before, and then its local copy with its own
// gradients of this iteration. An exchange so overlaps with the next step:
//
//     compute  F1 B1 U1  F2 B2 U2  F3     U = both updates; U2 waits for X1
//     reduce       =X1======   =X2=
//
// With a single bucket, the period is max(forward + backward + 2 update, exchange).

// The program. A bucket is exchanged when backward completes it. The first update of an iteration,
// of `update` seconds with the decoding of what was exchanged, waits for all exchanges of the
// iteration before, and the second one, of the worker's own gradient and `local` seconds, follows
// it. The marker is the second update.
[[nodiscard]] Program od_sgd_program(const std::vector<LayerTimes>& layers,
                                     const std::vector<BucketTimes>& buckets, Seconds update,
                                     Seconds local);

// Builds the program of Pipe-SGD, in which the gradients of an iteration are applied K iterations
// later, so that their exchange overlaps with K - 1 steps (TRN 4.6).
//
//     compute  S1 S2  S3  S4       K = 2, S = update, forward and backward
//     reduce      =X1= =X2=        X1 ends before S3
//
// Period: max(compute, exchange, (compute + exchange) / K). The first iterations may be
// synchronous: each of them also waits for the exchanges of the iteration before it.

struct PipeSgdOptions {
  Seconds update = {};
  std::int32_t width = 2;              // K >= 1
  std::uint32_t synchronous_first = 0; // iterations at the beginning
};

// The program: the update of all layers waits for the exchanges of `width` iterations ago. The
// marker is the last exchange or, without buckets, the backward of layer 0.
[[nodiscard]] Program pipe_sgd_program(const std::vector<LayerTimes>& layers,
                                       const std::vector<BucketTimes>& buckets,
                                       const PipeSgdOptions& options);

// Builds programs of synchronous training whose exchange has two halves (TRN 4.2). `dear` does a
// reduce-scatter during backward and an all-gather during the next forward; `reduce_broadcast`
// reduces to a root, which updates the weights and broadcasts them. Below: `dear` without updates.
//
//     compute  B3 B2 B1 | ........ F1 F2 F3
//     reduce      =R3=R2=R1=G1=G2=G3=

// When the all-gathers start: all of them after the reduce-scatters, or each one when the forward
// pass reaches the bucket before it (in forward order).
enum class GatherPrefetch { all, one };

struct DearOptions {
  Seconds update = {};
  GatherPrefetch prefetch = GatherPrefetch::all;
  // barrier requires prefetch `all`, which is not checked.
  NextForward next_forward = NextForward::per_layer;
};

// The `dear` program. Its marker is the last backward. Its tail has, with prefetch `one`, the
// all-gathers of the last iteration, and then one update of all layers.
[[nodiscard]] Program dear_program(const std::vector<LayerTimes>& layers,
                                   const std::vector<BucketTimes>& buckets,
                                   const DearOptions& options = {});

// The `reduce_broadcast` program. Between the reduces and the broadcasts, the update of all layers
// takes `update` seconds. The marker is the last backward; there is no tail.
[[nodiscard]] Program reduce_broadcast_program(const std::vector<LayerTimes>& layers,
                                               const std::vector<BucketTimes>& buckets,
                                               Seconds update,
                                               NextForward next_forward = NextForward::per_layer);

// Builds the program of ZeRO stages 1 and 2 (TRN 4.4): parameters are replicated; the optimizer
// state and, in stage 2, the gradients are sharded over N ranks.
//
//     compute  F1 F2 F3 | B3 B2 B1 ....... U ............
//     reduce                 =R3==R2==R1===   =G1==G2==G3=

struct ZeroOptions {
  std::uint32_t stage = 1;         // stage 2 reduce-scatters after every micro-batch, 1 at the end
  std::uint32_t micro_batches = 1; // layer times are those of one micro-batch
  Seconds update = {};             // time to update all parameters; a rank takes update / shards
  double shards = 1;
  Seconds encode = {}; // encoding a rank's shard, after the update and before the all-gathers
  NextForward gather = NextForward::barrier;
  // If not empty: gradients are all-reduced, and these broadcasts behind the update take the place
  // of all-gathers; the next forward waits for all. Their units follow those of the buckets.
  std::vector<ExchangeTime> broadcasts{};
};

// The program. `reduce` and `gather` of a bucket are its reduce-scatter (all-reduce) and
// all-gather. The marker is the update.
[[nodiscard]] Program zero_program(const std::vector<LayerTimes>& layers,
                                   const std::vector<BucketTimes>& buckets,
                                   const ZeroOptions& options);

} // namespace stepsim::programs
