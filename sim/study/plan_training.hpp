#pragma once
// The fastest way to train a model in the memory of its GPUs: strategies of sharding, sizes of the
// groups of hybrid_shard, what backward computes again, how the samples of an update are divided
// into micro-batches, sizes of buckets, units of layers and numbers of nodes. The search is exact
// over these: a combination is left out only if memory that every run of it has exceeds that of a
// GPU, or if its computing alone takes longer than the best run, at the high end of its interval.

#include "buckets/unit_planner.hpp"
#include "run/result.hpp"
#include "study/compare.hpp"

#include <functional>

namespace stepsim::study {

struct TrainingPlanOptions {
  std::vector<std::int64_t> nodes; // empty: those of the scenario
  double max_seconds = kMaxSeconds;
  std::function<void(std::int64_t done, std::int64_t total)> progress{};
};

struct TrainingPlan {
  // What was run, best first. Beside the keys of a comparison a row has strategy, shard_ranks,
  // recompute, micro_batches, batch_size, bucket_bytes, wrapping, blocks (null where they have no
  // meaning), nodes, and `set`, POINTER=VALUE of each change to the scenario.
  Comparison found;
  std::int64_t combinations{}; // that the scenario allows
  std::int64_t too_large{};    // of them: need more memory than a GPU has, whatever the step
  std::int64_t too_slow{};     // of them: computing alone takes longer than the best
};

// `tree`: the scenario, short forms expanded; its algorithm must be sync_sgd. An update keeps its
// number of samples a worker. If nothing fits, what needs least is run. Throws InputError, and
// SimulationError if no combination runs.
[[nodiscard]] TrainingPlan plan_training(const io::Json& tree, Files& files,
                                         const TrainingPlanOptions& options);

// The settings that frameworks of today read, for a row of plan-training.

struct TrainingSettings {
  std::string text;
  std::string note; // what the file cannot say; "" = nothing
};

// The names of the frameworks, whether one of them has a strategy, and its file for the scenario
// `best`, whose `prediction` stands in its first comment. Throws UsageError for a scenario without
// a batch size, and for a strategy or precision that the framework lacks.
[[nodiscard]] std::vector<std::string_view> training_targets();
[[nodiscard]] bool has_strategy(std::string_view target, ShardingStrategy strategy);
[[nodiscard]] TrainingSettings training_settings(std::string_view target, const Scenario& best,
                                                 std::string_view prediction);

// Finds the best sharding units of a scenario and compares them with the default units of its
// framework, with one unit per layer and with one unit of all layers (TRN 6, 8.3). Every row is the
// result of a full run with its units.

struct PlannedUnits {
  std::string name; // optimal, configured, default, block, layer, all
  double step_s{};
  double memory_bytes{};
  std::optional<bool> fits;      // memory_fits of the run
  std::vector<UnitResult> units; // forward order
};

struct UnitPlanning {
  buckets::UnitPlan plan;
  // Most parameters that gpu_memory_bytes and max_unit_parameters allow in a unit; empty: no limit.
  std::optional<std::int64_t> largest_unit;
  // In this order: optimal, which no other row that fits is faster than; configured, only if the
  // wrapping of the scenario is neither optimal nor that of its preset; default, that of the
  // preset; block, if it is none of these; layer; all.
  std::vector<PlannedUnits> rows;
  std::vector<std::string> warnings;
};

// `scenario` must shard parameters. Throws SimulationError where best_units() or run() throws it.
[[nodiscard]] UnitPlanning plan_sharding_units(const Scenario& scenario);
// The row `name`, which must exist.
[[nodiscard]] const PlannedUnits& row_of(const UnitPlanning& planning, std::string_view name);

// The object that `plan-training --only units --json` prints.
[[nodiscard]] io::Json unit_planning_tree(const Scenario& scenario, const UnitPlanning& planning);
// The settings for PyTorch's FSDP, with a Python snippet that applies them and the SHA-256 of
// `tree`, the scenario as it was read.
[[nodiscard]] io::Json fsdp_units_tree(const Scenario& scenario, const io::Json& tree,
                                       const UnitPlanning& planning);

// Python that lists the modules of units whose first layers, from 0, are `begins`, up to the
// further arguments of fully_shard(). Layers without parameters are no modules to shard, but belong
// to a unit all the same.
[[nodiscard]] std::string python_units(const layers::Workload& workload,
                                       const std::vector<std::uint32_t>& begins);

} // namespace stepsim::study
