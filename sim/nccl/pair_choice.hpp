#pragma once
// Chooses the pair of algorithm and protocol (CLU 6): the pair with the smallest estimate by
// published constants, as in NCCL, which measures nothing; or the pair with the smallest calibrated
// cost. At equal times the earlier candidate wins.
#include <optional>

#include "nccl/candidates.hpp"
#include "nccl/operation_time.hpp"

namespace stepsim::nccl {

// Inputs of the time of an operation, resolved once for many sizes.
struct LibraryModel {
  Multipliers multipliers{}; // must be set; multipliers_of(prior_means()) without measurements
  Choice choice = Choice::published;
  Restrictions restrictions;
  CollnetOptions collnet;
};

struct PairChoice {
  Pair chosen;
  std::optional<Pair> runner_up; // second by the same estimate; empty if there is one pair
};

// Chooses the pair. Throws UsageError if the restrictions leave no pair.
[[nodiscard]] PairChoice choose_pair(const LibraryModel& model, const Layout& layout,
                                     Operation operation, double bytes);

// Returns the time of the chosen pair. Throws UsageError if the restrictions leave no pair.
[[nodiscard]] OperationTime chosen_time(const LibraryModel& model, const Layout& layout,
                                        Operation operation, double bytes);

} // namespace stepsim::nccl
