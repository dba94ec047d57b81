#pragma once
// Statistics over the used steps of one or several ranks (IO 4.6): times, how they vary, and the
// cost of the link.
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "import/kineto/kineto_waiting.hpp"
#include "layers/trace.hpp"
#include "layers/variability.hpp"
#include "scenario/files/cost_file.hpp"

namespace stepsim::io {

using StepValue = std::function<double(const StepSample&)>;

// Median over ranks of each rank's median over its used steps.
[[nodiscard]] double median_over_ranks(std::span<const KinetoRank> ranks, const StepValue& value);

// Median over all used steps of all ranks.
[[nodiscard]] double median_over_steps(std::span<const KinetoRank> ranks, const StepValue& value);

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
