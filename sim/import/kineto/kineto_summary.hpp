#pragma once
// Statistics over the used steps of one or several ranks (IO 4.6): times, how they vary, and the
// cost of the link.

#include "import/kineto/kineto_rank.hpp"
#include "layers/variability.hpp"
#include "scenario/files/samples_file.hpp"

namespace stepsim::io {

// Separates waiting from transfer, with files of several ranks (INP 1.7). The kernel of a
// collective starts when its rank arrives and ends when all ranks have the data, so its duration
// contains the wait for the last rank. A collective ends on all ranks at nearly the same moment,
// which gives the offsets of their clocks. After the clocks are aligned:
//   L = the last start, E = the last end
//   transfer = E - L,   wait of a rank = min(its duration, L - its start)
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

using StepValue = std::function<double(const StepSample&)>;

// Median over ranks of each rank's median over its used steps.
[[nodiscard]] double median_over_ranks(std::span<const KinetoRank> ranks, const StepValue& value);

// Factor from device time to step time: (wall - exposed communication) / compute busy, each the
// median over steps; `measured_step` replaces the wall time. Throws InputError if the wall time is
// not longer than the exposed communication, or if nothing is computed.
[[nodiscard]] double wall_factor(std::span<const KinetoRank> ranks,
                                 std::optional<Seconds> measured_step);

// The times of every step of every rank, used or not.
[[nodiscard]] std::vector<layers::MeasuredStep> measured_steps(std::span<const KinetoRank> ranks);

// A list of collectives of a step: the buckets of whole gradients, or the all-reduces of shards
// between replicas.
using BucketList = std::vector<CollectiveSample> StepSample::*;

// The bucket list of the last used step of the first rank. Times are taken from the used steps of
// all ranks that have the same list, `transfer` from those of the first rank; times are empty if no
// kernel was recorded. Adds a note if a used step has another list.
[[nodiscard]] std::vector<layers::MeasuredBucket>
measured_buckets(std::span<const KinetoRank> ranks, const Waiting& waiting, BucketList list,
                 std::vector<std::string>& notes);

// One row per operation, type and size of the other collectives, in the order of appearance, with
// the number of calls in the first used step of the first rank and the shortest time over all used
// steps of all ranks. Calls of unknown size and kinds without a call in that first step are left
// out.
[[nodiscard]] std::vector<layers::MeasuredCollective>
measured_collectives(std::span<const KinetoRank> ranks, const Waiting& waiting);

// How much of the device time was understood, and how far ranks differ.
[[nodiscard]] layers::Checks measured_checks(std::span<const KinetoRank> ranks,
                                             const Waiting& waiting);

// How much the compute times of ranks and steps vary, as the block `variability` of a scenario
// (INP 1.8).
struct MeasuredVariability {
  layers::Variability block;        // empirical; no factors if there is no compute on the device
  std::vector<double> rank_factors; // [file] median of C over steps / median of these over ranks
  std::vector<std::string> notes;
};

// C is the device time of a rank and step without communication; there must be at least one rank.
// If there are two or more ranks, all with three or more used steps, a rank becomes a straggler if
// its rank factor differs from 1 by more than 2 % and by more than twice the relative standard
// deviation of its own steps; its C are then divided by the rank factor. The worker of a straggler
// is the rank that its file records, else the index of the file. The factors of `block` are all C
// divided by their mean, sorted; of more than 1000, 1000 evenly spaced quantiles.
[[nodiscard]] MeasuredVariability measured_variability(std::span<const KinetoRank> ranks);

// The cost of the link from the collectives of a trace (INP 1.10): T(bytes) for each operation and
// group size.
//   several ranks   least squares on the transfers, with waiting removed and weights 1/T^2; 90 %
//                   intervals from 1,000 resamples of the steps (bootstrap)
//   one rank        only a bound, because the kernels wait for the other ranks: the start-up is at
//                   most the shortest kernel of the smallest size, and the bus bandwidth at least
//                   f bytes / shortest kernel, f as in bus_factor()
// Several ranks give only a bound, too, if their waiting cannot be separated, or if an operation
// has one size or times that do not grow with it. Bytes are those of all ranks for all-gather and
// reduce-scatter, as in samples.
struct MeasuredCosts {
  std::vector<LineCost> costs;    // by operation, then number of ranks; may be empty
  std::vector<std::string> notes; // why a cost is only a bound, and what was left out
};

// Uses all-reduce, all-gather, reduce-scatter and all-to-all only, because their ranks end
// together, in all steps, also in those that layer times leave out (kineto_rank.hpp). There must be
// at least one rank.
[[nodiscard]] MeasuredCosts measured_costs(std::span<const KinetoRank> ranks);

} // namespace stepsim::io
