#pragma once
// The evaluator of collectives without contention: one pass over the transfers of the schedule in
// program order, with the times of all ranks as state. Every start is the maximum of three times
// and every end a sum, hence the name (the (max, +) algebra); any entry times, any link costs.
// O(transfers) time, O(ranks) memory; rings run in vector loops (ring_pass.hpp).
#include <cstdint>
#include <vector>

#include "coll/collective.hpp"
#include "coll/evaluate/evaluation.hpp"

namespace stepsim::coll {

// Throws SimulationError naming the pair where a link is missing, on a fabric, and for a parameter
// server without max_plus_defined (server_flows.hpp). Where ranks share interfaces the time is an
// estimate, never below what the interfaces carry at full rate.
[[nodiscard]] Evaluation max_plus(const Collective& collective, bool with_transfer_times = false);

// One message of the schedule, for `--transfers` and the contribution tests.
struct TransferRecord {
  std::int64_t step{};
  std::uint32_t src{};
  std::uint32_t dst{};
  double offset{}; // first byte in the buffer; a range may wrap at the end of its partition
  double bytes{};
  bool reduce = false;
  double start_s{}; // from time 0, from which entry times count
  double end_s{};   // the ports are free; the data is there a delay later
};
// At most `limit` transfers in program order, timed by max_plus. Throws SimulationError on a
// fabric, for a parameter server and for sums in switches, which have no list of transfers.
[[nodiscard]] std::vector<TransferRecord> list_transfers(const Collective& collective,
                                                         std::size_t limit);

} // namespace stepsim::coll
