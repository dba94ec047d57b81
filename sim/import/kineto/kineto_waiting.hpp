#pragma once
// Separates waiting from transfer, with files of several ranks (INP 1.7). The kernel of a
// collective starts when its rank arrives and ends when all ranks have the data, so its duration
// contains the wait for the last rank. A collective ends on all ranks at nearly the same moment,
// which gives the offsets of their clocks. After the clocks are aligned:
//   L = the last start, E = the last end
//   transfer = E - L,   wait of a rank = min(its duration, L - its start)
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "import/kineto/kineto_rank.hpp"
#include "layers/trace.hpp"

namespace stepsim::io {

// Whether all ranks of the operation end together, when the last one has the data.
[[nodiscard]] bool ends_together(std::string_view op);

struct SeparatedCollective {
  const CollectiveCall* call = nullptr; // call of the first rank
  Nanoseconds transfer{};
  std::vector<Nanoseconds> wait, duration; // [rank]
  std::size_t last{};                      // rank that entered last
};

struct Waiting {
  std::vector<SeparatedCollective> collectives; // in launch order of the first rank; may be empty
  // [index in `ranks`] ns to add to the clock of a rank to get that of the first one; if clocks
  // drift, at the rank's first collective. Empty if nothing was separated.
  std::vector<double> offset;
  std::vector<std::string> notes;
};

// Calls of one process group are matched by their order, as long as operations, sizes and types
// agree; a group that one of the ranks does not have is left out. Nothing is separated if, in the
// median over collectives, the aligned ends lie apart by more than 20 us or by more than 5 % of the
// median duration. A single rank gives at most a note; there must be at least one.
[[nodiscard]] Waiting separate_waiting(std::span<const KinetoRank> ranks);

// Medians over some calls of the first rank: of the transfers, and of the waits of every rank.
// Calls that were not separated are left out; empty if none was separated.
[[nodiscard]] layers::MeasuredTransfer transfer_of(const Waiting& waiting,
                                                   const std::vector<const CollectiveCall*>& calls);

// Adds to `checks` the share of collective time that each rank waits, and how often it enters last.
void add_wait_checks(const Waiting& waiting, layers::Checks& checks);

} // namespace stepsim::io
