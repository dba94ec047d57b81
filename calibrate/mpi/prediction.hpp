#pragma once
// How long collectives should take, from messages between two ranks alone (CAL 8.3, 8.4). A message
// of n bytes costs its sender and its receiver by what they do in the same step:
//
//   only send or only receive      t_pp(n)     half a round trip
//   both, with one peer            t_ex(n)     all ranks exchange in pairs
//   both, with two peers           t_sh(n)     all ranks send to the next
//   acknowledged                   + t_pp(0) at the sender
//   added at the receiver          + n gamma
//
// and a message ends when the slower of its two ends is done: a sweep over the schedule as in
// max_plus. Blocks of b bytes of `lp` (linear pipeline) follow each other by tau, which the stream
// probe gives, scaled in proportion to b from its own block; among P ranks, with m = n/b, which is
// no whole number where the last block is short:
//
//   broadcast (P-1) t_pp(b) + (m-1) tau,  reduce + (P-1) b gamma,
//   allreduce P t_pp(b) + (max(m, P) + m - 2) tau + (P-1) b gamma
#include <cstdint>
#include <span>
#include <vector>

#include "calibrate/core/line_fit.hpp"
#include "calibrate/mpi/process_program.hpp"

namespace stepsim::calibrate::mpi {

// Linear between measured sizes (ascending); the first time below them, the line through the last
// two points above them.
[[nodiscard]] double interpolated(std::span<const Datum> curve, double bytes);

struct StepCosts {
  std::vector<Datum> pingpong, exchange, shift; // by size, at least two points each
  double block_bytes{};                         // of the stream probe
  double block_s{};                             // tau: what one more block of that size takes
  double gamma{};                               // s per byte added
  double merge_s{};                             // merging two lists of the size to be predicted
};

[[nodiscard]] double predict(const Kind& kind, std::uint32_t ranks, std::int64_t bytes,
                             const MessageOptions& options, const StepCosts& costs);

// Which part of the prediction is largest: "latency", "bandwidth" or "reduction" (CAL 11).
[[nodiscard]] std::string bound_of(const Kind& kind, std::uint32_t ranks, std::int64_t bytes,
                                   const MessageOptions& options, const StepCosts& costs);

} // namespace stepsim::calibrate::mpi
