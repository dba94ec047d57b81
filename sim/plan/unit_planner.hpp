#pragma once
// How to cut a model into the units that fully sharded training gathers and reduces (TRN 6): units
// are contiguous runs of layers in forward order. A larger unit has fewer start-ups, but its
// computing waits for more bytes and its parameters need more memory.
//
//     layers 1 2 3 4, cuts {2}:   units {1-2} {3-4}
//
// The problem is one micro-batch of TRN 4.5 with prefetch `pre`. Every gather waits for the update
// and the update for every reduction, so the period is the makespan of one iteration that starts
// with idle streams. A cut c stands between layers c and c + 1, counted from 1: the first unit has
// the layers before the first cut.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/units.hpp"

namespace stepsim::plan {

struct ShardedLayer {
  Seconds forward;
  Seconds backward;
  std::int64_t parameters{}; // >= 0
};

// Seconds of one exchange of a unit of `parameters` > 0; must be pure and >= 0. A unit without
// parameters takes no time.
using UnitCost = std::function<double(std::int64_t parameters)>;

// Empty limits mean none. The words are those of FSDP (program/builders/fsdp_program.hpp).
struct UnitProblem {
  std::vector<ShardedLayer> layers; // at least one, in forward order
  UnitCost gather;                  // all-gather of the parameters
  UnitCost reduce;                  // reduce-scatter of the gradients
  Seconds update;                   // of one shard
  bool reshard_after_forward = true;
  bool keep_last = false;
  std::optional<std::uint32_t> ahead_forward = 2;
  std::optional<std::uint32_t> ahead_backward = 1;
  std::optional<std::uint32_t> reduces_in_flight = 1;
  std::uint32_t communicators = 1; // 1 or 2
  // No unit of several layers has more; one layer cannot be cut and is always allowed.
  std::optional<std::int64_t> max_unit_parameters;
};

using Cuts = std::vector<std::uint32_t>; // ascending, each in [1, layers - 1]

struct UnitPlan {
  Cuts cuts;
  Seconds period;
  Seconds lower_bound;   // no division into units has a shorter period
  bool certified{};      // none of the allowed divisions is better
  std::int64_t labels{}; // partial divisions that were kept; 0 where all or some were tried

  // period / lower_bound - 1; 0 if certified.
  [[nodiscard]] double gap() const;
};

// The period of one division by the recurrence of TRN 4.5. O(units).
[[nodiscard]] double unit_period(const UnitProblem& problem, const Cuts& cuts);

// No division has a shorter period: the largest of computing, of computing between the first gather
// and the last reduction, and of what each stream carries with what precedes and follows it. It
// holds for any prefetch and with `micro_batches` >= 1, replicas and interference as well.
// O(layers^2).
[[nodiscard]] double unit_lower_bound(const UnitProblem& problem, std::int64_t micro_batches = 1);

// Whether this many layers with this many parameters may form a unit.
[[nodiscard]] bool may_be_unit(const UnitProblem& problem, std::size_t layers,
                               std::int64_t parameters);

// Bytes of one rank that decide how large a unit may be (TRN 5, 6).
struct UnitMemory {
  double limit_bytes{};
  double fixed_bytes{};     // what no division changes: shards, optimizer, activations
  double parameter_bytes{}; // of one gathered parameter
  double reduce_bytes{};    // of one gradient before its reduction
  std::int64_t parameters{};
  std::optional<std::uint32_t> ahead_forward;
  std::optional<std::uint32_t> reduces_in_flight;
};

// The largest unit m with fixed + (ahead_forward + 2) v_p m + (reduces_in_flight + 1) v_g m <=
// limit, in parameters. Without a limit ahead, or in flight, all of the model may be live at once,
// whatever the units are. Empty if the fixed bytes do not fit.
[[nodiscard]] std::optional<std::int64_t> largest_unit(const UnitMemory& memory);

} // namespace stepsim::plan
