#pragma once
// One call per evaluator, and what goes with it: the choice of evaluator and algorithm, bounds,
// blocks, transfers, traffic. record.hpp puts them together for `stepsim collective`.
//   closed_form  formula; empty where none exists (COL 3)
//   max_plus     sweep over the schedule in program order; no contention; O(ranks) memory
//   events       the same transfers through a network model
// They agree to 1e-9 wherever their assumptions coincide.
#include <cstdint>
#include <optional>
#include <vector>

#include "coll/collective.hpp"
#include "net/flow/link_use.hpp"

namespace stepsim::coll {

struct ClosedForm {
  double seconds{};
  bool upper_bound = false;        // exceptions (a) to (c) of COL 3; else equal to the schedule
  std::optional<double> startup_s; // a and b of a + b n, where the form is linear in n
  std::optional<double> per_byte_s;
};

// The times of all ranks after one evaluation.
struct RankTimes {
  std::vector<double> finish_s; // end of the last send, receive or addition; enter if none
  std::vector<double>
      transfer_s; // union of busy send, receive and reduction time; empty if not asked
};

struct Evaluation {
  double seconds{}; // latest finish, from time 0
  std::uint64_t messages{};
  std::uint64_t events{}; // events processed, 0 for max_plus
  RankTimes ranks;
  std::vector<net::LinkUse> links; // [link] of the fabric, where the collective has one
};

// Form `cost_form`; empty where that form does not exist, and for `automatic`, which is none of its
// own. Needs `homogeneous()` (asserted). `chunking` is ignored but for blocks: parts are n / k. A
// common entry time counts in.
[[nodiscard]] std::optional<ClosedForm> closed_form(const Collective& collective);

// Throws SimulationError naming the pair where a link is missing.
[[nodiscard]] Evaluation max_plus(const Collective& collective, bool with_transfer_times = false);
[[nodiscard]] Evaluation events(const Collective& collective, bool with_transfer_times = false);

// False for several parameter servers, which share ports in no fixed order, and on a fabric:
// max_plus then throws.
[[nodiscard]] bool max_plus_defined(const Collective& collective);

// The cheapest evaluator that is exact here: closed_form where it is equal (not a bound) and parts
// divide or chunking is real, and where the asked cost form has no schedule (paper, ideal); else
// max_plus; events for several parameter servers, and on two levels for flat algorithms that share
// interfaces (the ring, and lp in rank order, do not), and always on a fabric.
[[nodiscard]] Method automatic_method(const Collective& collective);

// Seconds by `method`; the result never lies below `lower_bound` (checked: SimulationError).
[[nodiscard]] double seconds(const Collective& collective, Method method);

struct LowerBound { // COL 6
  double latency_s{};
  double bandwidth_s{};
  double reduction_s{};
  [[nodiscard]] double seconds() const;
};
[[nodiscard]] LowerBound lower_bound(const Collective& collective);

// Resolved block size of the pipelined algorithms (COL 7); empty for others. On a fabric
// the optimum for the slowest way between neighbours of a ring, contention left out (ring_cost).
struct Blocks {
  double block_bytes{};
  std::int64_t blocks{};
  bool clamped = false; // the asked block was larger than the message
};
[[nodiscard]] std::optional<Blocks> resolve_blocks(const Collective& collective);

// `auto` (COL 9): the cheapest candidate; ties (relative 1e-12) go to the first in the list.
struct Choice {
  AlgorithmId chosen{};
  double chosen_s{};
  std::optional<AlgorithmId> runner_up;
  std::optional<double> runner_up_s;
};
[[nodiscard]] Choice choose_algorithm(const Collective& collective);
// The same collective with `automatic` replaced by the choice.
[[nodiscard]] Collective with_chosen_algorithm(const Collective& collective);

// One message of the schedule, for `--transfers` and the contribution tests.
struct TransferRecord {
  std::int64_t step{};
  std::uint32_t src{};
  std::uint32_t dst{};
  double offset{}; // first byte in the buffer; a range may wrap at the end of its partition
  double bytes{};
  bool reduce = false;
  double start_s{};
  double end_s{};
};
// At most `limit` transfers in program order, timed by max_plus.
[[nodiscard]] std::vector<TransferRecord> list_transfers(const Collective& collective,
                                                         std::size_t limit);

struct Traffic { // bytes that ranks send
  double min_per_rank{};
  double max_per_rank{};
  double total{};
  std::int64_t steps{};
  std::uint64_t messages{};
};
[[nodiscard]] Traffic traffic(const Collective& collective);
// What every rank sends; not for parameter_server.
struct RankTraffic {
  double bytes{};
  std::uint64_t messages{};
};
[[nodiscard]] std::vector<RankTraffic> traffic_by_rank(const Collective& collective);

} // namespace stepsim::coll
