#pragma once
// The time of a collective from measured times of single messages (CAL 8.3, 8.4), for links that
// are slower in both directions at once than in one. The cost of a message of n bytes at its sender
// and at its receiver depends on what that rank does in the step:
//
//   sends or receives only         t_one(n)   measured one way
//   both, with one peer            t_ex(n)    measured while all ranks exchange in pairs
//   both, with two peers           t_sh(n)    measured while all ranks send to the next
//   gets a reply                   + t_reply  at a sender that waits for an empty reply
//   adds the message               + n gamma  at the receiver
//
// A message ends when the slower of its two ranks has finished. The linear pipeline (`lp`) sends
// blocks of b bytes at intervals of tau = alpha_blk + b beta. With P ranks and m = n/b, which is
// not a whole number if the last block is short:
//
//   broadcast   (P-1) t_one(b) + (m-1) tau
//   reduce      the same + (P-1) b gamma
//   allreduce   P t_one(b) + (max(m, P) + m - 2) tau + (P-1) b gamma

#include "collectives/evaluate/evaluation.hpp"
#include "links/profile/profile.hpp"

namespace stepsim::collectives {

struct MeasuredSteps {
  std::vector<links::CurveSegment> one_way, exchange,
      shift;                     // t by bytes, at least one segment each
  std::optional<double> reply_s; // time of a reply without data; nullopt: ranks send no replies
  double block_latency_s{};      // alpha_blk, the latency of each block after the first
  double per_byte_s{};           // beta
};

// Returns the link of a profile that joins its ranks: the link of class network, else the link of
// class host (between the processes of one host) if it has both duplex factors; else null.
[[nodiscard]] const links::LinkClass* link_of_ranks(const links::NetworkProfile& profile);

// Returns the measured steps of link_of_ranks(): the profile's curves of probes (pingpong,
// exchange, shift). A missing curve is replaced by a straight line from latency, time per byte and
// duplex factor of the link. Empty if there is no such link, or if it lacks a duplex factor.
[[nodiscard]] std::optional<MeasuredSteps> measured_steps(const links::NetworkProfile& profile);

// Whether `links.measured` times the collective: it is given, all links are alike on one level (no
// fabric, no listed pairs), and the algorithm is `lp` or sends no blocks and is neither
// `automatic`, a parameter server nor two-level.
[[nodiscard]] bool takes_measured_steps(const Collective& collective);

// Ends the warning about an exchange that is not timed by them.
inline constexpr std::string_view kLosesSteps =
    " takes latency and bandwidth of the calibration, not its times of messages in both directions";

struct StepMessage {
  std::int64_t step{};
  std::uint32_t src{}, dst{};
  double bytes{};
  double added_s{};      // s for which the receiver adds after the step; 0 if it adds nothing
  bool answered = false; // the sender waits for a reply
};
// Whether the receiver replies to a message of `step` (if MeasuredSteps has reply_s), so that a
// finished round means delivery: true in trees that spread data. `added`: the receiver adds the
// message, as in a reduce.
[[nodiscard]] bool is_answered(const Collective& collective, std::int64_t step, bool added);

// Returns when each rank has finished. `ready` has the entry time of every rank. `messages` are in
// program order, with the messages of a step together. Throws SimulationError if a rank sends or
// receives twice in a step.
// Start and end of every message go into `timed`, if it is not empty.
[[nodiscard]] RankTimes step_times(std::span<const StepMessage> messages,
                                   const MeasuredSteps& steps, std::vector<double> ready,
                                   std::span<TransferRecord> timed = {});

// Returns at most `limit` transfers in program order with the times that the evaluation of the
// collective has: by measured steps where takes_measured_steps() is true, else as list_transfers()
// does. `lp` by measured steps has none (not checked).
[[nodiscard]] std::vector<TransferRecord> timed_transfers(const Collective& collective,
                                                          std::size_t limit, bool by_events);

// Evaluates a collective for which takes_measured_steps() is true (asserted). `lp` uses the
// formulas above, as if all ranks entered with the last one and added as slowly as the slowest;
// other algorithms use step_times() and throw as it does.
[[nodiscard]] Evaluation measured_evaluation(const Collective& collective);

} // namespace stepsim::collectives
