#pragma once
// Builds the program of Pipe-SGD, in which the gradients of an iteration are applied K iterations
// later, so that their exchange overlaps with K - 1 steps (TRN 4.6).
//
//     compute  S1 S2  S3  S4       K = 2, S = update, forward and backward
//     reduce      =X1= =X2=        X1 ends before S3
//
// Period: max(compute, exchange, (compute + exchange) / K). The first iterations may be
// synchronous: each of them also waits for the exchanges of the iteration before it.
#include <cstdint>
#include <vector>

#include "base/units.hpp"
#include "programs/builders/step_parts.hpp"
#include "programs/training_program.hpp"

namespace stepsim::programs {

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

} // namespace stepsim::programs
