#pragma once
// Waiting separated from sending, from the files of several ranks (INP 1.7). A kernel of a
// collective starts when its own rank arrives and ends when all have the data, so that its duration
// contains the wait for the last rank. Ends of a collective are nearly the same moment on all
// ranks, which tells the offsets of their clocks.
//   L = the last aligned start, E = the last aligned end
//   transfer = E - L,   wait of a rank = min(its duration, L - its start)
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "import/kineto/kineto_rank.hpp"
#include "train/workload/trace.hpp"

namespace stepsim::io {

// Whether all ranks of an operation end together, when the last one has the data.
[[nodiscard]] bool ends_together(std::string_view op);

struct SeparatedCollective {
  const CollectiveCall* call = nullptr; // of the first rank
  Nanoseconds transfer{};
  std::vector<Nanoseconds> wait, duration; // by rank
  std::size_t last{};                      // the rank that entered last
};

struct Waiting {
  std::vector<SeparatedCollective> collectives; // in launch order of the first rank; empty: none
  std::vector<double> offset;                   // by rank, ns: added to its clock it is the first's
  std::vector<std::string> notes;
};

// Calls of one process group are the same collective by their order; they count as long as
// operations, sizes and types agree. Ranks whose ends differ by more than 20 us, or by more than 5
// % of a collective, in the median are not separated. One rank alone gives a note at most.
[[nodiscard]] Waiting separate_waiting(std::span<const KinetoRank> ranks);

// The transfers of some calls of the first rank, and the waits of every rank in them: medians.
// Calls that were not separated do not count; empty if none was.
[[nodiscard]] train::MeasuredTransfer transfer_of(const Waiting& waiting,
                                                  const std::vector<const CollectiveCall*>& calls);

// Which part of the time in collectives each rank waits, and how often it enters last.
void add_wait_checks(const Waiting& waiting, train::Checks& checks);

} // namespace stepsim::io
