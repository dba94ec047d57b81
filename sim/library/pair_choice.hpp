#pragma once
// Which pair the library picks (CLU 6): the one with the smallest estimate by published constants,
// because the library measures nothing; or the cheapest by calibrated cost. Ties go to the earlier
// candidate.
#include <optional>

#include "library/candidates.hpp"
#include "library/operation_time.hpp"

namespace stepsim::library {

// Everything that prices an operation, resolved once for many sizes. Without measurements the
// multipliers are those of prior_means().
struct LibraryModel {
  Multipliers multipliers;
  Choice choice = Choice::published;
  Restrictions restrictions;
  CollnetOptions collnet;
};

struct PairChoice {
  Pair chosen;
  std::optional<Pair> runner_up; // the next best by the same measure; empty with a single pair
};

// Throws UsageError where the restrictions leave no pair.
[[nodiscard]] PairChoice choose_pair(const LibraryModel& model, const Layout& layout,
                                     Operation operation, double bytes);

// The time of the pair that is chosen.
[[nodiscard]] OperationTime chosen_time(const LibraryModel& model, const Layout& layout,
                                        Operation operation, double bytes);

} // namespace stepsim::library
