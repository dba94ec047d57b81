#pragma once
// Cuts a model into the units that fully sharded training gathers and reduces (TRN 6). Units are
// contiguous runs of layers in forward order. Larger units have fewer start-ups, but compute waits
// for more bytes and their parameters need more memory.
//
//     layers 1 2 3 4, cuts {2}:   units {1-2} {3-4}
//
// The problem is one micro-batch of TRN 4.5 with prefetch limits. Every gather waits for the update
// and the update for every reduction, so the period is the makespan of one iteration that starts
// with idle streams. Cut c is between layers c and c + 1, counted from 1; the first unit has the
// layers before the first cut.
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "base/units.hpp"

namespace stepsim::buckets {

struct ShardedLayer {
  Seconds forward;
  Seconds backward;
  std::int64_t parameters{}; // >= 0
};

// Seconds of one exchange of a unit with `parameters` > 0; must be pure and >= 0. A unit without
// parameters takes no time.
using UnitCost = std::function<double(std::int64_t parameters)>;

// Empty limits mean none. The names are those of FSDP (programs/builders/fsdp_program.hpp).
struct UnitProblem {
  std::vector<ShardedLayer> layers; // at least one, in forward order
  UnitCost gather;                  // all-gather of the parameters
  UnitCost reduce;                  // reduce-scatter of the gradients
  Seconds update;                   // time of the optimizer for one shard
  bool reshard_after_forward = true;
  bool keep_last = false;
  std::optional<std::uint32_t> ahead_forward = 2;
  std::optional<std::uint32_t> ahead_backward = 1;
  std::optional<std::uint32_t> reduces_in_flight = 1;
  std::uint32_t communicators = 1; // 1 or 2
  // Maximum for units of several layers; a single layer cannot be cut and is always allowed.
  std::optional<std::int64_t> max_unit_parameters;
};

using Cuts = std::vector<std::uint32_t>; // ascending, each in [1, layers - 1]

struct UnitPlan {
  Cuts cuts;
  Seconds period;
  Seconds lower_bound;   // no division into units has a shorter period
  bool certified{};      // no allowed division is better
  std::int64_t labels{}; // partial divisions that were kept; 0 if divisions were tried instead

  // Returns period / lower_bound - 1; 0 if certified, infinite if only the lower bound is 0.
  [[nodiscard]] double gap() const;
};

// Returns the period of one division by the recurrence of TRN 4.5. O(units).
[[nodiscard]] double unit_period(const UnitProblem& problem, const Cuts& cuts);

// Returns a lower bound of the period over all divisions: the update plus the largest of
//   - all compute with the gather before it and the reduction after it. Both are of the first unit;
//     their least sum over the units that can be the first one counts;
//   - the time of each communication stream with the work before and after it.
// It also holds for any prefetch, for `micro_batches` >= 1, for replicas and for interference.
// O(layers^2).
[[nodiscard]] double unit_lower_bound(const UnitProblem& problem, std::int64_t micro_batches = 1);

// Whether this many layers with this many parameters may form a unit.
[[nodiscard]] bool may_be_unit(const UnitProblem& problem, std::size_t layers,
                               std::int64_t parameters);

// Bytes on one rank that limit the size of a unit (TRN 5, 6).
struct UnitMemory {
  double limit_bytes{};
  double fixed_bytes{};      // independent of the division: shards, optimizer, activations
  double parameter_bytes{};  // per gathered parameter
  double reduce_bytes{};     // per gradient before its reduction
  std::int64_t parameters{}; // of the whole model
  std::optional<std::uint32_t> ahead_forward;
  std::optional<std::uint32_t> reduces_in_flight;
};

// Returns the largest unit m, in parameters and at most the whole model, with
//     fixed + (ahead_forward + 2) v_p m + (reduces_in_flight + 1) v_g m <= limit
// Without ahead_forward or reduces_in_flight, the whole model may be in memory at once, whatever
// the units are. Empty if the bytes that do not depend on m exceed the limit.
[[nodiscard]] std::optional<std::int64_t> largest_unit(const UnitMemory& memory);

} // namespace stepsim::buckets
