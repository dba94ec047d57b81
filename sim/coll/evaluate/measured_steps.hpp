#pragma once
// The time of a collective from measured times of single messages (CAL 8.3, 8.4), where traffic in
// both directions is slower than in one. A message of n bytes costs its sender and its receiver by
// what they do in the same step:
//
//   only send or only receive      t_one(n)   one way
//   both, with one peer            t_ex(n)    all ranks exchange in pairs
//   both, with two peers           t_sh(n)    all ranks send to the next
//   answered                       + t_reply at the sender, which waits for an empty reply
//   added at the receiver          + n gamma
//
// A message ends when the slower of its two ends is done. Blocks of b bytes of `lp` follow each
// other by tau = alpha_blk + b beta; among P ranks, with m = n/b, which is no whole number where
// the last block is short:
//
//   broadcast (P-1) t_one(b) + (m-1) tau,  reduce + (P-1) b gamma,
//   allreduce P t_one(b) + (max(m, P) + m - 2) tau + (P-1) b gamma
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "coll/collective.hpp"
#include "coll/evaluate/evaluation.hpp"
#include "net/profile/profile.hpp"

namespace stepsim::coll {

struct MeasuredSteps {
  std::vector<net::CurveSegment> one_way, exchange, shift; // t by bytes, at least one segment each
  std::optional<double> reply_s; // a reply to messages of trees that spread data; empty: none
  double block_latency_s{};      // alpha_blk, of a follow-up block
  double per_byte_s{};           // beta
};

// The link of a profile that joins its ranks: of class network, else of class host where that has
// both duplex factors, which the processes of one host give; null without one.
[[nodiscard]] const net::LinkClass* link_of_ranks(const net::NetworkProfile& profile);

// The steps of that link: the profile's curves of probes (pingpong, and sendrecv by exchange and
// shift); for a curve that it lacks a straight line by latency, time per byte and duplex factor of
// the link. Empty without that link, or where the link lacks one of the duplex factors.
[[nodiscard]] std::optional<MeasuredSteps> measured_steps(const net::NetworkProfile& profile);

// Whether `links.measured` gives the time: on one level without single links or a fabric, for
// algorithms in which a rank sends one message per step, and for `lp`.
[[nodiscard]] bool takes_measured_steps(const Collective& collective);

struct StepMessage {
  std::int64_t step{};
  std::uint32_t src{}, dst{};
  double bytes{};
  double added_s{};      // how long the receiver adds after the step
  bool answered = false; // the sender waits for a reply
};
// Whether the receiver of a message replies to it where MeasuredSteps has a reply: in trees that
// spread data, so that a round means delivery.
[[nodiscard]] bool is_answered(const Collective& collective, std::int64_t step, bool added);

// When each rank has finished, from the times at which the ranks enter (`ready`, one per rank).
// Messages in program order; those of one step follow each other. Throws SimulationError for a rank
// that sends or receives twice in a step.
[[nodiscard]] RankTimes step_times(std::span<const StepMessage> messages,
                                   const MeasuredSteps& steps, std::vector<double> ready);

// Needs takes_measured_steps (asserted). `lp` takes the formulas above, from the last entry on and
// with the slowest rank's gamma; everything else step_times, with the errors of that.
[[nodiscard]] Evaluation measured_evaluation(const Collective& collective);

// Seconds by the formulas of `lp` above, in blocks of `block` bytes; `gamma` in s per byte.
[[nodiscard]] double measured_pipeline(Op op, double ranks, double bytes, double block,
                                       double gamma, const MeasuredSteps& steps);

} // namespace stepsim::coll
