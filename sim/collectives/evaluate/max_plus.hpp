#pragma once
// The evaluator of collectives without contention: one pass over the transfers of the schedule in
// program order, with the times of all ranks as state. A transfer starts at the maximum of three
// times (the send port, the receive port and the data are ready) and ends at a sum, hence the name,
// (max, +) algebra. Any entry times and link costs are allowed.
// O(transfers) time, O(ranks) memory; rings run in vector loops (ring_pass.hpp).
#include <cstdint>
#include <vector>

#include "collectives/collective.hpp"
#include "collectives/evaluate/evaluation.hpp"

namespace stepsim::collectives {

// Evaluates the collective; with `with_transfer_times` it fills RankTimes::transfer_s, too. If
// ranks share interfaces the time is an estimate, but never shorter than the interfaces need at
// full rate. Throws SimulationError if the link of a pair is missing (the text names the pair), on
// a fabric, and for parameter servers for which max_plus_defined() is false, such as several
// servers (server_flows.hpp); and where make_schedule(), in_switch_evaluation() and
// measured_evaluation() throw it. Without transfer times, streams of blocks take the way of
// equal_streams.hpp or unequal_streams.hpp; tests switch these `shortcuts` off to compare.
[[nodiscard]] Evaluation max_plus(const Collective& collective, bool with_transfer_times = false,
                                  bool shortcuts = true);

// One message of the schedule, for `--transfers` and tests.
struct TransferRecord {
  std::int64_t step{};
  std::uint32_t src{};
  std::uint32_t dst{};
  double offset{}; // first byte in the buffer; a range may wrap around in its partition
  double bytes{};
  bool reduce = false;
  double start_s{}; // s from time 0
  double end_s{};   // s from time 0; the ports are then free, and the data arrives a delay later
};
// Returns at most `limit` transfers in program order, timed by max_plus. Throws SimulationError on
// a fabric, and for a parameter server and sums in switches, which have no list of transfers.
[[nodiscard]] std::vector<TransferRecord> list_transfers(const Collective& collective,
                                                         std::size_t limit);

} // namespace stepsim::collectives
