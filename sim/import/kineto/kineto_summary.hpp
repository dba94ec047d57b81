#pragma once
// Statistics over the used steps of one or several ranks (IO 4.6).
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "import/kineto/kineto_waiting.hpp"
#include "layers/trace.hpp"

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

} // namespace stepsim::io
